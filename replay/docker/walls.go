package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/system"

	"sluice/replay"
)

// WallOptions say what stands between a job and the engine's machine, beside what always does. They are pinned when the Sandbox opens,
// and recorded with each environment: what relaxes them for one suite may break another one.
type WallOptions struct {
	// Runtime is the engine's name of what runs containers ("runsc" is gVisor's); "" = the engine's default.
	Runtime string `json:"runtime,omitempty"`
	// Security are further security options as docker run takes them: "seccomp=FILE", "seccomp=unconfined", "apparmor=PROFILE", "label=…".
	// That processes gain no privileges is always among them.
	Security []string `json:"security,omitempty"`
}

// ErrSecurity says that a security option is none of those that are known, or that its profile cannot be read.
var ErrSecurity = errors.New("the security option")

// ErrNoRuntime says that the engine does not know the runtime that is asked for.
var ErrNoRuntime = errors.New("the engine does not have the runtime")

// noNewPrivileges stands in every container's security options.
const noNewPrivileges = "no-new-privileges"

// pin reads what the options name. args are the engine's security options, names the same for people and records: a profile's file
// stands as its digest.
func (w WallOptions) pin(info system.Info) (args, names []string, err error) {
	if _, ok := info.Runtimes[w.Runtime]; w.Runtime != "" && !ok {
		return nil, nil, fmt.Errorf("%w %q: it has %s", ErrNoRuntime, w.Runtime, strings.Join(slices.Sorted(maps.Keys(info.Runtimes)), ", "))
	}
	args, names = []string{noNewPrivileges}, []string{noNewPrivileges}
	for _, o := range w.Security {
		key, value, ok := strings.Cut(o, "=")
		if !ok || value == "" || !slices.Contains([]string{"seccomp", "apparmor", "label"}, key) {
			return nil, nil, fmt.Errorf("%w %q: write seccomp=FILE, seccomp=unconfined, apparmor=PROFILE or label=…", ErrSecurity, o)
		}
		name := o
		if key == "seccomp" && value != "unconfined" {
			profile, err := os.ReadFile(value)
			if err != nil {
				return nil, nil, fmt.Errorf("%w %q: %w", ErrSecurity, o, err)
			}
			sum := sha256.Sum256(profile)
			o, name = "seccomp="+string(profile), "seccomp=sha256:"+hex.EncodeToString(sum[:])
		}
		args, names = append(args, o), append(names, name)
	}
	slices.Sort(names)
	return args, names, nil
}

// Walls are what stands around each job of this Sandbox.
func (s *Sandbox) Walls() replay.Walls {
	return replay.Walls{
		Sandbox: s.Name(), Engine: s.info.ServerVersion, Platform: s.info.OSType + "/" + s.info.Architecture,
		Runtime: cmp.Or(s.o.Walls.Runtime, s.info.DefaultRuntime), Security: s.securityNames,
		Rootless: slices.ContainsFunc(s.info.SecurityOptions, func(o string) bool { return strings.HasPrefix(o, "name=rootless") }),
		User:     s.o.User, Loopback: s.loopback(), Limits: s.limits,
	}
}

// ipv6 reports whether jobs can have ::1. It is not known of an engine elsewhere, which would refuse to start a container if its kernel
// cannot.
func (s *Sandbox) ipv6() bool {
	_, err := os.Stat("/proc/net/if_inet6")
	return err == nil && s.api != nil && strings.HasPrefix(s.api.DaemonHost(), "unix://")
}

func (s *Sandbox) loopback() []string {
	if s.ipv6() {
		return []string{"127.0.0.1", "::1"}
	}
	return []string{"127.0.0.1"}
}

// Settings are everything that was configured or fell to its default, for people and logs.
type Settings struct {
	replay.Walls
	Install  replay.Limits `json:"install"` // of building environments
	Host     string        `json:"host"`
	Total    int64         `json:"total_bytes"`
	Timeouts Timeouts      `json:"timeouts"`
	Least    int64         `json:"least_free_bytes"`
	Run      string        `json:"run"` // in the labels of what this Sandbox makes: see sluice images gc --run
}

// Settings returns them.
func (s *Sandbox) Settings() Settings {
	return Settings{s.Walls(), s.o.Install.Or(s.limits), s.api.DaemonHost(), s.o.Total, s.o.Timeouts, s.o.Disk.Least, s.run}
}
