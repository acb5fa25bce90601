package foresight

import (
	"context"
	"errors"

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

// sides are what is known of a candidate's two changes once runs 1 to 5 are done.
type sides struct {
	fix, task history.Split
	fixRuns   FixRuns
	taskRuns  TaskRuns
}

func readSides(ctx context.Context, c *pipeline.Case) (s sides, err error) {
	for name, v := range map[string]any{evSplit: &s.fix, evTaskSplit: &s.task, evFixRuns: &s.fixRuns, evTaskRuns: &s.taskRuns} {
		err = errors.Join(err, c.Read(ctx, name, v))
	}
	return s, err
}
