package classic

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
	"sluice/miners/szz/refactor"
)

func refactorPlace(b gitrepo.BlameLine) refactor.Place {
	return refactor.Place{File: b.OrigPath, Line: b.OrigLine}
}

// vote is what speaks for a commit.
type vote struct {
	gitrepo.Commit
	lines int
	files []string
}

// votes counts the lines by commit, the most lines first; of equals the later commit, then the lower id. The fix itself has no vote.
func (w *walk) votes(ctx context.Context) ([]vote, error) {
	byCommit := map[string]*vote{}
	issue, dated := w.o.IssueDates[w.fix.Commit]
	for i := range w.lines {
		l := &w.lines[i]
		if l.dropped != "" || l.commit == w.fix.Commit {
			continue
		}
		c, err := w.commit(ctx, l.commit)
		if err != nil {
			return nil, err
		}
		if dated && !c.Committed.Before(issue) {
			l.dropped = TooLate
			continue
		}
		v := byCommit[l.commit]
		if v == nil {
			v = &vote{Commit: c}
			byCommit[l.commit] = v
		}
		v.lines++
		if !slices.Contains(v.files, l.file) {
			v.files = append(v.files, l.file)
		}
	}
	out := make([]vote, 0, len(byCommit))
	for _, v := range byCommit {
		slices.Sort(v.files)
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b vote) int {
		return cmp.Or(cmp.Compare(b.lines, a.lines), b.Committed.Compare(a.Committed), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

func (v vote) suspect(score float64) szz.Suspect {
	return szz.Suspect{Commit: v.ID, Score: score, Evidence: szz.Deletion, Lines: v.lines, Files: v.files}
}

// all names every commit; the score is its share of the lines.
func all(_ *Variants, _ context.Context, votes []vote) ([]szz.Suspect, error) {
	total := 0
	for _, v := range votes {
		total += v.lines
	}
	out := make([]szz.Suspect, len(votes))
	for i, v := range votes {
		out[i] = v.suspect(float64(v.lines) / float64(total))
	}
	return out, nil
}

// latest names the commit that was committed last.
func latest(_ *Variants, _ context.Context, votes []vote) ([]szz.Suspect, error) {
	best := slices.MaxFunc(votes, func(a, b vote) int {
		return cmp.Or(a.Committed.Compare(b.Committed), cmp.Compare(a.lines, b.lines), strings.Compare(b.ID, a.ID))
	})
	return []szz.Suspect{best.suspect(1)}, nil
}

// largest names the commit that changed most lines, of whatever file; the score is their number.
func largest(v *Variants, ctx context.Context, votes []vote) ([]szz.Suspect, error) {
	var ids []string
	for _, vote := range votes {
		ids = append(ids, vote.ID)
	}
	files, err := v.filesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	size := func(id string) (n int) {
		for _, f := range files[id] {
			n += max(f.Added, 0) + max(f.Deleted, 0)
		}
		return n
	}
	best := slices.MaxFunc(votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(size(a.ID), size(b.ID)), a.Committed.Compare(b.Committed), strings.Compare(b.ID, a.ID))
	})
	return []szz.Suspect{best.suspect(float64(size(best.ID)))}, nil
}
