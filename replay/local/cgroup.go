//go:build linux

package local

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice/replay"
)

// groupParent is the group that holds the groups of all jobs, at the top of each hierarchy as Docker does it.
const groupParent = "sluice"

// hierarchy is one mounted cgroup hierarchy that can be written to.
type hierarchy struct {
	dir string // of groupParent
	v2  bool
}

// groups are the hierarchies by controller: "memory", "pids", "cpu". Absent: the kernel or its owner refuses.
type groups struct {
	byController map[string]hierarchy
}

var controllers = []string{"memory", "pids", "cpu"}

// findGroups reads the mounts of this process and tries the hierarchies.
func findGroups(mountinfo string) groups {
	g := groups{byController: map[string]hierarchy{}}
	data, err := os.ReadFile(mountinfo)
	if err != nil {
		return g
	}
	for _, m := range parseMounts(data) {
		for _, c := range m.controllers() {
			if _, ok := g.byController[c]; ok {
				continue
			}
			if h, err := m.open(c); err == nil {
				g.byController[c] = h
			}
		}
	}
	return g
}

type groupMount struct {
	dir     string
	v2      bool
	options string
}

// parseMounts finds the cgroup file systems in a mountinfo file (see proc_pid_mountinfo(5)).
func parseMounts(data []byte) []groupMount {
	var found []groupMount
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		front, back, ok := strings.Cut(lines.Text(), " - ")
		mount, fsys := strings.Fields(front), strings.Fields(back)
		if !ok || len(mount) < 5 || len(fsys) < 3 || fsys[0] != "cgroup" && fsys[0] != "cgroup2" {
			continue
		}
		found = append(found, groupMount{dir: mount[4], v2: fsys[0] == "cgroup2", options: fsys[2]})
	}
	return found
}

// controllers are those of ours that the mount offers.
func (m groupMount) controllers() []string {
	list := strings.Split(m.options, ",")
	if m.v2 {
		data, _ := os.ReadFile(filepath.Join(m.dir, "cgroup.controllers"))
		list = strings.Fields(string(data))
	}
	var ours []string
	for _, c := range controllers {
		for _, l := range list {
			if l == c {
				ours = append(ours, c)
			}
		}
	}
	return ours
}

// open makes groupParent, with the controller passed on to the groups below it.
func (m groupMount) open(controller string) (hierarchy, error) {
	h := hierarchy{dir: filepath.Join(m.dir, groupParent), v2: m.v2}
	if err := os.Mkdir(h.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return h, err
	}
	if err := unix.Access(h.dir, unix.W_OK); err != nil {
		return h, err
	}
	if !m.v2 {
		return h, nil
	}
	for _, dir := range []string{m.dir, h.dir} {
		if err := put(dir, "cgroup.subtree_control", "+"+controller); err != nil {
			return h, err
		}
	}
	return h, nil
}

// kind says which version enforces the controller, for Capabilities.
func (g groups) kind(controller string) string {
	h, ok := g.byController[controller]
	switch {
	case !ok:
		return ""
	case h.v2:
		return "cgroup v2"
	}
	return "cgroup v1"
}

// group is the cgroups of one job.
type group struct {
	dirs   []string // one per hierarchy
	v2     []bool
	memory int // index of the one that counts memory, or -1
}

// open makes the cgroups of a job with its limits.
func (g groups) open(name string, l replay.Limits) (*group, error) {
	made := &group{memory: -1}
	for _, c := range controllers {
		h, ok := g.byController[c]
		if !ok {
			continue
		}
		dir := filepath.Join(h.dir, name)
		at, err := made.add(dir, h.v2)
		if err == nil {
			err = limit(dir, c, h.v2, l)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("making a cgroup: %w", err), made.remove())
		}
		if c == "memory" {
			made.memory = at
		}
	}
	return made, nil
}

func (g *group) add(dir string, v2 bool) (int, error) {
	for i, d := range g.dirs {
		if d == dir {
			return i, nil
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return 0, err
	}
	g.dirs, g.v2 = append(g.dirs, dir), append(g.v2, v2)
	return len(g.dirs) - 1, nil
}

// limit sets one controller's limits. Swap is not memory: a job that needs it has reached its limit.
func limit(dir, controller string, v2 bool, l replay.Limits) error {
	const period = 100_000 // µs
	quota := strconv.FormatInt(max(int64(l.CPUs*period), 1000), 10)
	memory := strconv.FormatInt(l.Memory, 10)
	switch {
	case controller == "pids":
		return put(dir, "pids.max", strconv.FormatInt(l.Pids, 10))
	case controller == "memory" && v2:
		_ = put(dir, "memory.swap.max", "0") // absent without swap accounting
		_ = put(dir, "memory.oom.group", "1")
		return put(dir, "memory.max", memory)
	case controller == "memory":
		err := put(dir, "memory.limit_in_bytes", memory)
		_ = put(dir, "memory.memsw.limit_in_bytes", memory)
		return err
	case v2:
		return put(dir, "cpu.max", quota+" "+strconv.Itoa(period))
	}
	if err := put(dir, "cpu.cfs_period_us", strconv.Itoa(period)); err != nil {
		return err
	}
	return put(dir, "cpu.cfs_quota_us", quota)
}

func put(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// join opens what a process needs to enter the cgroups: a v1 group's tasks file takes a single thread, a v2 group's
// folder is given to clone.
func (g *group) join() (v1 []*os.File, v2 *os.File, err error) {
	for i, dir := range g.dirs {
		var f *os.File
		if g.v2[i] {
			v2, err = os.Open(dir)
		} else if f, err = os.OpenFile(filepath.Join(dir, "tasks"), os.O_WRONLY, 0); err == nil {
			v1 = append(v1, f)
		}
		if err != nil {
			return v1, v2, fmt.Errorf("entering a cgroup: %w", err)
		}
	}
	return v1, v2, nil
}

// oomKills counts the processes that the kernel killed at the memory limit.
func (g *group) oomKills() int {
	if g.memory < 0 {
		return 0
	}
	file := "memory.oom_control"
	if g.v2[g.memory] {
		file = "memory.events"
	}
	data, _ := os.ReadFile(filepath.Join(g.dirs[g.memory], file))
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			kills, _ := strconv.Atoi(strings.TrimSpace(n))
			return kills
		}
	}
	return 0
}

// kill kills what is still in the cgroups.
func (g *group) kill() {
	for i, dir := range g.dirs {
		if g.v2[i] && put(dir, "cgroup.kill", "1") == nil {
			continue
		}
		data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// remove kills and removes; the kernel lets go of a group a moment after its last process.
func (g *group) remove() error {
	var err error
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 400 {
		if err = g.rmdir(); err == nil {
			return nil
		}
		g.kill()
		<-tick.C
	}
	return fmt.Errorf("removing a cgroup: %w", err)
}

func (g *group) rmdir() error {
	for _, dir := range g.dirs {
		if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
