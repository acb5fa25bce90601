//go:build linux

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/replay"
)

// A mount is one action while the root of a step is built. Its kinds:
//
//	ro, rw   bind Source at Target with all that is mounted below it
//	overlay  Data are the options
//	tmpfs    Data are the options
//	proc, pts
//	dir      make the folder Target
//	link     make Target a symbolic link to Source
type mount struct {
	Kind   string `json:"kind"`
	Source string `json:"source,omitempty"`
	Target string `json:"target"`
	Data   string `json:"data,omitempty"`
}

// Where things are in the root of a step: the same for all jobs, so that what they print and compile can be compared.
const (
	treeAt = "/testbed"
	envAt  = replay.EnvFolder
	homeAt = "/sluice/home"
)

// view is what a step sees.
type view struct {
	state    state
	env      string // folder of the environment
	below    string // folder of changes of it that lie below the state's own; "" is none
	build    bool   // it is being built: writable, with a network
	readOnly bool   // nothing in the tree can be written to
	visible  []string
	shm      int64 // bytes of /dev/shm
	overlay  bool
	isolated bool
	userns   bool
}

// places says where the step finds things. Without an overlay nothing in the environment can be written to, so the build
// cache starts cold in the home folder.
func (v view) places() places {
	p := places{tree: treeAt, out: "/sluice/" + v.state.outName, env: envAt, home: homeAt, tmp: "/tmp"}
	if !v.isolated {
		p = places{tree: v.state.path("tree"), out: v.state.path(v.state.outName), env: v.env,
			home: v.state.path("home"), tmp: v.state.path("tmp")}
	}
	if v.build || v.isolated && v.overlay {
		p.home = filepath.Join(p.env, "home")
	}
	p.goCache = buildCache(p.home)
	return p
}

// readOnlyEnv says that nothing in the environment can be written to.
func (v view) readOnlyEnv() bool { return v.isolated && !v.overlay && !v.build }

// mounts is the root of a step, in the order in which it is built.
func (v view) mounts(h host) []mount {
	m := append(systemMounts(), secretMounts()...)
	m = append(m, deviceMounts(v.shm)...)
	m = append(m, mount{Kind: "proc", Target: "/proc"}, mount{Kind: "ro", Source: "/sys", Target: "/sys"})
	m = append(m, v.nameMounts()...)
	for _, dir := range []string{"/root", "/home", "/run", "/mnt", "/srv"} {
		m = append(m, mount{Kind: "dir", Target: dir})
	}
	m = append(m, v.stateMounts()...)
	shown := slices.Clone(systemDirs)
	for _, path := range slices.Concat(h.tools, v.visible) {
		if isBindable(path) && !covered(path, shown) {
			m = append(m, mount{Kind: "ro", Source: path, Target: path})
			shown = append(shown, path)
		}
	}
	return m
}

func systemMounts() []mount {
	var m []mount
	for _, dir := range systemDirs {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(dir); err == nil {
				m = append(m, mount{Kind: "link", Source: to, Target: dir})
			}
		case info.IsDir():
			m = append(m, mount{Kind: "ro", Source: dir, Target: dir})
		}
	}
	return m
}

// isBindable refuses what must not be shown whatever a variable says, or would hide what a step needs.
func isBindable(path string) bool {
	whole := slices.Contains([]string{"/", "/run", "/var", "/var/run", "/tmp", "/home", "/root", "/sluice", treeAt}, path)
	return exists(path) && !whole && !covered(path, []string{"/proc", "/sys", "/dev"})
}

func secretMounts() []mount {
	var m []mount
	for _, f := range secretFiles {
		if exists(f) {
			m = append(m, mount{Kind: "ro", Source: "/dev/null", Target: f})
		}
	}
	for _, d := range secretDirs {
		if isDir(d) {
			m = append(m, mount{Kind: "tmpfs", Target: d, Data: "size=4k,mode=755"})
		}
	}
	return m
}

// deviceMounts is a /dev without disks: the user who runs steps may well be their owner.
func deviceMounts(shm int64) []mount {
	m := []mount{{Kind: "tmpfs", Target: "/dev", Data: "size=64k,mode=755"}}
	for _, d := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		m = append(m, mount{Kind: "rw", Source: "/dev/" + d, Target: "/dev/" + d})
	}
	for name, to := range map[string]string{"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"} {
		m = append(m, mount{Kind: "link", Source: "/proc/self/fd" + to, Target: "/dev/" + name})
	}
	return append(m, mount{Kind: "pts", Target: "/dev/pts"},
		mount{Kind: "link", Source: "pts/ptmx", Target: "/dev/ptmx"},
		mount{Kind: "tmpfs", Target: "/dev/shm", Data: fmt.Sprintf("size=%d,mode=1777", shm)})
}

// nameMounts are the files that resolve host names: the host's own while building, else localhost only.
func (v view) nameMounts() []mount {
	if !v.build && exists("/etc/hosts") {
		return []mount{{Kind: "ro", Source: v.state.path("log/hosts"), Target: "/etc/hosts"}}
	}
	if !v.build {
		return nil
	}
	// It is often a link to a file in /run, which steps do not see.
	file, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || covered(file, []string{"/etc"}) {
		return nil
	}
	return []mount{{Kind: "ro", Source: file, Target: file}}
}

const hosts = "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost\n"

func (v view) stateMounts() []mount {
	p, tree := v.places(), "rw"
	if v.readOnly {
		tree = "ro"
	}
	m := []mount{
		{Kind: "rw", Source: v.state.path("tmp"), Target: "/tmp"},
		{Kind: "rw", Source: v.state.path("vartmp"), Target: "/var/tmp"},
		{Kind: tree, Source: v.state.path("tree"), Target: p.tree},
		{Kind: "rw", Source: v.state.path(v.state.outName), Target: p.out},
	}
	switch {
	case v.build:
		m = append(m, mount{Kind: "rw", Source: v.env, Target: p.env})
	case v.overlay:
		m = append(m, mount{Kind: "overlay", Target: p.env, Data: v.overlayOptions()})
	default:
		m = append(m, mount{Kind: "ro", Source: v.env, Target: p.env})
	}
	if !strings.HasPrefix(p.home, p.env) {
		m = append(m, mount{Kind: "rw", Source: v.state.path("home"), Target: p.home})
	}
	return m
}

// overlayOptions: volatile, since no state outlives a crash; metacopy, since go touches files of its cache and the whole
// file would be copied for that.
func (v view) overlayOptions() string {
	o := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,volatile", v.lower(), v.state.path("upper"), v.state.path("work"))
	if v.userns {
		return o + ",userxattr"
	}
	return o + ",metacopy=on"
}
