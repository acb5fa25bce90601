package lineage

import "slices"

// Hunk is a stretch of lines that differ: [OldStart, OldEnd) became [NewStart, NewEnd), counted from 0.
type Hunk struct{ OldStart, OldEnd, NewStart, NewEnd int32 }

// compare lists how lines a became lines b, in order and with at least one equal line between two hunks. Of the ways to
// tell it chooses one that keeps lines which occur once in both (as patience diff does), and among those is nearly shortest.
func compare(a, b []uint64) []Hunk {
	d := differ{a: a, b: b}
	d.between(0, int32(len(a)), 0, int32(len(b)))
	return d.hunks
}

type differ struct {
	a, b  []uint64
	hunks []Hunk
}

// differ's limits: smaller stretches are compared exactly at once; larger ones are cut at unique lines first, and where there are
// none the search for the shortest script gives up after maxEdits.
const (
	smallArea = 1 << 10
	maxEdits  = 256
)

// between compares a[a0:a1] with b[b0:b1].
func (d *differ) between(a0, a1, b0, b1 int32) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0++
		b0++
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1--
		b1--
	}
	switch {
	case a0 == a1 && b0 == b1:
	case a0 == a1 || b0 == b1:
		d.emit(a0, a1, b0, b1)
	case int64(a1-a0)*int64(b1-b0) > smallArea && d.patience(a0, a1, b0, b1):
	default:
		d.myers(a0, a1, b0, b1)
	}
}

// emit adds a hunk; one that touches the last is joined with it.
func (d *differ) emit(a0, a1, b0, b1 int32) {
	if n := len(d.hunks); n > 0 && d.hunks[n-1].OldEnd == a0 && d.hunks[n-1].NewEnd == b0 {
		d.hunks[n-1].OldEnd, d.hunks[n-1].NewEnd = a1, b1
		return
	}
	d.hunks = append(d.hunks, Hunk{a0, a1, b0, b1})
}

// patience cuts at the lines that occur once on both sides, where there are any.
func (d *differ) patience(a0, a1, b0, b1 int32) bool {
	anchors := d.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		return false
	}
	for _, p := range anchors {
		if p[0] < a0 || p[1] < b0 {
			continue // what lies before it has grown over it
		}
		d.between(a0, p[0], b0, p[1])
		a0, b0 = p[0]+1, p[1]+1
	}
	d.between(a0, a1, b0, b1)
	return true
}

// anchors are the pairs of unique lines that keep their order, as many as possible.
func (d *differ) anchors(a0, a1, b0, b1 int32) [][2]int32 {
	type seen struct{ inA, inB, at int32 }
	lines := make(map[uint64]seen, a1-a0)
	for i := a0; i < a1; i++ {
		s := lines[d.a[i]]
		s.inA++
		s.at = i
		lines[d.a[i]] = s
	}
	for i := b0; i < b1; i++ {
		if s, ok := lines[d.b[i]]; ok {
			s.inB++
			lines[d.b[i]] = s
		}
	}
	var pairs [][2]int32 // in the order of b
	for i := b0; i < b1; i++ {
		if s := lines[d.b[i]]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int32{s.at, i})
		}
	}
	return rising(pairs)
}

// rising is the longest subsequence whose first members rise.
func rising(pairs [][2]int32) [][2]int32 {
	var tops []int // of each pile, an index into pairs
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tops, p[0], func(t int, v int32) int { return int(pairs[t][0]) - int(v) })
		before[i] = -1
		if k > 0 {
			before[i] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, i)
		} else {
			tops[k] = i
		}
	}
	if len(tops) == 0 {
		return nil
	}
	out := make([][2]int32, len(tops))
	for i, k := len(tops)-1, tops[len(tops)-1]; i >= 0; i, k = i-1, before[k] {
		out[i] = pairs[k]
	}
	return out
}

// myers finds the shortest script by Myers' greedy algorithm, keeping the front of each round to find the way back. Beyond
// maxEdits the stretch counts as rewritten as a whole.
func (d *differ) myers(a0, a1, b0, b1 int32) {
	n, m := int(a1-a0), int(b1-b0)
	limit := min(n+m, maxEdits)
	v := make([]int32, 2*limit+3)
	var trace [][]int32
	for e := 0; e <= limit; e++ {
		trace = append(trace, slices.Clone(v[limit+1-e:limit+2+e]))
		for k := -e; k <= e; k += 2 {
			var x int32
			if k == -e || k != e && v[limit+k] < v[limit+k+2] {
				x = v[limit+k+2]
			} else {
				x = v[limit+k] + 1
			}
			for int(x) < n && int(x)-k < m && int(x)-k >= 0 && d.a[a0+x] == d.b[b0+x-int32(k)] {
				x++
			}
			v[limit+1+k] = x
			if int(x) >= n && int(x)-k >= m {
				d.back(trace, a0, b0, n, m)
				return
			}
		}
	}
	d.emit(a0, a1, b0, b1)
}

// back walks the rounds backwards and emits the edits in order.
func (d *differ) back(trace [][]int32, a0, b0 int32, x, y int) {
	var edits []Hunk
	for e := len(trace) - 1; e > 0; e-- {
		front := trace[e] // of round e-1, k from -e to e
		at := func(k int) int { return int(front[k+e]) }
		k := x - y
		down := k == -e || k != e && at(k-1) < at(k+1)
		var px int
		if down {
			px = at(k + 1)
		} else {
			px = at(k - 1)
		}
		pk := k - 1
		if down {
			pk = k + 1
		}
		py := px - pk
		if down {
			edits = append(edits, Hunk{int32(px), int32(px), int32(py), int32(py + 1)})
		} else {
			edits = append(edits, Hunk{int32(px), int32(px + 1), int32(py), int32(py)})
		}
		x, y = px, py
	}
	for i := len(edits) - 1; i >= 0; i-- {
		h := edits[i]
		d.emit(a0+h.OldStart, a0+h.OldEnd, b0+h.NewStart, b0+h.NewEnd)
	}
}
