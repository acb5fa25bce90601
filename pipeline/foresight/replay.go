package foresight

import (
	"context"

	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
)

// replayed is what a stage does that lays one change's tests over states and may reject by what they say.
type replayed struct {
	split, state string // evidence with the change's files, and the state that holds its tests
	makes        string
	run          func(context.Context, *matrix, replay.Overlay) (runs any, v *Verdict, err error)
}

// stage makes the stage's function. Under --all-runs a verdict waits in the evidence until the matrix is done.
func (r replayed) stage(f *family) func(context.Context, *pipeline.Case) (pipeline.Outcome, error) {
	return func(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
		m, err := f.matrix(ctx, c)
		if err != nil {
			return pipeline.Outcome{}, err
		}
		var split history.Split
		if err := c.Read(ctx, r.split, &split); err != nil {
			return pipeline.Outcome{}, err
		}
		tests, err := f.History.Overlay(ctx, m.env.Commits[r.state], split)
		if err != nil {
			return pipeline.Outcome{}, err
		}
		runs, verdict, err := r.run(ctx, m, tests)
		if err != nil {
			return pipeline.Outcome{}, err
		}
		if err := c.Write(ctx, r.makes, runs); err != nil {
			return pipeline.Outcome{}, err
		}
		if verdict != nil && !f.set.AllRuns {
			return verdict.reject(), nil
		}
		return pipeline.Pass(), nil
	}
}
