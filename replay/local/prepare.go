//go:build linux

package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice/replay"
)

// envFolder is one environment on disk:
//
//	<id>.lock     held while it is built
//	<id>/content  what Install made
//	<id>/list     a digest of its names, sizes and times
//	<id>/log      what Install printed; it is renamed into place last, so a folder with a log is complete
//
// The folder has its final name while it is built, since what Install makes may hold its own path.
type envFolder struct {
	id, dir string
}

func (s *Sandbox) envFolder(id string) envFolder {
	return envFolder{id: id, dir: filepath.Join(s.opts.Root, "envs", id)}
}

func (e envFolder) content() string { return filepath.Join(e.dir, "content") }

func (e envFolder) log() string { return filepath.Join(e.dir, "log") }

func (e envFolder) complete() bool {
	info, err := os.Lstat(e.log())
	return err == nil && info.Mode().IsRegular()
}

// envID names the environment: besides the recipe, the host's tools and how we run them decide what Install makes.
func (s *Sandbox) envID(r replay.Recipe) string {
	const layout = "1"
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%q\n%s\n%v", layout, r.Fingerprint, s.host.versions, s.caps.Namespaces))
	return hex.EncodeToString(sum[:16])
}

// isEnvID reports whether a name is one that envID gives: what has another one in the folder of environments is not ours.
func isEnvID(name string) bool {
	id, err := hex.DecodeString(name)
	return err == nil && len(id) == 16 && hex.EncodeToString(id) == name
}

// Prepare implements replay.Sandbox. Calls for one fingerprint wait for each other, in all processes that share the root.
func (s *Sandbox) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	e := s.envFolder(s.envID(r))
	if !e.complete() || !s.whole(e) { // one that is complete stays so: who only uses it waits for nobody
		if err := s.complete(ctx, e, r, t); err != nil {
			return replay.Env{}, err
		}
	}
	log, err := os.ReadFile(e.log())
	if err != nil {
		return replay.Env{}, fmt.Errorf("reading an environment: %w", err)
	}
	walls := s.Walls()
	return replay.Env{Recipe: r, Sandbox: Name, ID: e.id, Walls: &walls, Log: string(log)}, nil
}

// complete builds an environment under its lock, unless somebody else did while this one waited.
func (s *Sandbox) complete(ctx context.Context, e envFolder, r replay.Recipe, t replay.Tree) error {
	unlock, err := e.lock(ctx)
	if err != nil {
		return fmt.Errorf("locking an environment: %w", err)
	}
	defer unlock()
	if e.complete() && s.whole(e) {
		return nil
	}
	if err := s.build(ctx, e, r, t); err != nil {
		return errors.Join(err, removeAll(e.dir))
	}
	return nil
}

func (s *Sandbox) build(ctx context.Context, e envFolder, r replay.Recipe, t replay.Tree) (err error) {
	if err := removeAll(e.dir); err != nil {
		return fmt.Errorf("building an environment: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(e.content(), "home"), 0o755); err != nil {
		return fmt.Errorf("building an environment: %w", err)
	}
	network := s.opts.Network.vars()
	if r.Base != nil {
		if err := s.start(ctx, e.content(), *r.Base, t); err != nil {
			return err
		}
	}
	se, err := s.open(view{env: e.content(), build: true, visible: files(network)}, s.opts.Install)
	if err != nil {
		return fmt.Errorf("building an environment: %w", err)
	}
	defer func() { err = errors.Join(err, se.close()) }()
	se.vars, se.secrets = []map[string]string{network, r.Env}, replay.SecretsOf(network)
	if err := writeTree(ctx, se.view.state.path("tree"), t, inputs(r.Inputs), nil); err != nil {
		return fmt.Errorf("building an environment: %w", err)
	}
	log, err := se.install(ctx, r.Install)
	if err != nil {
		return err
	}
	return e.finish(log)
}

// start fills an environment's folder with a copy of its base's.
func (s *Sandbox) start(ctx context.Context, dir string, base replay.Recipe, t replay.Tree) error {
	shared, err := s.Prepare(ctx, base, t)
	if err != nil {
		return err
	}
	// Copied by a program: it keeps modes, times and links, and shares the blocks where the file system can.
	cp := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", s.envFolder(shared.ID).content()+"/.", dir)
	if out, err := cp.CombinedOutput(); err != nil {
		return fmt.Errorf("copying the base of an environment: %w: %s", err, out)
	}
	return nil
}

// inputs says which files Install sees.
func inputs(names []string) func(string) bool {
	whole := slices.Contains(names, "*")
	return func(path string) bool { return whole || slices.Contains(names, path) }
}

// install runs the steps until one fails for good: a step that a later one names in IfFailed has a second chance.
func (se *session) install(ctx context.Context, steps []replay.Step) (string, error) {
	limited, cancel := context.WithTimeoutCause(ctx, se.limits.Wall, errTime)
	defer cancel()
	var log strings.Builder
	var done []replay.StepResult
	for i, step := range steps {
		if !step.Due(done) {
			continue
		}
		r, err := se.step(limited, step)
		if err != nil {
			return "", fmt.Errorf("building an environment: %w", err)
		}
		done = append(done, r)
		fmt.Fprintf(&log, "$ %s\n%s%s", strings.Join(step.Args, " "), r.Stdout, r.Stderr)
		if !r.Passed() && !step.Warm && (step.MustPass || !hasSecondChance(step, steps[i+1:])) {
			if fault := replay.InstallFault(r); fault != nil {
				return "", se.s.full(fault)
			}
			return "", &replay.InstallError{Step: r, Log: log.String(), Memory: se.limits.Memory}
		}
	}
	return log.String(), nil
}

func hasSecondChance(step replay.Step, later []replay.Step) bool {
	return slices.ContainsFunc(later, func(l replay.Step) bool { return l.IfFailed == step.Name })
}

// finish makes the environment complete, also for a reader after a power cut.
func (e envFolder) finish(log string) error {
	sum, err := e.digest()
	if err == nil {
		err = os.WriteFile(e.list(), []byte(sum), 0o644)
	}
	if err != nil {
		return fmt.Errorf("finishing an environment: %w", err)
	}
	temp := e.log() + ".tmp"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(log)
	if err == nil {
		err = unix.Syncfs(int(f.Fd())) // the environment may be thousands of files
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("finishing an environment: %w", err)
	}
	return os.Rename(temp, e.log())
}

// lock waits for the environment's lock, which the kernel frees when its holder dies.
func (e envFolder) lock(ctx context.Context) (unlock func(), err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		unlock, ok, err := e.tryLock()
		if ok || err != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

func (e envFolder) tryLock() (unlock func(), ok bool, err error) {
	f, err := os.OpenFile(e.dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return func() { f.Close() }, true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return nil, false, f.Close()
	default:
		return nil, false, errors.Join(err, f.Close())
	}
}
