package docker

import (
	"context"
	"errors"
	"fmt"

	"sluice/replay"
)

// Run executes a job in a container of its own. Files of {out} that are too many or too large (10,000 files, 256 MiB
// each, 512 MiB together) are left out; ErrNoEnv says that the environment must be prepared again.
func (s *Sandbox) Run(ctx context.Context, j replay.Job) (res replay.Result, err error) {
	err = s.withRoom(ctx, func() error {
		res, err = s.runOnce(ctx, j)
		return err
	})
	return res, err
}

func (s *Sandbox) runOnce(ctx context.Context, j replay.Job) (res replay.Result, err error) {
	limits := merge(j.Limits, s.limits)
	user, err := parseOwner(s.o.User)
	if err != nil {
		return res, err
	}
	ctx, cancel := context.WithTimeout(ctx, limits.Wall+s.o.Timeouts.Engine)
	defer cancel()
	b, err := s.newBox(ctx, boxSpec{image: j.Env.ID, job: j.Name, network: "none", user: s.o.User, limits: limits})
	if err != nil {
		return res, s.runError(j, err)
	}
	defer b.discard(ctx)
	// The container runs before it has its files: an engine mounts the files of a stopped one for each copy, and writes all of its
	// disk back when it takes them down again.
	if err := b.start(ctx); err != nil {
		return res, s.runError(j, err)
	}
	err = b.upload(ctx, func(k *packer) error {
		if err := k.places(b.places, len(j.Steps), user); err != nil {
			return err
		}
		return k.tree(ctx, j.Tree, j.Overlays, user)
	})
	if err != nil {
		return res, s.runError(j, err)
	}
	env := []map[string]string{limits.CoreVars(), j.Env.Recipe.Env, replay.ClockVars(j.Ahead)}
	if res, err = b.results(ctx, j.Steps, env...); err != nil {
		return res, s.runError(j, err)
	}
	res.Conditions = j.Conditions(s.Walls(), limits, b.places.environ(env...))
	res.Conditions.Kernel, res.Conditions.Cores = s.info.KernelVersion, s.info.NCPU
	return res, nil
}

func (s *Sandbox) runError(j replay.Job, err error) error {
	if errors.Is(err, ErrNoImage) {
		err = fmt.Errorf("%w: %w", ErrNoEnv, err)
	}
	return fmt.Errorf("running %q in docker: %w", j.Name, err)
}

// results runs the steps and reads what they left.
func (b *box) results(ctx context.Context, steps []replay.Step, env ...map[string]string) (replay.Result, error) {
	done, err := b.steps(ctx, steps, env...)
	if err != nil {
		return replay.Result{}, err
	}
	c, err := b.collect(ctx)
	if err != nil {
		return replay.Result{}, err
	}
	c.fill(done)
	return replay.Result{Steps: done, Files: c.files}, nil
}
