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

// planned is a run that was not started yet.
type planned struct {
	recipe replay.Recipe
	tool   replay.Runner
	target replay.Target
	job    replay.Job // without its environment
}

func (m *matrix) plan(ctx context.Context, s spec, repeat int) (planned, error) {
	p := planned{recipe: m.env.Recipes[s.State], target: replay.Target{Paths: s.Target}}
	var err error
	if p.tool, err = tools.For(p.recipe.Runner); err != nil {
		return p, pipeline.Permanent(err)
	}
	tree, err := m.History.Tree(ctx, m.env.Commits[s.State])
	if err != nil {
		return p, err
	}
	p.job = replay.Job{
		Name: fmt.Sprintf("%s #%d", s.Name, repeat), Tree: tree, Overlays: s.Overlays, Limits: m.set.Limits, Ahead: s.Ahead,
		Steps: append(canaries(p.recipe, s.Ahead), p.tool.Steps(p.recipe, p.target)...),
	}
	if m.set.Repeats > 1 && s.Ahead == 0 {
		p.job.Share = tools.Share(p.recipe, p.target, p.job.Steps)
	}
	return p, nil
}

// perform runs what is planned. Nothing of the caller is written to: it may be gone already.
func (m *matrix) perform(ctx context.Context, p planned) (observed, error) {
	var err error
	if p.job.Env, err = m.Sandbox.Prepare(ctx, p.recipe, p.job.Tree); err != nil {
		return observed{}, fmt.Errorf("preparing the environment: %w", err)
	}
	res, err := m.Sandbox.Run(ctx, p.job)
	if err != nil {
		return observed{}, err
	}
	return observed{Report: p.tool.Parse(p.recipe, p.target, res), Log: recipes.LogOf(res), Conditions: res.Conditions, Canary: told(res)}, nil
}

// run executes a spec once. The repeat's number is part of the key: repeats are runs of their own, and all candidates share them.
func (m *matrix) run(ctx context.Context, s spec, repeat int) (observed, error) {
	var o observed
	p, err := m.plan(ctx, s, repeat)
	if err != nil {
		return o, err
	}
	w := pipeline.Work{
		Kind: recipes.RunKind, Label: p.job.Name + " of " + m.c.ID(), Inputs: recipes.RunInputs(m.Sandbox.Name(), p.recipe, p.job, repeat),
	}
	b, err := m.c.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		o, err := m.perform(ctx, p)
		if err != nil {
			return nil, err
		}
		return json.Marshal(o)
	})
	if err != nil {
		return o, fmt.Errorf("running %s: %w", p.job.Name, err)
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, pipeline.Permanent(fmt.Errorf("decoding the run %s: %w", p.job.Name, err))
	}
	return o, nil
}
