//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"sluice/replay"
	"sluice/replay/layers"
)

// snapshot is a state whose leading steps have run. It is a state's folder that no job has, so that Close removes it, and when this
// process dies the next start. What the steps changed in the environment (upper) is a lower layer of repeats; the rest is copied.
type snapshot struct {
	st   state
	done []replay.StepResult
}

// parts of a state that repeats begin with, beside upper.
func (st state) parts() []string { return []string{"tree", st.outName, "tmp", "vartmp", "home"} }

// warmTime is what warming may take, beside the job's own time.
const warmTime = 5 * time.Minute

// maxKept bounds the files of a state: copying many takes longer than building them.
const maxKept = 200_000

// canShare says that states look the same to their steps, wherever they lie.
func (s *Sandbox) canShare() bool { return s.caps.Namespaces && s.caps.Overlay }

// begin fills the state of a job: from a layer, or from its tree. It returns the results of what has run.
func (se *session) begin(ctx context.Context, j replay.Job, use *layers.Use[snapshot]) ([]replay.StepResult, error) {
	if use != nil {
		if l, ok := use.Layer(); ok {
			return slices.Clone(l.done), se.startAt(ctx, l)
		}
	}
	all := func(string) bool { return true }
	if err := writeTree(ctx, se.view.state.path("tree"), j.Tree, all, j.Overlays); err != nil {
		return nil, err
	}
	if use == nil || !use.Maker() {
		return nil, nil
	}
	done, err := se.steps(ctx, j.Steps[:j.Share.Steps], nil)
	if err == nil {
		err = se.keep(ctx, j, use, done)
	}
	return done, err
}

// startAt makes the state a copy of a layer.
func (se *session) startAt(ctx context.Context, l snapshot) error {
	st := &se.view.state
	if err := os.Remove(st.path(st.outName)); err != nil {
		return fmt.Errorf("starting from a kept state: %w", err)
	}
	st.outName = l.st.outName // what is in the tree may hold its path
	se.view.below = l.st.path("upper")
	se.places = se.view.places()
	return copyState(ctx, l.st, *st)
}

// copyState copies the parts of a state by a program: it keeps modes, times and links, and shares the blocks where the file system can.
func copyState(ctx context.Context, from, to state) error {
	args := []string{"-a", "--reflink=auto", "--"}
	for _, p := range from.parts() {
		args = append(args, from.path(p))
	}
	if out, err := exec.CommandContext(ctx, "cp", append(args, to.dir)...).CombinedOutput(); err != nil {
		return fmt.Errorf("copying a kept state: %w: %.2000s", err, out)
	}
	return nil
}

// keep warms the state and makes it a layer, unless one of its leading steps did not pass: a build that fails is tried anew by each
// repeat. Only what later steps could notice is an error.
func (se *session) keep(ctx context.Context, j replay.Job, use *layers.Use[snapshot], done []replay.StepResult) error {
	for _, r := range done {
		if r.Stop != replay.Skipped && !r.Passed() || r.Lingering {
			use.None()
			return nil
		}
	}
	for _, step := range j.Share.Warm {
		if step.Timeout <= 0 || step.Timeout > warmTime {
			step.Timeout = warmTime
		}
		r, err := se.step(ctx, step)
		if err != nil {
			return err
		}
		if r.Stop != replay.Exited {
			use.None()
			return nil
		}
	}
	if bytes, inodes := usage(ctx, []string{se.view.state.dir}); bytes > se.s.opts.States/2 || inodes > maxKept {
		use.None()
		return nil
	}
	st, err := se.s.newState()
	if err != nil {
		return err
	}
	if err := se.copyOut(ctx, &st); err != nil { // a folder that its maker closed, perhaps
		use.None()
		return se.s.drop(st)
	}
	if err := se.moveUpper(st); err != nil {
		return errors.Join(fmt.Errorf("keeping a state: %w", err), se.s.drop(st))
	}
	bytes, _ := usage(ctx, []string{st.dir})
	use.Made(snapshot{st, slices.Clone(done)}, bytes)
	return nil
}

// copyOut copies the state to another one.
func (se *session) copyOut(ctx context.Context, to *state) error {
	if err := os.Remove(to.path(to.outName)); err != nil {
		return err
	}
	to.outName = se.view.state.outName
	return copyState(ctx, se.view.state, *to)
}

// moveUpper moves the state's changes of the environment to another one, and so below its own new ones.
func (se *session) moveUpper(to state) error {
	upper := se.view.state.path("upper")
	if err := os.Remove(to.path("upper")); err != nil {
		return err
	}
	if err := os.Rename(upper, to.path("upper")); err != nil {
		return err
	}
	se.view.below = to.path("upper")
	return os.Mkdir(upper, 0o755)
}

// dropLayer removes a layer that no job uses; if that fails, Close tries again.
func (s *Sandbox) dropLayer(l snapshot) { _ = s.drop(l.st) }

// lower are the folders below a job's own changes of the environment.
func (v view) lower() string {
	if v.below == "" {
		return v.env
	}
	return v.below + string(filepath.ListSeparator) + v.env
}
