//go:build linux

package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

const hybrid = `24 1 0:22 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
25 24 0:23 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
26 24 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
27 24 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
broken line
28 24 0:26 / /x - cgroup
`

func TestParseMounts(t *testing.T) {
	t.Parallel()
	want := []groupMount{
		{dir: "/sys/fs/cgroup/cpu,cpuacct", options: "rw,cpu,cpuacct"},
		{dir: "/sys/fs/cgroup/memory", options: "rw,memory"},
		{dir: "/sys/fs/cgroup/unified", v2: true, options: "rw,nsdelegate"},
	}
	got := parseMounts([]byte(hybrid))
	if d := cmp.Diff(want, got, cmp.AllowUnexported(groupMount{})); d != "" {
		t.Errorf("mounts (-want +got):\n%s", d)
	}
	if c := got[0].controllers(); !cmp.Equal(c, []string{"cpu"}) {
		t.Errorf("controllers %v", c)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add([]byte(hybrid))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range parseMounts(data) {
			if m.dir == "" {
				t.Error("a mount without a folder")
			}
		}
	})
}

// fakeGroup is a folder with the files that the kernel would have.
func fakeGroup(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := replay.Limits{Memory: 1 << 20, Pids: 7, CPUs: 1.5}
	for _, c := range []struct {
		controller string
		v2         bool
		want       map[string]string
	}{
		{"pids", true, map[string]string{"pids.max": "7"}},
		{"memory", true, map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "memory.oom.group": "1"}},
		{"cpu", true, map[string]string{"cpu.max": "150000 100000"}},
		{"memory", false, map[string]string{"memory.limit_in_bytes": "1048576", "memory.memsw.limit_in_bytes": "1048576"}},
		{"cpu", false, map[string]string{"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "150000"}},
	} {
		var names []string
		for n := range c.want {
			names = append(names, n)
		}
		dir := fakeGroup(t, names...)
		if err := limit(dir, c.controller, c.v2, l); err != nil {
			t.Errorf("%s: %v", c.controller, err)
		}
		for n, want := range c.want {
			if got, _ := os.ReadFile(filepath.Join(dir, n)); string(got) != want {
				t.Errorf("%s is %q, want %q", n, got, want)
			}
		}
		if err := limit(t.TempDir(), c.controller, c.v2, l); err == nil {
			t.Errorf("%s: a limit that cannot be set is no error", c.controller)
		}
	}
}

func TestOOMKills(t *testing.T) {
	t.Parallel()
	v1, v2 := fakeGroup(t), fakeGroup(t)
	for file, text := range map[string]string{
		filepath.Join(v1, "memory.oom_control"): "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
		filepath.Join(v2, "memory.events"):      "low 0\noom 9\noom_kill 2\noom_group_kill 1\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for want, g := range map[int]*group{
		3: {dirs: []string{v1}, v2: []bool{false}}, 2: {dirs: []string{v2}, v2: []bool{true}}, 0: {memory: -1},
	} {
		if got := g.oomKills(); got != want {
			t.Errorf("got %d kills, want %d", got, want)
		}
	}
}

func TestOpenV2PassesControllersOn(t *testing.T) {
	t.Parallel()
	dir := fakeGroup(t, "cgroup.controllers", "cgroup.subtree_control")
	below := filepath.Join(dir, groupParent)
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	m := groupMount{dir: dir, v2: true}
	if _, err := m.open("memory"); err == nil {
		t.Error("a group that cannot pass its controller on was accepted")
	}
	if err := os.WriteFile(filepath.Join(below, "cgroup.subtree_control"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := m.open("memory")
	got, _ := os.ReadFile(filepath.Join(below, "cgroup.subtree_control"))
	if err != nil || h.dir != below || string(got) != "+memory" {
		t.Errorf("got %+v %q %v", h, got, err)
	}
}

// TestJoinV2 runs a step in a v2 group, also where the memory and process controllers belong to v1.
func TestJoinV2(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	se, err := s.open(view{env: t.TempDir()}, s.opts.Limits)
	if err != nil {
		t.Fatal(err)
	}
	dir := v2Group(t, se.view.state.name)
	if err := se.group.remove(); err != nil {
		t.Fatal(err)
	}
	se.group = &group{dirs: []string{dir}, v2: []bool{true}, memory: -1}
	res, err := se.step(context.Background(), replay.Step{Name: "s", Args: []string{"sh", "-c", "sleep 100 & cat /proc/self/cgroup"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "/" + filepath.Base(dir) + "\n"; !strings.Contains(string(res.Stdout), want) || !res.Lingering {
		t.Errorf("the step's groups: %s%s", res.Stdout, res.Stderr)
	}
	if err := se.close(); err != nil || exists(dir) {
		t.Errorf("the group is left: %v", err)
	}
}

// v2Group makes a group in a cgroup2 hierarchy, or skips.
func v2Group(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range parseMounts(data) {
		dir := filepath.Join(m.dir, "sluice-test-"+name)
		if m.v2 && os.Mkdir(dir, 0o755) == nil {
			return dir
		}
	}
	if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatal("no writable cgroup2 hierarchy")
	}
	t.Skip("no writable cgroup2 hierarchy")
	return ""
}
