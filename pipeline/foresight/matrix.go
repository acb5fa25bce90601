package foresight

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/pipeline"
	"sluice/pipeline/recipes"
	"sluice/replay"
	"sluice/replay/tools"
)

// spec is one cell of the matrix: a state, what is laid over it, and what is run.
type spec struct {
	Name     string // "h1+T2"
	State    string
	Overlays []replay.Overlay
	Target   []string      // test files; none: everything
	Ahead    time.Duration // of the clock
}

// matrix runs specs of one candidate.
type matrix struct {
	*family
	c    *pipeline.Case
	env  Environment
	runs func(context.Context, spec, int) (observed, error) // run, but for tests of the plan
}

// observed is the stored result of one run.
type observed struct {
	Report replay.Report `json:"report"`
	Log    string        `json:"log"` // what the steps printed, cut in the middle

	Conditions replay.Conditions `json:"conditions,omitzero"`
	// Canary are the times that the canaries of a run with another clock told, in seconds; see clock.go.
	Canary []string `json:"canary,omitempty"`
}

func (f *family) matrix(ctx context.Context, c *pipeline.Case) (*matrix, error) {
	m := &matrix{family: f, c: c}
	m.runs = m.run
	return m, c.Read(ctx, evEnvironment, &m.env)
}

// run executes a spec once. The repeat's number is part of the key: repeats are runs of their own, and all candidates share them.
func (m *matrix) run(ctx context.Context, s spec, repeat int) (observed, error) {
	r := m.env.Recipes[s.State]
	tool, err := tools.For(r.Runner)
	if err != nil {
		return observed{}, pipeline.Permanent(err)
	}
	tree, err := m.History.Tree(ctx, m.env.Commits[s.State])
	if err != nil {
		return observed{}, err
	}
	target := replay.Target{Paths: s.Target}
	job := replay.Job{
		Name: fmt.Sprintf("%s #%d", s.Name, repeat), Tree: tree, Overlays: s.Overlays,
		Steps: append(canaries(r, s.Ahead), tool.Steps(r, target)...), Limits: m.set.Limits, Ahead: s.Ahead,
	}
	w := pipeline.Work{Kind: recipes.RunKind, Label: job.Name + " of " + m.c.ID(), Inputs: recipes.RunInputs(m.Sandbox.Name(), r, job, repeat)}
	b, err := m.c.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		env, err := m.Sandbox.Prepare(ctx, r, tree) // nothing of the caller is written to: it may be gone already
		if err != nil {
			return nil, fmt.Errorf("preparing the environment: %w", err)
		}
		job := job
		job.Env = env
		res, err := m.Sandbox.Run(ctx, job)
		if err != nil {
			return nil, err
		}
		return json.Marshal(observed{Report: tool.Parse(r, target, res), Log: recipes.LogOf(res), Conditions: res.Conditions, Canary: told(res)})
	})
	if err != nil {
		return observed{}, fmt.Errorf("running %s: %w", job.Name, err)
	}
	var o observed
	if err := json.Unmarshal(b, &o); err != nil {
		return observed{}, pipeline.Permanent(fmt.Errorf("decoding the run %s: %w", job.Name, err))
	}
	return o, nil
}
