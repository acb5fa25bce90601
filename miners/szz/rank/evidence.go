package rank

import (
	"context"
	"errors"
	"slices"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/miners/szz"
	"sluice/miners/szz/lineage"
)

// Classes of lines before the fix, as bits.
const (
	deleted  uint8 = 1 << iota // the fix deletes or rewrites them
	anchor                     // next to lines that the fix adds where it deletes none
	edge                       // next to what it rewrites
	nearby                     // within nearLines of either
	function                   // of the same function
	scrap                      // a deleted line that is all punctuation, or that the fix only moves
)

// followed are the classes whose lines are traced to their end.
const followed = deleted | anchor

// How far evidence is sought. Visits is by far the dearest: each is a version of a file that is read and compared.
const (
	nearLines   = 3
	anchorReach = 6  // lines of comments and blanks that may lie between an insertion and its anchor
	visits      = 60 // versions of a file whose changes are looked at
	generations = 3
	budget      = 4000 // versions of a file that are passed for the lines that the fix deletes
	maxFiles    = 24   // of a fix; the first by path
	maxSeeds    = 2000 // lines of one file
)

// fixFile is what a fix does to one file, and where the lines come from.
type fixFile struct {
	lineage.File
	trace lineage.Trace
	seeds []lineage.Seed
	hunks []int // of a seed: the hunk that it belongs to
}

// chooseFiles leaves the files of a fix that count: source, else settings and the like, else tests and prose, else whatever
// is made by tools. New files have no past: they count when there is nothing else.
// Of a large fix only the first are taken; the others are counted.
func chooseFiles(files []lineage.Change) (out []lineage.Change, omitted int) {
	const none = 9
	best := none
	for _, f := range files {
		if f.OldPath != "" {
			best = min(best, tier(f))
		}
	}
	for _, f := range files {
		if best == none {
			best = tier(f)
		}
	}
	for _, f := range files {
		switch {
		case tier(f) > best:
		case len(out) == maxFiles:
			omitted++
		default:
			out = append(out, f)
		}
	}
	return out, omitted
}

func tier(f lineage.Change) int {
	path := f.Path
	if path == "" {
		path = f.OldPath
	}
	switch lang.Classify(path) {
	case lang.Source:
		return 0
	case lang.Config, lang.Other:
		return 1
	case lang.Generated, lang.Vendored:
		return 3
	}
	return 2
}

// follow traces the lines of one file. What the repository lacks leaves the file without a trace.
func (r *Ranker) follow(ctx context.Context, base int32, c lineage.Change) (x fixFile, lacks bool, err error) {
	x.File, err = r.g.Open(ctx, c)
	if errors.Is(err, gitrepo.ErrMissingObject) {
		x.File = lineage.File{Change: c}
		return x, true, nil
	}
	if err != nil || x.Old == nil {
		return x, false, err
	}
	x.seed()
	ignored, err := r.ignored(ctx, base)
	if err != nil {
		return x, false, err
	}
	x.trace, err = r.g.Trace(ctx, lineage.Query{
		Commit: base, Path: x.OldPath, Seeds: x.seeds, Generations: generations, Visits: visits, Keep: followed, Budget: budget,
		Ignore: ignored,
	})
	if errors.Is(err, gitrepo.ErrMissingObject) {
		return x, true, nil
	}
	return x, false, err
}

// ignored are the commits that the project asks blame to look through, as of the state before the fix.
func (r *Ranker) ignored(ctx context.Context, base int32) (map[int32]bool, error) {
	list, err := r.g.ReadFile(ctx, base, szz.IgnoreFile)
	if errors.Is(err, gitrepo.ErrMissingObject) || err == nil && list == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[int32]bool{}
	for _, id := range szz.ParseIgnoreRevs(string(list.Data())) {
		if c, ok := r.g.Find(id); ok {
			out[c] = true
		}
	}
	return out, nil
}

// marks collects the classes of lines.
type marks struct {
	code  []bool
	class map[int32]uint8
	hunk  map[int32]int
}

func (m *marks) put(i int, class uint8, hunk int) bool {
	if i < 0 || i >= len(m.code) || !m.code[i] || len(m.class) >= maxSeeds {
		return false
	}
	if _, ok := m.hunk[int32(i)]; !ok || class&(deleted|scrap) != 0 {
		m.hunk[int32(i)] = hunk
	}
	m.class[int32(i)] |= class
	return true
}

// seed marks the lines to follow: those that are deleted, in all hunks, before those around them.
func (x *fixFile) seed() {
	code, _ := lang.CodeLines(x.OldPath, x.Old.Data())
	m := &marks{code: code, class: map[int32]uint8{}, hunk: map[int32]int{}}
	x.markDeleted(m)
	for i, h := range x.Hunks {
		x.markAround(m, h, i)
	}
	lines := make([]int32, 0, len(m.class))
	for i := range m.class {
		lines = append(lines, i)
	}
	slices.Sort(lines)
	for _, i := range lines {
		x.seeds = append(x.seeds, lineage.Seed{Line: i, Class: m.class[i]})
		x.hunks = append(x.hunks, m.hunk[i])
	}
}

func (x *fixFile) markDeleted(m *marks) {
	added := map[uint64]bool{}
	for _, h := range x.Hunks {
		for i := h.NewStart; i < h.NewEnd; i++ {
			added[x.New.ID(int(i))] = true
		}
	}
	for n, h := range x.Hunks {
		for i := int(h.OldStart); i < int(h.OldEnd); i++ {
			class := deleted
			if added[x.Old.ID(i)] || punctuation(x.Old.Line(i)) {
				class = scrap
			}
			m.put(i, class, n)
		}
	}
}

func (x *fixFile) markAround(m *marks, h lineage.Hunk, n int) {
	kind := edge
	if h.OldStart == h.OldEnd {
		kind = anchor
	}
	for i := 1; i <= anchorReach && !m.put(int(h.OldStart)-i, kind, n); i++ {
	}
	for i := 0; i < anchorReach && !m.put(int(h.OldEnd)+i, kind, n); i++ {
	}
	for i := int(h.OldStart) - nearLines; i < int(h.OldEnd)+nearLines; i++ {
		m.put(i, nearby, n)
	}
	from, to := block(x.Old.Line, x.Old.Len(), int(h.OldStart))
	for i := from; i < to; i++ {
		m.put(i, function, n)
	}
}

// punctuation tells a line without a letter or a digit: any commit may have written it.
func punctuation(l []byte) bool {
	words := false
	lineage.EachWord(l, func([]byte) { words = true })
	return !words
}
