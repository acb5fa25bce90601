package lineage

import (
	"bytes"
	"context"
	"sort"

	"sluice/miners/lang"
)

// place is a line of a version.
type place struct {
	v     version
	line  int32
	known bool
}

// past finds what the lines that a commit wrote were before it.
type past struct {
	w      *walk
	v      Visit
	before []version
	here   map[uint64]int32 // lines that the commit took out of the file; nil: not looked for yet
	away   map[uint64]place // lines that it took out of other files; nil likewise
	pure   *bool            // most of what it put into the file it took out elsewhere; nil likewise
	even   map[int]bool     // of a hunk: only the form changes
}

// of finds where a line stood before, and whether the commit only moved it or gave it another form. hunk is the one that holds the
// line, if any does.
func (p *past) of(ctx context.Context, it item, hunk int) (from place, through bool, err error) {
	id := p.v.New.ids[it.line]
	if at, ok := p.takenOut()[id]; ok {
		through, err = p.isMove(ctx)
		return place{p.before[0], at, true}, through, err
	}
	inHunk := hunk < len(p.v.Hunks) && p.v.Hunks[hunk].NewStart <= it.line
	if !inHunk || p.v.Old == nil || p.v.Hunks[hunk].OldStart == p.v.Hunks[hunk].OldEnd {
		if err := p.lookAway(ctx); err != nil || !p.away[id].known {
			return from, false, err
		}
		through, err = p.isMove(ctx)
		return p.away[id], through, err
	}
	h := p.v.Hunks[hunk]
	if p.formOnly(hunk) {
		return place{p.before[0], p.sameOffset(h, it.line), true}, true, nil
	}
	at, _ := forerunner(p.v, h, it.line)
	return place{p.before[0], at, true}, p.w.q.Ignore[p.v.Commit], nil
}

func (p *past) takenOut() map[uint64]int32 {
	if p.here == nil {
		p.here = map[uint64]int32{}
		if p.v.Old != nil {
			p.here = removed(p.v)
		}
	}
	return p.here
}

func (p *past) lookAway(ctx context.Context) (err error) {
	if p.away == nil {
		p.away, err = p.w.g.removedElsewhere(ctx, p.v.Commit, p.v.Path)
	}
	return err
}

// isMove tells whether the commit does little more to the file than to move lines into it or inside of it.
func (p *past) isMove(ctx context.Context) (bool, error) {
	if p.pure != nil {
		return *p.pure, nil
	}
	if err := p.lookAway(ctx); err != nil {
		return false, err
	}
	put, found := 0, 0
	var buf []byte
	for _, h := range p.v.Hunks {
		for i := h.NewStart; i < h.NewEnd; i++ {
			if buf = squeeze(buf[:0], p.v.New.Line(int(i))); len(buf) < minMoved {
				continue
			}
			put++
			_, here := p.takenOut()[p.v.New.ids[i]]
			if here || p.away[p.v.New.ids[i]].known {
				found++
			}
		}
	}
	pure := found > 0 && float64(found) >= minPure*float64(put)
	p.pure = &pure
	return pure, nil
}

// minPure is the share of a commit's lines that must come from elsewhere for the commit to be a move.
const minPure = 0.9

// maxMoveFiles bounds between how many files moves are sought.
const maxMoveFiles = 12

// removedElsewhere lists the lines that a commit took out of other files, where each occurs once.
func (g *Graph) removedElsewhere(ctx context.Context, commit int32, path string) (map[uint64]place, error) {
	out := map[uint64]place{}
	parents := g.Commits[commit].Parents
	if len(parents) != 1 || g.Commits[commit].Files > maxMoveFiles {
		return out, nil
	}
	for _, t := range g.touchesOf(commit) {
		if g.paths[t.path] == path || lang.Classify(g.paths[t.path]) != lang.Source {
			continue
		}
		u := g.at(t.path, parents[0])
		if u == absent {
			continue
		}
		old, err := g.store.read(ctx, g.touches[u].blob)
		if err != nil {
			return nil, err
		}
		hunks := []Hunk{{0, int32(old.Len()), 0, 0}}
		if t.blob != "" {
			if hunks, err = g.store.diff(ctx, g.touches[u].blob, t.blob); err != nil {
				return nil, err
			}
		}
		for id, line := range removed(Visit{Hunks: hunks, Old: old}) {
			if _, twice := out[id]; twice {
				out[id] = place{}
				continue
			}
			out[id] = place{u, line, true}
		}
	}
	return out, nil
}

