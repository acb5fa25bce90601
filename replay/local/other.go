//go:build !linux

package local

import (
	"context"
	"errors"
	"time"

	"sluice/replay"
)

// Name is the name of this sandbox.
const Name = "local"

// Options are those of Linux.
type Options struct {
	Root            string
	Network         Network
	Limits, Install replay.Limits
	MaxDisk, States int64
	Tools           []string
	NoNamespaces    bool
	Clock           func() time.Time
}

// Network is that of Linux.
type Network struct {
	Vars     map[string]string
	CABundle string
}

// ErrEnvironment is never returned here.
var ErrEnvironment = errors.New("the environment is not prepared")

// Capabilities are empty here.
type Capabilities struct {
	Namespaces, Overlay bool
	Memory, Pids, CPU   string
	Missing             []string
}

var errSystem = errors.New("the local sandbox needs Linux; use the docker sandbox")

// Sandbox cannot be opened here.
type Sandbox struct{}

// Init does nothing here.
func Init() {}

// New fails: this system has no walls to offer.
func New(Options) (*Sandbox, error) { return nil, errSystem }

// Name implements replay.Sandbox.
func (*Sandbox) Name() string { return Name }

// Capabilities returns nothing.
func (*Sandbox) Capabilities() Capabilities { return Capabilities{} }

// Walls are none.
func (*Sandbox) Walls() replay.Walls { return replay.Walls{Sandbox: Name} }

// Settings returns what Walls does.
func (s *Sandbox) Settings() replay.Walls { return s.Walls() }

// Prepare implements replay.Sandbox.
func (*Sandbox) Prepare(context.Context, replay.Recipe, replay.Tree) (replay.Env, error) {
	return replay.Env{}, errSystem
}

// Run implements replay.Sandbox.
func (*Sandbox) Run(context.Context, replay.Job) (replay.Result, error) {
	return replay.Result{}, errSystem
}

// Open implements replay.Opener.
func (*Sandbox) Open(context.Context, replay.SessionSpec) (replay.Session, error) {
	return nil, errSystem
}

// Close implements replay.Sandbox.
func (*Sandbox) Close() error { return nil }
