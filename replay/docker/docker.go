// Package docker is the sandbox that runs a mined repository's code in containers of a Docker engine.
//
// An environment is an image: Prepare runs a recipe's install steps once, with the network, in a container of the
// recipe's base image, and commits it. A job is one throw-away container of that image with no network, no
// capabilities, no new privileges, no mount of the host, and limits on memory, processes, CPU, file sizes and time.
//
// How a job runs. The container's first process only waits: the engine's init and a sleep that ends by itself soon
// after the job's wall limit, so that a container whose owner was killed does not run for ever. Each step is an exec of
// its own, started detached, with its output redirected to files, and watched by polling. We chose this over one job
// script as the main process, and over reading an attached exec, for three reasons. The engine itself knows the exit
// code, so no code in the container can forge it or kill a supervisor of ours. Nobody waits for a pipe that a background
// child keeps open. And killing is one primitive that nothing in the container can escape: stopping it, which ends its
// process namespace, forks and all; it can be started again over the same files for the steps that remain. The engine's
// calls for a job of one step add up to about 0.4 s on two idle cores, most of it the container's start.
//
// Steps run as an unprivileged user without a name in most images (id 10001): with no capabilities root would nearly
// do, but root still owns the image's files and the engine's exec helper, tests of permissions fail as root, and a step
// of another user cannot kill the container's first process or replace the folder that its reports go to.
//
// The package never gives a verdict on the code it runs, never gives a running test the network, and touches no
// container, image, volume or network that does not carry its own labels.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"sluice/internal/process"
	"sluice/replay"
	"sluice/replay/layers"
)

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Wait returns after d, or the context's error when that ends first.
	Wait(ctx context.Context, d time.Duration) error
}

// Options configure a Sandbox. The zero value is usable.
type Options struct {
	Host    string // address of the engine; "" = DOCKER_HOST and its companions, else the engine's default socket
	Network NetworkOptions
	// Limits are the defaults of jobs. What is zero here too: 30 minutes, 4 GiB, 2048
	// processes, replay.DefaultCPUs, 16 MiB of output, files of 1 GiB.
	Limits replay.Limits
	// Install are the limits of building environments; what is zero is that of Limits, but for the CPUs: all of the engine's.
	Install replay.Limits
	// Total bounds the bytes that all files of one job may have together; 0 = 10 GiB. It is watched, not reserved: a
	// job can exceed it for about two seconds, and ends as replay.DiskFull.
	Total int64
	// States bounds the bytes of states that are kept for repeats of jobs (see replay.Share), besides those in use; 0 = 4 GiB.
	States int64
	// User is the uid:gid of steps; "" = 10001:10001. "0:0" is for images that only work as root, at the price of the
	// protections that the package comment names.
	User     string
	Walls    WallOptions
	Timeouts Timeouts
	Disk     DiskOptions
	Pull     PullOptions
	// Warn is told in a line what dead processes left and the engine does not remove; nil: nobody is. No work stops for it.
	Warn  func(string)
	Clock Clock // nil = the machine's
}

// Sandbox runs jobs in containers. It is safe for concurrent use.
type Sandbox struct {
	api    *client.Client
	o      Options
	limits replay.Limits
	info   system.Info
	owner  string // this process, in the label of everything made here
	run    string // this Sandbox, likewise

	security      []string // the engine's options
	securityNames []string // for records

	free func() (bytes uint64, known bool) // of the engine's disk

	pulls  chan struct{} // a token while something is pulled
	pulled time.Time     // when the last pull began; of the token's holder

	gone   *removals
	layers *layers.Cache[snapshot]

	mu       sync.Mutex
	building map[string]chan struct{} // by fingerprint: a token held while its image is built
}

var _ replay.Sandbox = (*Sandbox)(nil)

// Errors that callers tell apart. All are infrastructure errors.
var (
	// ErrNoEngine says that no Docker engine answers.
	ErrNoEngine = errors.New("no docker engine answers")
	// ErrNoImage says that an image is neither present nor known to its registry: trying again does not help.
	ErrNoImage = errors.New("no such image")
	// ErrNoEnv says that the image of an environment is gone: prepare it again.
	ErrNoEnv = errors.New("the environment's image is gone")
	// ErrPlatform says that an image is for another architecture than the engine's.
	ErrPlatform = errors.New("the image is for another platform than the engine's")
	// ErrNoSpace says that the engine's disk is full.
	ErrNoSpace = replay.ErrNoSpace
	// ErrNetwork says that the network failed, or a registry refused for now: trying again later may help.
	ErrNetwork = replay.ErrNetwork
)

// New connects to the engine and removes what dead processes of this host left there. It returns ErrNoEngine when none
// answers.
func New(ctx context.Context, o Options) (*Sandbox, error) {
	api, info, err := connect(ctx, o.Host, o.Timeouts.withDefaults().Ping)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, api, info, o)
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return s, nil
}

// Connect returns a client of the engine at an address, "" for the environment's, and what the engine says of itself.
// It returns ErrNoEngine when none answers.
func Connect(ctx context.Context, host string) (*client.Client, system.Info, error) {
	return connect(ctx, host, Timeouts{}.withDefaults().Ping)
}

func connect(ctx context.Context, host string, ping time.Duration) (*client.Client, system.Info, error) {
	opts := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if host != "" {
		opts = append(opts, client.WithHost(host))
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, system.Info{}, fmt.Errorf("%w at the address that is configured: %w", ErrNoEngine, err)
	}
	ask, cancel := context.WithTimeout(ctx, ping)
	defer cancel()
	info, err := api.Info(ask)
	if err != nil {
		err = fmt.Errorf("%w at %s: %w", ErrNoEngine, api.DaemonHost(), err)
		return nil, info, errors.Join(err, api.Close())
	}
	return api, info, nil
}

func open(ctx context.Context, api *client.Client, info system.Info, o Options) (*Sandbox, error) {
	if o.Clock == nil {
		o.Clock = machineClock{}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.User == "" {
		o.User = defaultUser
	}
	o.Timeouts, o.Disk, o.Pull = o.Timeouts.withDefaults(), o.Disk.withDefaults(), o.Pull.withDefaults()
	if o.Total == 0 {
		o.Total = defaultTotal
	}
	o.States = cmp.Or(o.States, defaultStates)
	self, err := process.Self()
	if err != nil {
		return nil, fmt.Errorf("opening the docker sandbox: %w", err)
	}
	o.Install.CPUs = cmp.Or(o.Install.CPUs, float64(max(info.NCPU, 1)))
	security, names, err := o.Walls.pin(info)
	if err != nil {
		return nil, err
	}
	if err := fits(api, info, o.Disk.Least); err != nil {
		return nil, err
	}
	s := &Sandbox{
		api: api, o: o, info: info, owner: self.String(), run: randomName(),
		limits:   o.Limits.Or(defaultLimits()),
		free:     func() (uint64, bool) { return DiskFree(api, info) },
		gone:     newRemovals(),
		security: security, securityNames: names, pulls: make(chan struct{}, 1),
		building: map[string]chan struct{}{},
	}
	s.layers = layers.New(o.States, s.drop)
	if s.cleanUp(ctx); ctx.Err() != nil {
		return nil, fmt.Errorf("removing leftovers: %w", ctx.Err())
	}
	return s, nil
}

// Name returns "docker".
func (s *Sandbox) Name() string { return "docker" }

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
