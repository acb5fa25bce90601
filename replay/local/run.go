//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"sluice/replay"
)

// Run implements replay.Sandbox.
func (s *Sandbox) Run(ctx context.Context, j replay.Job) (res replay.Result, err error) {
	env := s.envFolder(j.Env.ID)
	if j.Env.Sandbox != Name || !filepath.IsLocal(j.Env.ID) || !env.complete() {
		return res, fmt.Errorf("running %s: environment %q: %w", j.Name, j.Env.ID, ErrEnvironment)
	}
	limits := merge(j.Limits, s.opts.Limits)
	se, err := s.open(view{env: env.content()}, limits)
	if err != nil {
		return res, fmt.Errorf("running %s: %w", j.Name, err)
	}
	defer func() {
		if cerr := se.close(); cerr != nil || err != nil {
			res, err = replay.Result{}, errors.Join(err, cerr)
		}
	}()
	se.vars = []map[string]string{offline, limits.CoreVars(), j.Env.Recipe.Env, replay.ClockVars(j.Ahead)}
	all := func(string) bool { return true }
	if err := writeTree(ctx, se.view.state.path("tree"), j.Tree, all, j.Overlays); err != nil {
		return res, fmt.Errorf("running %s: %w", j.Name, err)
	}
	if res.Steps, err = se.steps(ctx, j.Steps); err != nil {
		return res, fmt.Errorf("running %s: %w", j.Name, err)
	}
	if res.Files, err = collect(se.view.state.dir, se.view.state.outName); err != nil {
		return res, fmt.Errorf("collecting the reports of %s: %w", j.Name, err)
	}
	res.Conditions = j.Conditions(s.Walls(), limits, se.places.environ(s.host.path, se.vars...))
	res.Conditions.Kernel, res.Conditions.Cores = s.kernel, runtime.NumCPU()
	return res, nil
}

// steps runs the steps in order within the wall limit; what does not run is skipped.
func (se *session) steps(ctx context.Context, steps []replay.Step) ([]replay.StepResult, error) {
	limited, cancel := context.WithTimeoutCause(ctx, se.limits.Wall, errTime)
	defer cancel()
	var done []replay.StepResult
	stopped := false
	for _, step := range steps {
		if stopped || limited.Err() != nil && ctx.Err() == nil || !due(step, done) {
			done = append(done, replay.StepResult{Name: step.Name, Stop: replay.Skipped})
			continue
		}
		r, err := se.step(limited, step)
		if err != nil {
			return nil, err
		}
		done = append(done, r)
		stopped = step.MustPass && !passed(r)
	}
	return done, nil
}

// due says whether the step's IfFailed holds.
func due(step replay.Step, done []replay.StepResult) bool {
	if step.IfFailed == "" {
		return true
	}
	for _, r := range done {
		if r.Name == step.IfFailed && r.Stop != replay.Skipped && !passed(r) {
			return true
		}
	}
	return false
}

func passed(r replay.StepResult) bool { return r.Stop == replay.Exited && r.ExitCode == 0 }

// stepDir is where a step runs.
func stepDir(tree, dir string) (string, error) {
	if dir != "" && !filepath.IsLocal(dir) {
		return "", fmt.Errorf("its folder %q: %w", dir, errPath)
	}
	return filepath.Join(tree, dir), nil
}

// insideTree refuses a folder that a link of the tree leads out of it; only without a root of its own can it get there.
func (se *session) insideTree(dir string) error {
	root, err := os.OpenRoot(se.places.tree)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = root.Stat(filepath.Join(".", dir))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("its folder %q: %w", dir, err)
}
