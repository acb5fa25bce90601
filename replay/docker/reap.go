package docker

import (
	"context"
	"errors"
	"regexp"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"sluice/internal/process"
)

// parallelRemovals bounds clean-up: engines get slow, but not slower than one by one.
const parallelRemovals = 8

// dead reports whether an owner's label names a process that is known to be gone.
func dead(owner string) bool {
	id, err := process.Parse(owner)
	return err == nil && id.Dead()
}

// deadContainer also finds what the last restart of the machine left. Two machines may share a name and an engine, so that does
// not condemn a container that is still running.
func deadContainer(c container.Summary) bool {
	id, err := process.Parse(c.Labels[labelOwner])
	return err == nil && (id.Dead() || c.State != container.StateRunning && id.EarlierBoot())
}

// cleanUp reaps. What the engine does not remove stays for the next one to try: one bad container must not stop all work for ever.
func (s *Sandbox) cleanUp(ctx context.Context) {
	if err := s.reap(ctx); err != nil && ctx.Err() == nil {
		s.o.Warn("removing what dead processes left: " + err.Error())
	}
}

// Reap removes from an engine what dead processes of this host left, and nothing else.
func Reap(ctx context.Context, api *client.Client) error {
	self, err := process.Self()
	if err != nil {
		return err
	}
	s := &Sandbox{api: api, o: Options{Timeouts: Timeouts{}.withDefaults()}, owner: self.String(), run: randomName()}
	return s.reap(ctx)
}

// reap removes what dead processes of this host left: containers, unnamed images, volumes and networks with our labels.
func (s *Sandbox) reap(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeouts.Cleanup)
	defer cancel()
	return errors.Join(
		s.removeContainers(ctx, LabelOurs+"=1", deadContainer),
		s.removeImages(ctx, func(labels map[string]string) bool { return dead(labels[labelOwner]) }),
		s.removeVolumes(ctx),
		s.removeNetworks(ctx),
	)
}

func ours(label string) filters.Args { return filters.NewArgs(filters.Arg("label", label)) }

// removeContainers removes the containers with a label that are of the kind.
func (s *Sandbox) removeContainers(ctx context.Context, label string, kind func(container.Summary) bool) error {
	all, err := s.api.ContainerList(ctx, container.ListOptions{All: true, Filters: ours(label)})
	if err != nil {
		return engineError("listing containers", err)
	}
	var ids []string
	for _, c := range all {
		if c.Labels[LabelOurs] == "1" && named(c) && kind(c) {
			ids = append(ids, c.ID)
		}
	}
	return each(ctx, ids, s.removeContainer)
}

// named reports whether a container has a name that we gave. Labels alone do not make it ours: a container that somebody starts of an
// image of ours, to look at it, inherits the image's.
func named(c container.Summary) bool {
	return slices.ContainsFunc(c.Names, ourName.MatchString)
}

// ourName matches the names of containers, as engines list them: those of jobs, and those that images of toolchains are made in.
var ourName = regexp.MustCompile(`^/` + namePrefix + `([0-9a-f]{24}|sluiceimage[0-9A-Za-z]{6})$`)

// each removes things in parallel. One that is gone already, or is being removed, is as good as removed.
func each(ctx context.Context, ids []string, remove func(context.Context, string) error) error {
	var g errgroup.Group
	g.SetLimit(parallelRemovals)
	for _, id := range ids {
		g.Go(func() error {
			err := remove(ctx, id)
			if err == nil || cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) {
				return nil
			}
			return engineError("removing "+id, err)
		})
	}
	return g.Wait()
}

// removeImages removes images of a kind that lost their name or never got one; an image that a container uses stays.
func (s *Sandbox) removeImages(ctx context.Context, kind func(labels map[string]string) bool) error {
	f := ours(LabelOurs + "=1")
	f.Add("dangling", "true")
	all, err := s.api.ImageList(ctx, image.ListOptions{Filters: f})
	if err != nil {
		return engineError("listing images", err)
	}
	var ids []string
	for _, i := range all {
		if kind(i.Labels) {
			ids = append(ids, i.ID)
		}
	}
	return each(ctx, ids, func(ctx context.Context, id string) error {
		_, err := s.api.ImageRemove(ctx, id, image.RemoveOptions{PruneChildren: true})
		return err
	})
}

// removeVolumes and removeNetworks find nothing today, since the package makes neither.
func (s *Sandbox) removeVolumes(ctx context.Context) error {
	all, err := s.api.VolumeList(ctx, volume.ListOptions{Filters: ours(LabelOurs + "=1")})
	if err != nil {
		return engineError("listing volumes", err)
	}
	var ids []string
	for _, v := range all.Volumes {
		if dead(v.Labels[labelOwner]) {
			ids = append(ids, v.Name)
		}
	}
	return each(ctx, ids, func(ctx context.Context, id string) error { return s.api.VolumeRemove(ctx, id, false) })
}

func (s *Sandbox) removeNetworks(ctx context.Context) error {
	all, err := s.api.NetworkList(ctx, network.ListOptions{Filters: ours(LabelOurs + "=1")})
	if err != nil {
		return engineError("listing networks", err)
	}
	var ids []string
	for _, n := range all {
		if dead(n.Labels[labelOwner]) {
			ids = append(ids, n.ID)
		}
	}
	return each(ctx, ids, s.api.NetworkRemove)
}
