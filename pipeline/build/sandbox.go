package build

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/docker/images"
	"sluice/replay/local"
)

// ErrUnknownSandbox says that --sandbox names none.
var ErrUnknownSandbox = errors.New("unknown sandbox")

// SandboxConfig chooses and sets up a sandbox.
type SandboxConfig struct {
	Kind     string // docker or local
	Image    string // base image of environments
	Host     string // address of the docker engine
	CABundle string // trusted while environments are built
	Limits   replay.Limits
	Install  time.Duration      // time limit of building an environment; 0 = the sandbox's default
	Walls    docker.WallOptions // docker
	Timeouts docker.Timeouts    // docker
	Disk     DiskMarks
	// Log is told what happens beside the work, Opened all settings of the sandbox once it is open; nil: nobody is.
	Log    func(string)
	Opened func(settings any)
	// Clock says how long ago an environment was used; nil: none is removed while a run goes on.
	Clock func() time.Time
}

// Check reports a kind that there is not.
func (c SandboxConfig) Check() error {
	if c.Kind != "docker" && c.Kind != "local" {
		return fmt.Errorf("%w %q: this version knows docker and local", ErrUnknownSandbox, c.Kind)
	}
	return nil
}

// Open opens the sandbox; dir is the store's folder.
func (c SandboxConfig) Open(ctx context.Context, dir string) (replay.Opener, error) {
	switch c.Kind {
	case "docker":
		s, err := docker.New(ctx, c.docker())
		if err != nil {
			return nil, err
		}
		c.opened(s.Settings())
		return s, nil
	case "local":
		s, err := local.New(local.Options{Root: filepath.Join(dir, "local"), Network: local.Network{CABundle: c.CABundle}, Limits: c.Limits, Install: replay.Limits{Wall: c.Install}})
		if err != nil {
			return nil, err
		}
		c.opened(s.Settings())
		return s, nil
	}
	return nil, c.Check()
}

func (c SandboxConfig) docker() docker.Options {
	o := docker.Options{
		Host: c.Host, Network: docker.NetworkOptions{CAFile: c.CABundle}, Limits: c.Limits, Install: replay.Limits{Wall: c.Install},
		Walls: c.Walls, Timeouts: c.Timeouts, Disk: docker.DiskOptions{Least: c.Disk.Free}, Warn: c.Log,
	}
	if c.Clock != nil {
		e := &evictor{
			open:  func(ctx context.Context) (*images.Engine, error) { return images.Open(ctx, c.Host) },
			marks: c.Disk, clock: c.Clock, log: c.Log,
		}
		if e.log == nil {
			e.log = func(string) {}
		}
		o.Disk.Evict = e.evict
	}
	return o
}

func (c SandboxConfig) opened(settings any) {
	if c.Opened != nil {
		c.Opened(settings)
	}
}

// name is the sandbox's in the keys of stored runs: what ran between other walls is no result between these.
func (c SandboxConfig) name() string {
	words := slices.Concat([]string{c.Kind}, strings.Fields(c.Walls.Runtime), slices.Sorted(slices.Values(c.Walls.Security)))
	return strings.Join(words, " ")
}

// walls are the configured ones for records; nil are the engine's own.
func (c SandboxConfig) walls() any {
	if c.Walls.Runtime == "" && len(c.Walls.Security) == 0 {
		return nil
	}
	return c.Walls
}

// Init must be the first call of main: the local sandbox starts this program again as the first process of a job.
func Init() { local.Init() }

// lazy opens its sandbox when the first job needs it: a build with nothing new starts none.
type lazy struct {
	config SandboxConfig
	dir    string
	once   sync.Once
	inner  replay.Opener
	err    error
}

// Lazy returns the sandbox as one that opens itself when it is first needed. Its errors that everything would meet end a run.
func (c SandboxConfig) Lazy(dir string) replay.Opener { return c.lazy(dir) }

func (c SandboxConfig) lazy(dir string) *lazy { return &lazy{config: c, dir: dir} }

func (l *lazy) open(ctx context.Context) (replay.Opener, error) {
	l.once.Do(func() { l.inner, l.err = l.config.Open(context.WithoutCancel(ctx), l.dir) })
	if l.err != nil {
		return nil, pipeline.Abort(fmt.Errorf("opening the %s sandbox: %w", l.config.Kind, l.err))
	}
	return l.inner, nil
}

// Name implements replay.Sandbox.
func (l *lazy) Name() string { return l.config.name() }

// Prepare implements replay.Sandbox.
func (l *lazy) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	s, err := l.open(ctx)
	if err != nil {
		return replay.Env{}, err
	}
	env, err := s.Prepare(ctx, r, t)
	return env, l.config.everyones(err)
}

// everyones marks the errors of an engine that every candidate would meet. A base image that is missing, or for another platform, is one
// only if all candidates have it: else it is that of one language, others go on, and those that need it say what makes it.
func (c SandboxConfig) everyones(err error) error {
	for _, e := range []error{docker.ErrNoEngine, docker.ErrNoRuntime, docker.ErrNoSpace} {
		if errors.Is(err, e) {
			return pipeline.Abort(err)
		}
	}
	if errors.Is(err, docker.ErrNoEnv) {
		return err // removed to make room: the next try makes it anew
	}
	if errors.Is(err, docker.ErrNoImage) || errors.Is(err, docker.ErrPlatform) {
		if c.Image != "" {
			return pipeline.Abort(err)
		}
		return pipeline.Permanent(err)
	}
	return err
}

// Run implements replay.Sandbox.
func (l *lazy) Run(ctx context.Context, j replay.Job) (replay.Result, error) {
	s, err := l.open(ctx)
	if err != nil {
		return replay.Result{}, err
	}
	res, err := s.Run(ctx, j)
	return res, l.config.everyones(err)
}

// Open implements replay.Opener.
func (l *lazy) Open(ctx context.Context, spec replay.SessionSpec) (replay.Session, error) {
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	session, err := s.Open(ctx, spec)
	return session, l.config.everyones(err)
}

// Close implements replay.Sandbox.
func (l *lazy) Close() error {
	if l.inner == nil {
		return nil
	}
	return l.inner.Close()
}
