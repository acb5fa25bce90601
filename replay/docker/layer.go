package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// What keeping a state may take, beside the job's own time. Together it is below selfDestruct.
const (
	warmTime   = 5 * time.Minute
	commitTime = 2 * time.Minute // of the engine
)

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
		if r.Stop != replay.Skipped && !r.Passed() || r.Lingering {
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
	if !b.small(ctx) {
		use.None()
		return nil
	}
	commit, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	c, err := b.s.api.ContainerCommit(commit, b.id, container.CommitOptions{
		Config: &container.Config{Cmd: []string{"/bin/sh"}, WorkingDir: treeDir, Labels: map[string]string{LabelState: "1"}},
	})
	if err != nil {
		use.None()
		return ctx.Err()
	}
	use.Made(snapshot{image: c.ID, places: b.places, done: slices.Clone(done)}, b.s.grown(ctx, b.spec.image, c.ID))
	return nil
}

// largeScript adds up the sizes, with their holes, of the files that a user ($1) has in the container, but for small ones; "hidden" says that
// he has folders that he closed himself.
const largeScript = `for c in find stat awk; do command -v $c >/dev/null || exit 1; done
find / -xdev -uid "$1" \( -type d ! -perm -700 -exec echo hidden \; -o -type f -size +4096k -exec stat -c %s {} + \) 2>/dev/null |
awk '$1 == "hidden" { h = 1 } { s += $1 } END { printf "%s %.0f\n", h ? "hidden" : "seen", s }'`

// small reports whether the container's files may be copied to an image. The engine writes out holes: a build could leave a few sparse
// files that take nothing in the container and all of the engine's disk in an image.
func (b *box) small(ctx context.Context) bool {
	most := b.s.o.States / 2
	in, _, err := b.s.api.ContainerInspectWithRaw(ctx, b.id, true)
	if err != nil || in.SizeRw == nil || *in.SizeRw > most {
		return false
	}
	user, err := parseOwner(b.spec.user)
	if err != nil || b.start(ctx) != nil {
		return false
	}
	out, err := b.outputAs(ctx, b.spec.user, "/bin/sh", "-c", largeScript, "sh", strconv.Itoa(user.uid))
	if err != nil {
		return false
	}
	var bytes int64
	n, err := fmt.Sscanf(string(out), "seen %d\n", &bytes)
	return err == nil && n == 1 && bytes <= most
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