// minMoved is how many bytes without white space a line must have to be recognised elsewhere.
const minMoved = 12

// removed lists the lines that a commit took out of the file, where each occurs once: a line that it put in elsewhere was moved.
func removed(v Visit) map[uint64]int32 {
	out := map[uint64]int32{}
	var squeezed []byte
	for _, h := range v.Hunks {
		for i := h.OldStart; i < h.OldEnd; i++ {
			if squeezed = squeeze(squeezed[:0], v.Old.Line(int(i))); len(squeezed) < minMoved {
				continue
			}
			id := v.Old.ids[i]
			if _, twice := out[id]; twice {
				out[id] = -1
				continue
			}
			out[id] = i
		}
	}
	for id, i := range out {
		if i < 0 {
			delete(out, id)
		}
	}
	return out
}

// formOnly tells whether a hunk changes nothing but line breaks and white space, or else what a formatter may change too and the
// whole file's syntax is the same before and after.
func (p *past) formOnly(hunk int) bool {
	if p.even == nil {
		p.even = map[int]bool{}
	}
	if same, ok := p.even[hunk]; ok {
		return same
	}
	h := p.v.Hunks[hunk]
	old, now := p.v.Old.span(h.OldStart, h.OldEnd), p.v.New.span(h.NewStart, h.NewEnd)
	same := bytes.Equal(squeeze(nil, old), squeeze(nil, now))
	if !same && bytes.Equal(essence(old), essence(now)) {
		equal, known := lang.SameSyntax(p.v.Path, p.v.Old.data, p.v.New.data)
		same = equal && known
	}
	p.even[hunk] = same
	return same
}

// span is the bytes of the lines from up to, not including, to.
func (t *text) span(from, to int32) []byte { return t.data[t.start[from]:t.start[to]] }

// essence is what is left without anything that a formatter may add or drop, and without what looks like a comment at the
// end of a line.
func essence(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		for _, mark := range []string{" //", "\t//", " #", "\t#", "/*"} {
			if i := bytes.Index(line, []byte(mark)); i >= 0 {
				line = line[:i]
			}
		}
		for _, b := range squeeze(nil, line) {
			if b != ',' && b != ';' && b != '\'' && b != '"' {
				out = append(out, b)
			}
		}
	}
	return out
}

// sameOffset finds the old line that holds what a line of the new form begins with.
func (p *past) sameOffset(h Hunk, line int32) int32 {
	at := len(essence(p.v.New.span(h.NewStart, line)))
	n := int(h.OldEnd - h.OldStart)
	i := sort.Search(n, func(i int) bool { return len(essence(p.v.Old.span(h.OldStart, h.OldStart+int32(i)+1))) > at })
	return h.OldStart + int32(min(i, n-1))
}

// maxForerunners bounds how many lines are compared for likeness.
const maxForerunners = 60

// forerunner finds the line that a rewritten line replaced: the likest of its hunk, else the one at the same place.
func forerunner(v Visit, h Hunk, line int32) (int32, bool) {
	n := h.OldEnd - h.OldStart
	if n == 0 {
		return 0, false
	}
	best := h.OldStart + (line-h.NewStart)*n/(h.NewEnd-h.NewStart)
	if n > maxForerunners {
		return best, true
	}
	most := 0.3
	words := wordSet(v.New.Line(int(line)))
	for i := h.OldStart; i < h.OldEnd; i++ {
		if s := jaccard(words, wordSet(v.Old.Line(int(i)))); s > most {
			best, most = i, s
		}
	}
	return best, true
}
