package recipes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/pipeline"
	"sluice/replay"
)

// RunVersion is part of every run's key: it is raised when the same commands would be read differently, or run with other defaults.
const RunVersion = 2

// Run is one run of a state's tests that was not started yet.
type Run struct {
	Recipe replay.Recipe
	Tool   replay.Runner
	Target replay.Target
	Job    replay.Job // without its environment
}

// Observed is what a run came to, as the store keeps it.
type Observed struct {
	Report     replay.Report     `json:"report,omitzero"`
	Log        string            `json:"log,omitempty"` // what the steps printed, cut in the middle
	Conditions replay.Conditions `json:"conditions,omitzero"`
	Wall       time.Duration     `json:"wall_ns,omitempty"` // what its steps took
}

// Work names a run in the store: one that showed a recipe to work is not done again where its outcome is wanted, nor one of another candidate's.
// The repeat's number is part of the name: repeats are runs of their own.
func (r Run) Work(sandbox, label string, repeat int) pipeline.Work {
	return pipeline.Work{Kind: "test-run", Label: label, Inputs: r.inputs(sandbox, repeat)}
}

// Start prepares the environment, if it is gone, and runs the job in it. Its errors are the machinery's.
func (r Run) Start(ctx context.Context, s replay.Sandbox) (Observed, replay.Result, error) {
	job := r.Job // nothing of the caller is written to: it may be gone already
	var err error
	if job.Env, err = s.Prepare(ctx, r.Recipe, job.Tree); err != nil {
		return Observed{}, replay.Result{}, fmt.Errorf("preparing the environment: %w", err)
	}
	res, err := s.Run(ctx, job)
	if err != nil {
		return Observed{}, res, err
	}
	o := Observed{Report: r.Tool.Parse(r.Recipe, r.Target, res), Log: logOf(res), Conditions: res.Conditions}
	for _, s := range res.Steps {
		o.Wall += s.Duration
	}
	return o, res, nil
}

// inputs are everything that a run's result depends on.
func (r Run) inputs(sandbox string, repeat int) any {
	j := r.Job
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
	key := []any{RunVersion, sandbox, r.Recipe.Fingerprint, j.Tree.ID(), overlays, j.Steps, j.Limits, repeat}
	if j.Ahead != 0 {
		key = append(key, j.Ahead)
	}
	return key
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
