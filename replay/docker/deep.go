package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"
)

// removeContainer removes a container with its files. An engine holds an open file for each level of folders while it does that. What hostile
// code nested deeper than the engine may open files, it can neither remove nor start again: then flatten empties the container first.
func (s *Sandbox) removeContainer(ctx context.Context, id string) error {
	o := container.RemoveOptions{Force: true, RemoveVolumes: true}
	err := s.api.ContainerRemove(ctx, id, o)
	if err == nil || !strings.Contains(err.Error(), "too many open files") {
		return err
	}
	if err := s.flatten(ctx, id); err != nil {
		return fmt.Errorf("removing folders that are too deep for the engine: %w", err)
	}
	return s.api.ContainerRemove(ctx, id, o)
}

// flatten removes what a dead container wrote, with a container of ours that sees nothing else of the host: rm needs no more open files for
// deep folders than for others. This is the one mount of the host's that the package ever makes, and no code of a repository runs beside it.
func (s *Sandbox) flatten(ctx context.Context, id string) (err error) {
	in, err := s.api.ContainerInspect(ctx, id)
	if err != nil {
		return err
	}
	upper := in.GraphDriver.Data["UpperDir"]
	if upper == "" {
		return fmt.Errorf("the engine's storage driver %s does not say where a container's files are", in.GraphDriver.Name)
	}
	image := in.Image
	if in.Config != nil && in.Config.Labels[LabelBase] != "" {
		image = in.Config.Labels[LabelBase] // a repository's code may have written to an environment, and not to what it was built from
	}
	cfg := &container.Config{
		Image: image, User: rootUser, Entrypoint: strslice.StrSlice{""},
		Cmd:    strslice.StrSlice{"find", "/deep", "-mindepth", "1", "-maxdepth", "1", "-exec", "rm", "-rf", "{}", "+"},
		Labels: map[string]string{LabelOurs: "1", labelOwner: s.owner, LabelRun: s.run},
	}
	host := &container.HostConfig{
		NetworkMode: "none", CapDrop: strslice.StrSlice{"ALL"}, CapAdd: strslice.StrSlice{"DAC_OVERRIDE", "FOWNER"},
		SecurityOpt: []string{noNewPrivileges}, LogConfig: container.LogConfig{Type: "none"}, Binds: []string{upper + ":/deep"},
	}
	made, err := s.api.ContainerCreate(ctx, cfg, host, nil, nil, namePrefix+randomName())
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.api.ContainerRemove(context.WithoutCancel(ctx), made.ID, container.RemoveOptions{Force: true}))
	}()
	if err := s.api.ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
		return err
	}
	ended, failed := s.api.ContainerWait(ctx, made.ID, container.WaitConditionNotRunning)
	select {
	case <-ended:
		return nil // whether it did its work, the engine's next try tells
	case err := <-failed:
		return err
	}
}
