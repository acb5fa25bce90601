package docker

import (
	"context"
	"errors"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"sluice/replay"
	"sluice/replay/layers"
)

// snapshot is a state whose leading steps have run: an image of the whole container, without a name and of this process only, so that it
// goes with the process however that ends.
type snapshot struct {
	image  string
	places places              // as in the container: what is in the tree may hold the path of {out}
	done   []replay.StepResult // without their output, which is in the image
}

// stage is where a job begins: a layer, or its tree with perhaps a layer to be made on the way.
type stage struct {
	layer snapshot
	use   *layers.Use[snapshot]
}

// warmTime is what warming may take, beside the job's own time. It is below selfDestruct.
const warmTime = 5 * time.Minute

// runShared runs a job whose beginning others may have run. A layer that somebody removed costs time and nothing else.
func (s *Sandbox) runShared(ctx context.Context, j replay.Job, key string) (replay.Result, error) {
	use, err := s.layers.Get(ctx, key)
	if err != nil {
		return replay.Result{}, err
	}
	defer use.Done()
	if l, ok := use.Layer(); ok {
		res, err := s.runFrom(ctx, j, stage{layer: l})
		if !errors.Is(err, ErrNoImage) {
			return res, err
		}
		use.Lost()
	}
	return s.runFrom(ctx, j, stage{use: use})
}

// keep warms the state and makes it a layer, unless one of its leading steps did not pass: a build that fails is tried anew by each
// repeat. Only what later steps could notice is an error.
func (b *box) keep(ctx context.Context, j replay.Job, use *layers.Use[snapshot], done []replay.StepResult, env []map[string]string) error {
	for _, r := range done {
		if r.Stop != replay.Skipped && !passed(r) || r.Lingering {
			use.None()
			return nil
		}
	}
	wall := b.end
	b.end = b.s.o.Clock.Now().Add(warmTime)
	defer func() { b.end = wall }()
	for i, st := range j.Share.Warm {
		r, err := b.step(ctx, len(j.Steps)+i, st, env)
		if err != nil {
			return err
		}
		if r.Stop != replay.Exited {
			use.None()
			return nil
		}
	}
	c, err := b.s.api.ContainerCommit(ctx, b.id, container.CommitOptions{
		Config: &container.Config{Cmd: []string{"/bin/sh"}, WorkingDir: treeDir, Labels: map[string]string{labelState: "1"}},
	})
	if err != nil {
		use.None()
		return nil
	}
	use.Made(snapshot{image: c.ID, places: b.places, done: slices.Clone(done)}, b.s.grown(ctx, b.spec.image, c.ID))
	return nil
}

// grown is how many bytes an image has beyond the one below it; 0 where the engine does not tell.
func (s *Sandbox) grown(ctx context.Context, below, above string) int64 {
	a, err := s.api.ImageInspect(ctx, above)
	if err != nil {
		return 0
	}
	b, err := s.api.ImageInspect(ctx, below)
	if err != nil {
		return 0
	}
	return max(0, a.Size-b.Size)
}

// drop removes a layer in the background. The container of its last job may be still there; what stays is Close's.
func (s *Sandbox) drop(l snapshot) {
	s.gone.add(context.Background(), func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, s.o.Timeouts.Cleanup)
		defer cancel()
		for range dropTries {
			_, err := s.api.ImageRemove(ctx, l.image, image.RemoveOptions{})
			if !cerrdefs.IsConflict(err) || s.o.Clock.Wait(ctx, time.Second) != nil {
				return
			}
		}
	})
}

const dropTries = 10
