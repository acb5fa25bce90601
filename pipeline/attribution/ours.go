package attribution

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
	"sluice/miners/szz/lineage"
	"sluice/miners/szz/rank"
)

// ranked is sluice's own method as a strategy. The history is read when the first fix asks for it.
type ranked struct {
	m     *gitrepo.Mirror
	model *rank.Model

	mu     sync.Mutex
	graph  *lineage.Graph
	ranker *rank.Ranker
	whole  bool // the graph holds all that any reference of the mirror reaches
}

func newRanked(_ context.Context, k *Kit) (szz.Strategy, error) {
	if k.Model != nil {
		return &ranked{m: k.Repo.Mirror, model: k.Model}, nil
	}
	model, err := rank.Shipped()
	if err != nil {
		return nil, err
	}
	return &ranked{m: k.Repo.Mirror, model: model}, nil
}

func (r *ranked) Name() string { return rank.Name }

// Attribute ranks the suspects of a fix.
func (r *ranked) Attribute(ctx context.Context, fix szz.Fix) (szz.Answer, error) {
	ranker, err := r.knowing(ctx, fix.Commit)
	if err != nil {
		return szz.Answer{}, err
	}
	return ranker.Attribute(ctx, rank.Fix{Commit: fix.Commit, Base: fix.Base})
}

// knowing returns a ranker whose history holds the commit: that of the default branch, or that of all references; and when
// none of these reaches it, that of the commit too.
func (r *ranked) knowing(ctx context.Context, commit string) (*rank.Ranker, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.graph != nil {
			if _, ok := r.graph.Find(commit); ok {
				return r.ranker, nil
			}
		}
		tips, err := r.tips(ctx, commit)
		if err != nil {
			return nil, err
		}
		if r.graph, err = lineage.Load(ctx, r.m, tips); err != nil {
			return nil, fmt.Errorf("reading the history: %w", err)
		}
		r.ranker = rank.New(r.graph, r.model)
	}
}

func (r *ranked) tips(ctx context.Context, commit string) ([]string, error) {
	if r.graph == nil {
		tip, err := r.m.Tip(ctx)
		if err == nil {
			return []string{tip}, nil
		}
		if !errors.Is(err, gitrepo.ErrNoDefaultBranch) {
			return nil, err
		}
	}
	tips, err := r.m.Tips(ctx)
	if r.whole {
		tips = append(tips, commit)
	}
	r.whole = true
	return tips, err
}
