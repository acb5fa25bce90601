package rank

import (
	"cmp"
	"context"
	"slices"

	"sluice/miners/szz"
	"sluice/miners/szz/lineage"
)

// candidate is a commit before the fix, and what speaks for it. Counts are of lines unless said otherwise.
type candidate struct {
	commit   int32
	lines    [8]float64 // of the classes of seeds, by the number of the bit
	earlier  [generations + 1]float64
	hunks    map[[2]int]bool // of the fix, by file: those of which it wrote deleted lines
	files    bitset          // of the fix, that it touched
	names    []string        // of those files, before the fix
	touched  uint8           // classes of lines that it changed or worked next to
	fileRank int             // how many commits touched the file since; the least over files
	funRank  int             // the same, of those that touched the function
	added    int
	removed  int
	adds     bool   // it added the file
	in, out  bitset // tokens
}

const never = 300 // a rank that stands for "not seen"

// scene is a fix with all that bears on it.
type scene struct {
	fix        int32
	files      []fixFile
	candidates []*candidate // the newest first
	tokens     *tokens
	totals     candidate  // sums over the candidates
	skipped    []szz.Skip // files that the repository does not have whole, or whose lines were not followed to their end
	omitted    int        // files that were not looked at
}

// gather collects the evidence about a fix.
func (r *Ranker) gather(ctx context.Context, fix, base int32, commits []int32) (*scene, error) {
	all, err := r.g.Changed(ctx, base, fix, commits)
	if err != nil {
		return nil, err
	}
	s := &scene{fix: fix}
	chosen, omitted := chooseFiles(all)
	s.omitted = omitted
	for _, f := range chosen {
		x, lacks, err := r.follow(ctx, base, f)
		if err != nil {
			return nil, err
		}
		switch {
		case lacks:
			s.skipped = append(s.skipped, szz.Skip{File: cmp.Or(f.OldPath, f.Path), Reason: szz.MissingObject})
		case x.trace.Exhausted:
			s.skipped = append(s.skipped, szz.Skip{File: f.OldPath, Reason: szz.Exhausted})
		}
		s.files = append(s.files, x)
	}
	s.tokens = newTokens(s.files, r.words[fix])
	s.collect()
	s.tokens.weigh(s.candidates)
	return s, nil
}

// collect counts what the traces found by commit.
func (s *scene) collect() {
	by := map[int32]*candidate{}
	at := func(commit int32, file int) *candidate {
		c := by[commit]
		if c == nil {
			c = &candidate{commit: commit, hunks: map[[2]int]bool{}, fileRank: never, funRank: never}
			by[commit] = c
			s.candidates = append(s.candidates, c)
		}
		if !c.files.has(file) {
			c.files.add(file)
			c.names = append(c.names, s.files[file].OldPath)
		}
		return c
	}
	for n, x := range s.files {
		for _, o := range x.trace.Origins {
			s.count(at(o.Commit, n), x, n, o)
		}
		fun := 0
		for i, v := range x.trace.Visits {
			c := at(v.Commit, n)
			c.visited(v, i, &fun)
			s.tokens.read(v, c)
		}
	}
	slices.SortFunc(s.candidates, func(a, b *candidate) int { return int(b.commit - a.commit) })
}

// count notes one line's origin.
func (s *scene) count(c *candidate, x fixFile, file int, o lineage.Origin) {
	class := x.seeds[o.Seed].Class
	if o.Generation > 1 {
		if class&deleted != 0 {
			c.earlier[o.Generation]++
		}
		return
	}
	for bit := range c.lines {
		if class>>bit&1 == 1 {
			c.lines[bit]++
			s.totals.lines[bit]++
		}
	}
	if class&deleted != 0 {
		key := [2]int{file, x.hunks[o.Seed]}
		c.hunks[key] = true
		if s.totals.hunks == nil {
			s.totals.hunks = map[[2]int]bool{}
		}
		s.totals.hunks[key] = true
	}
}

// visited notes what a commit did to a file, as the rank-th of those that touched it.
func (c *candidate) visited(v lineage.Visit, rank int, fun *int) {
	c.fileRank = min(c.fileRank, rank)
	c.touched |= v.Touched
	if v.Touched&function != 0 {
		c.funRank = min(c.funRank, *fun)
		*fun++
	}
	for _, h := range v.Hunks {
		c.added += int(h.NewEnd - h.NewStart)
		c.removed += int(h.OldEnd - h.OldStart)
	}
	c.adds = c.adds || v.Old == nil
}
