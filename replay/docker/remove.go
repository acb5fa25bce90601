package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// removals are the containers that are on their way out. Removing one takes an engine longer than most of what a job needs it for, so
// that nobody waits for it; what is not removed in the end is Close's to find by its label, and to report.
type removals struct {
	slots chan struct{}
	wg    sync.WaitGroup
}

func newRemovals() *removals { return &removals{slots: make(chan struct{}, parallelRemovals)} }

// add removes a container in the background. It waits only when many others are still being removed: disks must not fill with them.
func (r *removals) add(ctx context.Context, remove func(context.Context)) {
	r.slots <- struct{}{}
	r.wg.Go(func() {
		defer func() { <-r.slots }()
		remove(context.WithoutCancel(ctx))
	})
}

// wait returns when all are done, or when ctx ends.
func (r *removals) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { r.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the removal of containers: %w", ctx.Err())
	}
}

// discard removes the container in the background, whatever has become of the context.
func (b *box) discard(ctx context.Context) {
	b.s.gone.add(ctx, func(ctx context.Context) { _ = b.remove(ctx) }) // Close accounts for what is left
}

// remove removes the container now.
func (b *box) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.s.o.Timeouts.Cleanup)
	defer cancel()
	err := b.s.removeContainer(ctx, b.id)
	if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
		return engineError("removing a container", err)
	}
	return nil
}

// Close removes the containers and the kept states that this Sandbox still has; environments stay for later runs. It returns within the deadline of clean-up,
// and an error says what is left: the next Sandbox on this machine removes that when this process is gone.
func (s *Sandbox) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Timeouts.Cleanup)
	defer cancel()
	s.layers.Empty()
	err := s.gone.wait(ctx)
	if err == nil {
		err = s.removeContainers(ctx, LabelRun+"="+s.run, func(container.Summary) bool { return true })
	}
	if err == nil {
		err = s.removeImages(ctx, func(labels map[string]string) bool { return labels[LabelState] != "" && labels[LabelRun] == s.run })
	}
	s.cleanUp(ctx) // what an engine still made for a process that was dead already when this one began
	return errors.Join(err, s.api.Close())
}
