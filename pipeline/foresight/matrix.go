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
	Share    bool          // repeats have in common what they compile
	Narrowed int           // the try of narrowing that its overlay is of; 0: the overlay is whole
}

// label names one of the repeats, for people.
func (s spec) label(repeat int) string {
	if s.Narrowed > 0 {
		return fmt.Sprintf("%s narrowed (%d) #%d", s.Name, s.Narrowed, repeat)
	}
	return fmt.Sprintf("%s #%d", s.Name, repeat)
}

// shareFrom is how long a state's first run takes at least for its repeats to share what they compile. To make a shared layer takes about a
// second, and a first run shares nothing: after most of them the candidate is out.
const shareFrom = 5 * time.Second

// matrix runs specs of one candidate.
type matrix struct {
	*family
	c    *pipeline.Case
	env  Environment
	runs func(context.Context, spec, int) (observed, error) // run, but for tests of the plan
}

// observed is the stored result of one run.
type observed struct {
	recipes.Observed
	// Canary are the times that the canaries of a run with another clock told, in seconds; see clock.go.
	Canary []string `json:"canary,omitempty"`
}

func (f *family) matrix(ctx context.Context, c *pipeline.Case) (*matrix, error) {
	m := &matrix{family: f, c: c}
	m.runs = m.run
	return m, c.Read(ctx, evEnvironment, &m.env)
}

func (m *matrix) plan(ctx context.Context, s spec, repeat int) (recipes.Run, error) {
	p := recipes.Run{Recipe: m.env.Recipes[s.State], Target: replay.Target{Paths: s.Target}}
	var err error
	if p.Tool, err = tools.For(p.Recipe.Runner); err != nil {
		return p, pipeline.Permanent(err)
	}
	tree, err := m.History.Tree(ctx, m.env.Commits[s.State])
	if err != nil {
		return p, err
	}
	p.Job = replay.Job{
		Name: s.label(repeat), Tree: tree, Overlays: s.Overlays, Limits: m.set.Limits, Ahead: s.Ahead,
		Steps: append(canaries(p.Recipe, s.Ahead), p.Tool.Steps(p.Recipe, p.Target)...),
	}
	if s.Share {
		p.Job.Share = tools.Share(p.Recipe, p.Target, p.Job.Steps)
	}
	return p, nil
}

// run executes a spec once, or takes over what that came to before.
func (m *matrix) run(ctx context.Context, s spec, repeat int) (observed, error) {
	var o observed
	p, err := m.plan(ctx, s, repeat)
	if err != nil {
		return o, err
	}
	b, err := m.c.Once(ctx, p.Work(m.Sandbox.Name(), p.Job.Name+" of "+m.c.ID(), repeat), func(ctx context.Context) ([]byte, error) {
		o, res, err := p.Start(ctx, m.Sandbox)
		if err != nil {
			return nil, err
		}
		return json.Marshal(observed{o, told(res)})
	})
	if err != nil {
		return o, fmt.Errorf("running %s: %w", p.Job.Name, err)
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, pipeline.Permanent(fmt.Errorf("decoding the run %s: %w", p.Job.Name, err))
	}
	return o, nil
}
