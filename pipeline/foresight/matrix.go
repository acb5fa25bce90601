package foresight

import (
	"context"
	"encoding/json"
	"fmt"

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
	Target   []string // test files; none: everything
}

// matrix runs specs of one candidate.
type matrix struct {
	*family
	c   *pipeline.Case
	env Environment
}

// observed is the stored result of one run.
type observed struct {
	Report replay.Report `json:"report"`
	Log    string        `json:"log"` // what the steps printed, cut in the middle
}

func (f *family) matrix(ctx context.Context, c *pipeline.Case) (*matrix, error) {
	m := &matrix{family: f, c: c}
	return m, c.Read(ctx, evEnvironment, &m.env)
}

// run executes a spec once. The repeat's number is part of the key: repeats are runs of their own, and all candidates share them.
func (m *matrix) run(ctx context.Context, s spec, repeat int) (replay.Report, error) {
	r := m.env.Recipes[s.State]
	tool, err := tools.For(r.Runner)
	if err != nil {
		return replay.Report{}, pipeline.Permanent(err)
	}
	tree, err := m.History.Tree(ctx, m.env.Commits[s.State])
	if err != nil {
		return replay.Report{}, err
	}
	target := replay.Target{Paths: s.Target}
	job := replay.Job{
		Name: fmt.Sprintf("%s #%d", s.Name, repeat), Tree: tree, Overlays: s.Overlays,
		Steps: tool.Steps(r, target), Limits: m.set.Limits,
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
		return json.Marshal(observed{Report: tool.Parse(r, target, res), Log: recipes.LogOf(res)})
	})
	if err != nil {
		return replay.Report{}, fmt.Errorf("running %s: %w", job.Name, err)
	}
	var o observed
	if err := json.Unmarshal(b, &o); err != nil {
		return replay.Report{}, pipeline.Permanent(fmt.Errorf("decoding the run %s: %w", job.Name, err))
	}
	return o.Report, nil
}
