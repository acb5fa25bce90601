//go:build linux

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sluice/internal/process"
	"sluice/replay"
	"sluice/replay/layers"
)

// Name is the name of this sandbox, in Env.Sandbox and for users.
const Name = "local"

// Options configure a sandbox. Only Root is required.
type Options struct {
	// Root is a folder of ours for environments and throw-away states; several processes may share it.
	Root string
	// Network is what Install sees of the host's network configuration.
	Network Network
	// Limits are the defaults of a job, Install those of a recipe's Install steps.
	Limits, Install replay.Limits
	// MaxDisk is how many bytes all files of one job may have together. Default: 16 GiB.
	MaxDisk int64
	// States bounds the bytes of states that are kept for repeats of jobs (see replay.Share), besides those in use. Default: 4 GiB.
	States int64
	// Tools are folders with programs that steps may need (a Python or Go installation); visible read-only, their bin
	// folders in PATH. The host's go, python3 and pyenv versions are found without being named.
	Tools []string
	// NoNamespaces forces the fallback without namespaces and cgroups.
	NoNamespaces bool
	// Clock measures durations. Default: time.Now.
	Clock func() time.Time
}

// Network is the network configuration of the Install steps. Jobs never have a network.
type Network struct {
	// Vars are environment variables for Install. Nil: those of this process that configure proxies, certificates and
	// package mirrors (*_PROXY, SSL_CERT_FILE, PIP_*, GOPROXY, …), which may hold credentials of such mirrors.
	Vars map[string]string
	// CABundle is a file of certificates that Install trusts; "" leaves it to Vars.
	CABundle string
}

// ErrEnvironment says that a job's environment is not there; Prepare builds it again.
var ErrEnvironment = errors.New("the environment is not prepared")

// Sandbox implements replay.Sandbox on the host.
type Sandbox struct {
	opts  Options
	owner process.ID
	host  host
	groups
	caps   Capabilities
	kernel string // its release
	layers *layers.Cache[snapshot]

	mu     sync.Mutex
	states map[string]bool // throw-away folders in use
	seen   map[string]bool // environments that were found whole
}

// Capabilities say what this host lets the sandbox enforce.
type Capabilities struct {
	Namespaces bool   // own processes, mounts (host read-only), network and IPC
	Overlay    bool   // jobs may write to their own view of the environment
	Memory     string // "cgroup v1", "cgroup v2", "rlimit" (per process) or ""
	Pids       string // "cgroup v1", "cgroup v2", "rlimit" (per user) or ""
	CPU        string // "cgroup v1", "cgroup v2" or ""
	// Missing says in words what is not enforced and why; empty if everything is.
	Missing []string
}

// New opens the sandbox, finds out what the kernel allows, and removes what dead processes left in Root. Init must have
// been called.
func New(o Options) (*Sandbox, error) {
	if !initialised {
		return nil, errors.New("opening the local sandbox: local.Init was not called at the start of main")
	}
	root, err := checkRoot(o.Root)
	if err != nil {
		return nil, fmt.Errorf("opening the local sandbox: %w", err)
	}
	o.Root = root
	me, err := process.Self()
	if err != nil {
		return nil, fmt.Errorf("opening the local sandbox: %w", err)
	}
	var kernel unix.Utsname
	if err := unix.Uname(&kernel); err != nil {
		return nil, fmt.Errorf("opening the local sandbox: asking for the kernel's version: %w", err)
	}
	s := &Sandbox{opts: withDefaults(o), owner: me, kernel: unix.ByteSliceToString(kernel.Release[:]), host: findHost(o.Tools), states: map[string]bool{}, seen: map[string]bool{}}
	s.layers = layers.New(s.opts.States, s.dropLayer)
	if err := s.sweep(); err != nil {
		return nil, fmt.Errorf("removing what dead runs left: %w", err)
	}
	if err := s.probe(); err != nil {
		return nil, fmt.Errorf("probing the kernel: %w", err)
	}
	return s, nil
}

// checkRoot makes the folder and refuses names that overlayfs options cannot hold.
func checkRoot(root string) (string, error) {
	if root == "" {
		return "", errors.New("no root folder is given")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	for _, dir := range []string{"envs", "states"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			return "", err
		}
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	if strings.ContainsAny(root, `:,\`) {
		return "", fmt.Errorf("the root folder %q has a colon, comma or backslash", root)
	}
	return root, nil
}

func withDefaults(o Options) Options {
	cpus := float64(runtime.NumCPU())
	o.Limits = o.Limits.Or(replay.Limits{Wall: 30 * time.Minute, Memory: 4 << 30, Pids: 2048, CPUs: replay.DefaultCPUs, Output: 1 << 20, Disk: 2 << 30})
	o.Install = o.Install.Or(replay.Limits{Wall: 30 * time.Minute, Memory: 8 << 30, Pids: 4096, CPUs: cpus, Output: 256 << 10, Disk: 8 << 30})
	if o.MaxDisk == 0 {
		o.MaxDisk = 16 << 30
	}
	if o.States == 0 {
		o.States = 4 << 30
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// Name implements replay.Sandbox.
func (s *Sandbox) Name() string { return Name }

// Capabilities returns what this host enforces.
func (s *Sandbox) Capabilities() Capabilities { return s.caps }

// Walls are what stands around each job of this sandbox.
func (s *Sandbox) Walls() replay.Walls {
	c := s.caps
	w := replay.Walls{Sandbox: Name, Platform: runtime.GOOS + "/" + runtime.GOARCH, Security: []string{}, Loopback: []string{"127.0.0.1"}, Limits: s.opts.Limits}
	if _, err := os.Stat("/proc/net/if_inet6"); err == nil {
		w.Loopback = append(w.Loopback, "::1")
	}
	for _, p := range []struct {
		name string
		have bool
	}{{"namespaces", c.Namespaces}, {"overlay", c.Overlay}, {"memory: " + c.Memory, c.Memory != ""}, {"pids: " + c.Pids, c.Pids != ""}, {"cpu: " + c.CPU, c.CPU != ""}} {
		if p.have {
			w.Security = append(w.Security, p.name)
		}
	}
	return w
}

// Settings are everything that was configured or fell to its default, for people and logs.
type Settings struct {
	replay.Walls
	Install replay.Limits `json:"install"` // of building environments
}

// Settings returns them.
func (s *Sandbox) Settings() Settings { return Settings{s.Walls(), s.opts.Install} }

// Close removes the throw-away folders of this process that no job uses any more. Environments stay.
func (s *Sandbox) Close() error {
	s.layers.Empty()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for dir, used := range s.states {
		if used {
			continue
		}
		if err := removeAll(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(s.states, dir)
	}
	return errors.Join(errs...)
}
