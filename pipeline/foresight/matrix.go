package foresight

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
)

// runVersion is part of every run's key: raise it when the same commands would be read differently.
const runVersion = 1

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
	w := pipeline.Work{Kind: "test-run", Label: job.Name + " of " + m.c.ID(), Inputs: runInputs(m.Sandbox.Name(), r, job, repeat)}
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
		return json.Marshal(observed{Report: tool.Parse(r, target, res), Log: logOf(res)})
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

// runInputs is everything that a run's result depends on.
func runInputs(sandbox string, r replay.Recipe, j replay.Job, repeat int) any {
	type file struct {
		Path pipeline.Text
		Mode uint32
		Data pipeline.Text
	}
	type overlay struct {
		Files  []file
		Remove []pipeline.Text
	}
	var overlays []overlay // one by one: what the first removes the second may write, and the other way round
	for _, o := range j.Overlays {
		var k overlay
		for _, p := range o.Remove {
			k.Remove = append(k.Remove, pipeline.Text(p))
		}
		for _, f := range o.Files {
			k.Files = append(k.Files, file{pipeline.Text(f.Path), uint32(f.Mode), f.Data})
		}
		overlays = append(overlays, k)
	}
	return []any{runVersion, sandbox, r.Fingerprint, j.Tree.ID(), overlays, j.Steps, j.Limits, repeat}
}

const (
	logLimit  = 192 << 10 // bytes of log kept of a run
	stepLimit = 64 << 10  // of each stream of a step
)

// logOf is what people read of a run.
func logOf(res replay.Result) string {
	var b strings.Builder
	for _, s := range res.Steps {
		if s.Stop == replay.Skipped {
			continue
		}
		fmt.Fprintf(&b, "$ step %s: %s, exit %d\n", s.Name, s.Stop, s.ExitCode)
		b.WriteString(cutMiddle(strings.ToValidUTF8(string(s.Stdout), "\uFFFD"), stepLimit))
		b.WriteString(cutMiddle(strings.ToValidUTF8(string(s.Stderr), "\uFFFD"), stepLimit))
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	return cutMiddle(b.String(), logLimit)
}

func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := s[:limit/2], s[len(s)-limit/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-limit) + strings.ToValidUTF8(tail, "")
}
