package attribution

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
)

// lines is szz.Attribute as a strategy.
type lines struct {
	m    *gitrepo.Mirror
	idx  *gitrepo.Index
	memo *szz.Memo
}

func newLines(ctx context.Context, k *Kit) (szz.Strategy, error) {
	idx, err := k.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	return lines{k.Repo.Mirror, idx, szz.NewMemo()}, nil
}

func (lines) Name() string { return "lines" }

// Attribute counts the lines by the commit that wrote them, where szz.Attribute counts by change.
func (l lines) Attribute(ctx context.Context, fix szz.Fix) (szz.Answer, error) {
	a := szz.Answer{Strategy: szz.Version, Fix: fix.Commit, Suspects: []szz.Suspect{}, MergeMode: szz.FirstParent}
	found, err := szz.Attribute(ctx, l.m, l.idx, gitrepo.Change{Head: fix.Commit, Base: fix.Base}, szz.Options{Memo: l.memo})
	if err != nil {
		return a, err
	}
	a.Abstained, a.Skipped = found.Abstained, found.Skipped
	a.Suspects = l.suspects(found)
	return a, nil
}

func (l lines) suspects(found szz.Attribution) []szz.Suspect {
	byCommit := map[string]szz.Suspect{}
	total := 0
	for _, line := range found.Lines {
		if line.Dropped != "" || line.Change == found.Fix {
			continue
		}
		s := byCommit[line.Commit]
		s.Commit, s.Evidence = line.Commit, szz.Deletion
		s.Lines++
		if !slices.Contains(s.Files, line.File) {
			s.Files = append(s.Files, line.File)
		}
		byCommit[line.Commit] = s
		total++
	}
	out := make([]szz.Suspect, 0, len(byCommit))
	for _, s := range byCommit {
		s.Score = float64(s.Lines) / float64(total)
		out = append(out, s)
	}
	position := func(id string) int {
		c, _ := l.idx.ByCommit(id)
		return c.Position
	}
	slices.SortFunc(out, func(a, b szz.Suspect) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(position(b.Commit), position(a.Commit)), strings.Compare(a.Commit, b.Commit))
	})
	return out
}
