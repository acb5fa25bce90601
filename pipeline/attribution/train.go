package attribution

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"sluice/miners/gitrepo"
	"sluice/miners/szz/lineage"
	"sluice/miners/szz/rank"
)

// Model weighs what speaks for a suspect.
type Model = rank.Model

// ReadModel reads a model that Training.Model made and that was written as JSON.
func ReadModel(data []byte) (*Model, error) { return rank.ReadModel(data) }

// Training collects fixes whose introducing commits are known and learns a model from them.
type Training struct {
	examples []rank.Example
	Missing  int // rows whose commits are not in the history of their repository
}

// Add prepares the rows of one repository.
func (t *Training) Add(ctx context.Context, r *Repository, rows []Truth, workers int) error {
	tip, err := r.Mirror.Tip(ctx)
	if err != nil {
		return err
	}
	g, err := lineage.Load(ctx, r.Mirror, []string{tip})
	if err != nil {
		return err
	}
	var lost Evaluation
	known, _, err := lost.resolve(ctx, r.Mirror, rows)
	if err != nil {
		return err
	}
	t.Missing += len(rows) - len(known)
	ranker := rank.New(g, nil)
	examples := make([]*rank.Example, len(known))
	var group errgroup.Group
	group.SetLimit(max(workers, 1))
	for i, row := range known {
		group.Go(func() error {
			e, ok, err := ranker.Example(ctx, row.Repo, row.Fix, row.Intro)
			if errors.Is(err, gitrepo.ErrMissingObject) || err == nil && !ok {
				return nil
			}
			examples[i] = &e
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, e := range examples { // in the order of the rows: the same rows give the same weights
		if e == nil {
			t.Missing++
			continue
		}
		t.examples = append(t.examples, *e)
	}
	return nil
}

// Model learns the weights.
func (t *Training) Model(version string) (*Model, error) { return rank.Train(version, t.examples) }
