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
	"sluice/replay/layers"
)

// Run implements replay.Sandbox.
func (s *Sandbox) Run(ctx context.Context, j replay.Job) (res replay.Result, err error) {
	env := s.envFolder(j.Env.ID)
	if j.Env.Sandbox != Name || !filepath.IsLocal(j.Env.ID) || !env.complete() {
		return res, fmt.Errorf("running %s: environment %q: %w", j.Name, j.Env.ID, ErrEnvironment)
	}
	use, err := s.layer(ctx, j)
	if err != nil {
		return res, fmt.Errorf("running %s: %w", j.Name, err)
	}
	if use != nil {
		defer use.Done()
	}
	limits := j.Limits.Or(s.opts.Limits)
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
	done, err := se.begin(ctx, j, use)
	if err != nil {
		return res, fmt.Errorf("running %s: %w", j.Name, err)
	}
	if res.Steps, err = se.steps(ctx, j.Steps, done); err != nil {
		return res, fmt.Errorf("running %s: %w", j.Name, err)
	}
	if res.Files, err = collect(se.view.state.dir, se.view.state.outName); err != nil {
		return res, fmt.Errorf("collecting the reports of %s: %w", j.Name, err)
	}
	res.Conditions = j.Conditions(s.Walls(), limits, se.places.environ(s.host.path, se.vars...))
	res.Conditions.Kernel, res.Conditions.Cores = s.kernel, runtime.NumCPU()
	return res, nil
}

// steps runs the steps that come after those that are done, in order, within the wall limit of all. Those that are left then end as time-outs.
func (se *session) steps(ctx context.Context, steps []replay.Step, done []replay.StepResult) ([]replay.StepResult, error) {
	wall := se.limits.Wall
	for _, r := range done {
		wall -= r.Duration
	}
	limited, cancel := context.WithTimeoutCause(ctx, wall, errTime)
	defer cancel()
	stopped := false
	for i, step := range steps {
		switch {
		case i < len(done):
		case stopped || !step.Due(done):
			done = append(done, replay.StepResult{Name: step.Name, Stop: replay.Skipped})
		case limited.Err() != nil && ctx.Err() == nil:
			done = append(done, replay.StepResult{Name: step.Name, Stop: replay.Timeout})
		default:
			r, err := se.step(limited, step)
			if err != nil {
				return nil, err
			}
			done = append(done, r)
		}
		stopped = stopped || step.MustPass && done[i].Stop != replay.Skipped && !done[i].Passed()
	}
	return done, nil
}

// layer takes hold of what the job may begin with; nil: of nothing.
func (s *Sandbox) layer(ctx context.Context, j replay.Job) (*layers.Use[snapshot], error) {
	key, ok := layers.Key(j)
	if !ok || !s.canShare() {
		return nil, nil
	}
	return s.layers.Get(ctx, key)
}

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
