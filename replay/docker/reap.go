package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"golang.org/x/sync/errgroup"
)

// parallelRemovals bounds clean-up: engines get slow, but not slower than one by one.
const parallelRemovals = 8

// processOwner names this process so that another one can tell whether it still lives: "pid:start:host".
func processOwner() string {
	return fmt.Sprintf("%d:%s:%s", os.Getpid(), startTime(os.Getpid()), hostName())
}

// hostName includes the boot where the kernel tells it: process ids begin anew with each.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return name
	}
	return name + "/" + strings.TrimSpace(string(boot))
}

// startTime returns when a process began, in the kernel's ticks, or "" where that cannot be known.
func startTime(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	return parseStart(string(b))
}

// parseStart reads field 22 of /proc/<pid>/stat. The second field, the command, may hold anything, also brackets.
func parseStart(stat string) string {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

// dead reports whether an owner is a process of this host that is gone. Those of other hosts cannot be judged.
func dead(owner string) bool {
	pid, start, host, ok := splitOwner(owner)
	if !ok || host != hostName() {
		return false
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	now := startTime(pid)
	return start != "" && now != "" && now != start
}

// earlierBoot reports whether an owner ran on a host of this one's name before it was started the last time. Two
// machines may share a name and an engine, so it does not condemn a container that is still running.
func earlierBoot(owner string) bool {
	_, _, host, ok := splitOwner(owner)
	name, boot, known := strings.Cut(hostName(), "/")
	theirs, theirBoot, _ := strings.Cut(host, "/")
	return ok && known && name == theirs && theirBoot != "" && boot != theirBoot
}

func splitOwner(owner string) (pid int, start, host string, ok bool) {
	first, rest, ok1 := strings.Cut(owner, ":")
	start, host, ok2 := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(first)
	return pid, start, host, ok1 && ok2 && err == nil && pid > 0
}

func deadContainer(c container.Summary) bool {
	owner := c.Labels[labelOwner]
	return dead(owner) || c.State != container.StateRunning && earlierBoot(owner)
}

// reap removes what dead processes of this host left: containers, unnamed images, volumes and networks with our labels.
func (s *Sandbox) reap(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	return errors.Join(
		s.removeContainers(ctx, labelOurs+"=1", deadContainer),
		s.removeImages(ctx),
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
		if c.Labels[labelOurs] == "1" && kind(c) {
			ids = append(ids, c.ID)
		}
	}
	return each(ctx, ids, func(ctx context.Context, id string) error {
		return s.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	})
}

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

// removeImages removes images that lost their name or never got one; an image that a container uses stays.
func (s *Sandbox) removeImages(ctx context.Context) error {
	f := ours(labelOurs + "=1")
	f.Add("dangling", "true")
	all, err := s.api.ImageList(ctx, image.ListOptions{Filters: f})
	if err != nil {
		return engineError("listing images", err)
	}
	var ids []string
	for _, i := range all {
		if dead(i.Labels[labelOwner]) {
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
	all, err := s.api.VolumeList(ctx, volume.ListOptions{Filters: ours(labelOurs + "=1")})
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
	all, err := s.api.NetworkList(ctx, network.ListOptions{Filters: ours(labelOurs + "=1")})
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
