package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"sluice/replay"
	"sluice/replay/layers"
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
	if key, ok := layers.Key(j); ok {
		res, err = s.runShared(ctx, j, key)
	} else {
		res, err = s.runFrom(ctx, j, stage{})
	}
	if err != nil {
		return replay.Result{}, s.runError(j, err)
	}
	return res, nil
}

// runFrom runs a job in a new container, from its tree or from a layer.
func (s *Sandbox) runFrom(ctx context.Context, j replay.Job, from stage) (res replay.Result, err error) {
	limits := j.Limits.Or(s.limits)
	ctx, cancel := context.WithTimeout(ctx, limits.Wall+s.o.Timeouts.Engine+warmTime+commitTime)
	defer cancel()
	b, err := s.newBox(ctx, boxSpec{image: cmp.Or(from.layer.image, j.Env.ID), job: j.Name, network: "none", user: s.o.User, limits: limits})
	if err != nil {
		return res, err
	}
	defer b.discard(ctx)
	// The container runs before it has its files: an engine mounts the files of a stopped one for each copy, and writes all of its
	// disk back when it takes them down again.
	if err := b.start(ctx); err != nil {
		return res, err
	}
	env := []map[string]string{limits.CoreVars(), j.Env.Recipe.Env, replay.ClockVars(j.Ahead)}
	var done []replay.StepResult
	if from.layer.image != "" {
		b.places, done = from.layer.places, slices.Clone(from.layer.done)
		b.clock(done)
	} else if done, err = b.begin(ctx, j, from.use, env); err != nil {
		return res, err
	}
	if done, err = b.more(ctx, j.Steps, done, env); err != nil {
		return res, err
	}
	res, err = b.results(ctx, done)
	res.Conditions = j.Conditions(s.Walls(), limits, b.places.environ(env...))
	res.Conditions.Kernel, res.Conditions.Cores = s.info.KernelVersion, s.info.NCPU
	return res, err
}

// begin copies the tree into the container. If the job's beginning is to be kept, it runs that and returns its results.
func (b *box) begin(ctx context.Context, j replay.Job, use *layers.Use[snapshot], env []map[string]string) ([]replay.StepResult, error) {
	user, err := parseOwner(b.spec.user)
	if err != nil {
		return nil, err
	}
	err = b.upload(ctx, func(k *packer) error {
		if err := k.places(b.places, len(j.Steps)+len(j.Share.Warm), user); err != nil {
			return err
		}
		return k.tree(ctx, j.Tree, j.Overlays, user)
	})
	b.clock(nil)
	if err != nil || use == nil || !use.Maker() {
		return nil, err
	}
	done, err := b.more(ctx, j.Steps[:j.Share.Steps], nil, env)
	if err != nil {
		return nil, err
	}
	begun := b.s.o.Clock.Now()
	err = b.keep(ctx, j, use, done, env)
	b.end = b.end.Add(b.s.o.Clock.Now().Sub(begun)) // keeping a state is not the code's time
	return done, err
}

func (s *Sandbox) runError(j replay.Job, err error) error {
	if errors.Is(err, ErrNoImage) {
		err = fmt.Errorf("%w: %w", ErrNoEnv, err)
	}
	return fmt.Errorf("running %q in docker: %w", j.Name, err)
}

// results reads what the steps left.
func (b *box) results(ctx context.Context, done []replay.StepResult) (replay.Result, error) {
	c, err := b.collect(ctx)
	if err != nil {
		return replay.Result{}, err
	}
	c.fill(done)
	b.mask(done)
	return replay.Result{Steps: done, Files: c.files}, nil
}
