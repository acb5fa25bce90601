package build

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/docker"
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
		s, err := docker.New(ctx, docker.Options{Host: c.Host, Network: docker.NetworkOptions{CAFile: c.CABundle}, Limits: c.Limits})
		if err != nil {
			return nil, err
		}
		return s, nil
	case "local":
		s, err := local.New(local.Options{Root: filepath.Join(dir, "local"), Network: local.Network{CABundle: c.CABundle}, Limits: c.Limits})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, c.Check()
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
func (l *lazy) Name() string { return l.config.Kind }

// Prepare implements replay.Sandbox.
func (l *lazy) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	s, err := l.open(ctx)
	if err != nil {
		return replay.Env{}, err
	}
	env, err := s.Prepare(ctx, r, t)
	return env, everyones(err)
}

// everyones marks the errors of an engine that every candidate would meet.
func everyones(err error) error {
	for _, e := range []error{docker.ErrNoEngine, docker.ErrNoImage, docker.ErrPlatform, docker.ErrNoSpace} {
		if errors.Is(err, e) {
			return pipeline.Abort(err)
		}
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
	return res, everyones(err)
}

// Open implements replay.Opener.
func (l *lazy) Open(ctx context.Context, spec replay.SessionSpec) (replay.Session, error) {
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	session, err := s.Open(ctx, spec)
	return session, everyones(err)
}

// Close implements replay.Sandbox.
func (l *lazy) Close() error {
	if l.inner == nil {
		return nil
	}
	return l.inner.Close()
}
