package rank

import (
	"math"
	"math/bits"

	"sluice/miners/szz/lineage"
)

// bitset is a set of tokens, by number.
type bitset []uint64

func (s bitset) has(i int) bool { return i>>6 < len(s) && s[i>>6]>>(i&63)&1 == 1 }

func (s *bitset) add(i int) {
	for len(*s) <= i>>6 {
		*s = append(*s, 0)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

// each calls use for the members of s.
func (s bitset) each(use func(int)) {
	for w, b := range s {
		for ; b != 0; b &= b - 1 {
			use(w<<6 + bits.TrailingZeros64(b))
		}
	}
}

// maxTokens and maxTokenLines bound what is compared of one fix and of one commit.
const (
	maxTokens     = 4096
	maxTokenLines = 1500
)

// tokens are the words that a fix is about.
type tokens struct {
	index map[string]int
	// gone are the words that it takes out, come those that it puts in, kept those of the lines that it touches or stands next to,
	// said those of its subject.
	gone, come, kept, said bitset
	rarity                 []float64 // of a token: the rarer among the candidates' changes, the more it tells
	first, last            []int32   // of a token: the oldest and the newest commit that put it in
}

func newTokens(files []fixFile, subject []string) *tokens {
	tk := &tokens{index: map[string]int{}}
	for _, x := range files {
		for _, h := range x.Hunks {
			tk.hunk(x, h)
		}
		for _, s := range x.seeds {
			if s.Class&(nearby|anchor|edge) != 0 {
				tk.put(x.Old.Line(int(s.Line)), &tk.kept)
			}
		}
	}
	for _, w := range subject {
		tk.put([]byte(w), &tk.said)
	}
	return tk
}

func (tk *tokens) put(line []byte, set *bitset) {
	lineage.EachWord(line, func(w []byte) {
		i, ok := tk.index[string(w)]
		if !ok {
			if i = len(tk.index); i >= maxTokens {
				return
			}
			tk.index[string(w)] = i
		}
		set.add(i)
	})
}

// hunk sorts the words of a hunk: what is on both sides is kept.
func (tk *tokens) hunk(x fixFile, h lineage.Hunk) {
	var old, now bitset
	for i := h.OldStart; i < h.OldEnd; i++ {
		tk.put(x.Old.Line(int(i)), &old)
	}
	for i := h.NewStart; i < h.NewEnd; i++ {
		tk.put(x.New.Line(int(i)), &now)
	}
	old.each(func(i int) {
		if now.has(i) {
			tk.kept.add(i)
		} else {
			tk.gone.add(i)
		}
	})
	now.each(func(i int) {
		if !old.has(i) {
			tk.come.add(i)
		}
	})
}

// read notes which of the tokens a version puts in and takes out.
func (tk *tokens) read(v lineage.Visit, c *candidate) {
	left := maxTokenLines
	var lower []byte
	for _, h := range v.Hunks {
		for i := h.NewStart; i < h.NewEnd && left > 0; i, left = i+1, left-1 {
			lineage.EachWord(v.New.Line(int(i)), func(w []byte) {
				if k, ok := tk.index[string(w)]; ok {
					c.in.add(k)
				} else if lower = appendLower(lower[:0], w); len(lower) > 0 {
					if k, ok := tk.index[string(lower)]; ok && tk.said.has(k) {
						c.in.add(k)
					}
				}
			})
		}
		for i := h.OldStart; i < h.OldEnd && left > 0; i, left = i+1, left-1 {
			lineage.EachWord(v.Old.Line(int(i)), func(w []byte) {
				if k, ok := tk.index[string(w)]; ok {
					c.out.add(k)
				}
			})
		}
	}
}

// appendLower appends w in lower case, or nothing where it is that already.
func appendLower(dst, w []byte) []byte {
	changed := false
	for _, b := range w {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
			changed = true
		}
		dst = append(dst, b)
	}
	if !changed {
		return dst[:0]
	}
	return dst
}

// weigh finds how rare the tokens are, and who put them in first and last.
func (tk *tokens) weigh(candidates []*candidate) {
	n := len(tk.index)
	counts := make([]int, n)
	tk.first, tk.last, tk.rarity = make([]int32, n), make([]int32, n), make([]float64, n)
	for i := range n {
		tk.first[i], tk.last[i] = math.MaxInt32, -1
	}
	for _, c := range candidates {
		c.in.each(func(i int) {
			counts[i]++
			if !c.out.has(i) {
				tk.first[i], tk.last[i] = min(tk.first[i], c.commit), max(tk.last[i], c.commit)
			}
		})
	}
	for i := range tk.rarity {
		tk.rarity[i] = math.Log(float64(len(candidates)+1) / float64(counts[i]+1))
	}
}

// share is the part of a set's weight for which keep holds.
func (tk *tokens) share(set bitset, keep func(int) bool) float64 {
	var all, some float64
	set.each(func(i int) {
		all += tk.rarity[i]
		if keep(i) {
			some += tk.rarity[i]
		}
	})
	return part(some, all)
}
