package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"sluice/pipeline/build"
	"sluice/replay"
	"sluice/replay/docker"
)

// sandboxFlags are shared by the commands that run tests.
type sandboxFlags struct {
	kind, image, host, ca string
	timeout               time.Duration
	memory                string
	pids                  int64
	cpus                  float64
	walls                 docker.WallOptions
	install               time.Duration
	timeouts              docker.Timeouts
	high, low, free       string
}

// reportBytes is how much of a step's output is kept: the report of a suite with very many tests is its output.
const reportBytes = 256 << 20

func (o *sandboxFlags) addFlags(f flagSet) {
	f.StringVar(&o.kind, "sandbox", "docker", "where tests run: docker, or local (runs the repository's code on this machine)")
	f.StringVar(&o.image, "image", "", "base image of environments (docker; default: the one of the test tool's language, see sluice images)")
	f.StringVar(&o.host, "docker-host", "", "address of the Docker engine (default: the environment's)")
	f.StringVar(&o.walls.Runtime, "docker-runtime", "", "what runs containers, by the engine's name for it, such as runsc (default: the engine's)")
	f.StringSliceVar(&o.walls.Security, "docker-security", nil, "further security options of containers: seccomp=FILE, apparmor=PROFILE, label=…")
	f.StringVar(&o.ca, "ca-bundle", "", "certificates to trust while building environments (default: this machine's)")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute, "time limit of one run of a state")
	f.DurationVar(&o.install, "install-timeout", 30*time.Minute, "time limit of building an environment")
	f.DurationVar(&o.timeouts.Engine, "engine-timeout", 5*time.Minute, "what the Docker engine may take beyond that to make and read a container")
	f.DurationVar(&o.timeouts.Pull, "pull-timeout", 30*time.Minute, "time limit of one try to pull an image")
	f.DurationVar(&o.timeouts.Cleanup, "cleanup-timeout", time.Minute, "time limit of removing what a run made in the Docker engine")
	f.StringVar(&o.memory, "memory", "4GB", "memory limit of one run")
	f.Int64Var(&o.pids, "pids", 2048, "limit of processes of one run")
	f.Float64Var(&o.cpus, "cpus", 0, "cores for one run: what tests see too (default: 1, on any machine)")
	f.StringVar(&o.high, "env-high", "40GB", "remove the environments used longest ago once all take more than this; 0: only when the disk gets full")
	f.StringVar(&o.low, "env-low", "", "… until they take no more than this (default: three quarters of --env-high)")
	f.StringVar(&o.free, "env-free", "1GB", "begin nothing while the sandbox's disk has less than this free: remove environments, wait, and go on")
}

// flagSet is what addFlags needs of pflag.
type flagSet interface {
	StringVar(p *string, name, value, usage string)
	StringSliceVar(p *[]string, name string, value []string, usage string)
	DurationVar(p *time.Duration, name string, value time.Duration, usage string)
	Int64Var(p *int64, name string, value int64, usage string)
	Float64Var(p *float64, name string, value float64, usage string)
}

// maxCPUs is more than tests use. Tools are told the number and start as many threads: with a million their memory is gone, and each
// state looks as if its tests took too much.
const maxCPUs = 1024

func (o sandboxFlags) limits() (replay.Limits, error) {
	memory, err := humanize.ParseBytes(o.memory)
	if err != nil {
		return replay.Limits{}, fmt.Errorf("--memory %q: write a size like 4GB", o.memory)
	}
	if o.timeout <= 0 || o.pids < 16 || !(o.cpus >= 0 && o.cpus <= maxCPUs) || memory < 64<<20 {
		return replay.Limits{}, fmt.Errorf("--timeout must be positive, --pids 16 or more, --memory 64MB or more, --cpus from 0 to %d", maxCPUs)
	}
	return replay.Limits{Wall: o.timeout, Memory: int64(memory), Pids: o.pids, CPUs: o.cpus, Output: reportBytes}, nil
}

func (o sandboxFlags) config(a *app, l replay.Limits) (build.SandboxConfig, error) {
	if o.ca != "" {
		if _, err := os.Stat(o.ca); err != nil {
			return build.SandboxConfig{}, fmt.Errorf("--ca-bundle: %w", err)
		}
	}
	if min(o.install, o.timeouts.Engine, o.timeouts.Pull, o.timeouts.Cleanup) <= 0 {
		return build.SandboxConfig{}, errors.New("--install-timeout, --engine-timeout, --pull-timeout and --cleanup-timeout must be positive")
	}
	marks, err := o.marks()
	if err != nil {
		return build.SandboxConfig{}, err
	}
	c := build.SandboxConfig{
		Kind: o.kind, Image: o.image, Host: o.host, CABundle: o.ca, Limits: l, Install: o.install, Walls: o.walls, Timeouts: o.timeouts,
		Disk: marks, Clock: a.clock,
		Log: func(line string) { a.log.Warn(line) }, Opened: a.sandboxOpened,
	}
	return c, c.Check()
}

// sandboxOpened says what a run's sandbox came to be configured as: with --json always, else with --verbose.
func (a *app) sandboxOpened(settings any) {
	if a.opts.json {
		emitJSON(a.stderr, struct {
			Type     string `json:"type"`
			Settings any    `json:"settings"`
		}{"sandbox", settings})
		return
	}
	a.log.Info("the sandbox is open", "settings", settings)
}

// marks reads the flags about environments' room.
func (o sandboxFlags) marks() (m build.DiskMarks, err error) {
	high, low, err := waterMarks("--env-", o.high, o.low)
	if err != nil {
		return m, err
	}
	free, err := humanize.ParseBytes(o.free)
	if err != nil {
		return m, fmt.Errorf("--env-free %q: write a size like 2GB", o.free)
	}
	return build.DiskMarks{High: high, Low: low, Free: int64(free)}, nil
}

// waterMarks reads two sizes; without the low one it is three quarters of the high one.
func waterMarks(flag, high, low string) (int64, int64, error) {
	h, err := humanize.ParseBytes(high)
	if err != nil {
		return 0, 0, fmt.Errorf("%shigh %q: write a size like 40GB", flag, high)
	}
	l := h / 4 * 3
	if low != "" {
		if l, err = humanize.ParseBytes(low); err != nil {
			return 0, 0, fmt.Errorf("%slow %q: write a size like 30GB", flag, low)
		}
	}
	if l > h {
		return 0, 0, fmt.Errorf("%slow must not be more than %shigh", flag, flag)
	}
	return int64(h), int64(l), nil
}
