//go:build linux

package local_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

// helperVar makes a test process a victim: it runs what TestHelper does below the folder that it names.
const helperVar = "SLUICE_TEST_HELPER_ROOT"

// TestHelper is not a test: it is the process that other tests kill.
func TestHelper(t *testing.T) {
	root := os.Getenv(helperVar)
	if root == "" {
		t.Skip("only run by other tests")
	}
	s := newBox(t, local.Options{Root: root, NoNamespaces: os.Getenv("FALLBACK") != ""})
	env := prepare(t, s)
	go func() {
		slow := sh("install", "touch {env}/half; sleep 300")
		_, _ = s.Prepare(context.Background(), replay.Recipe{Fingerprint: "half", Install: []replay.Step{slow}}, sandboxtest.NewTree("t"))
	}()
	go func() {
		o, err := s.Open(context.Background(), replay.SessionSpec{Name: "s", Build: true, Tree: sandboxtest.NewTree("t")})
		if err == nil {
			_, _ = o.Exec(context.Background(), sh("hang", `touch open; trap "" HUP TERM; sleep 300 & while :; do sleep 1; done`))
		}
	}()
	body := `trap "" HUP TERM; while :; do sleep 1; done`
	step := replay.Step{Name: "s", Args: []string{"sh", "-c", `setsid sh -c "$0" & sh -c "$0" & echo > {out}/up; wait`, body}}
	_, _ = s.Run(context.Background(), replay.Job{Name: "j", Tree: sandboxtest.NewTree("t"), Env: env, Steps: []replay.Step{step}})
}

// victim starts TestHelper and waits until its job and its build run.
func victim(t *testing.T, root string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelper$")
	cmd.Env = append(os.Environ(), append(env, helperVar+"="+root)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the victim's steps run", func() bool {
		up, _ := filepath.Glob(filepath.Join(root, "states", "*", "*", "up"))
		half, _ := filepath.Glob(filepath.Join(root, "envs", "*", "content", "half"))
		open, _ := filepath.Glob(filepath.Join(root, "states", "*", "tree", "open"))
		return len(up) == 1 && len(half) == 1 && len(open) == 1
	})
	return cmd
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1500 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatalf("waited in vain until %s", what)
}

// marked counts the processes of steps whose states are below root.
func marked(root string) (n int) {
	states, _ := os.ReadDir(filepath.Join(root, "states"))
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range environs {
		data, _ := os.ReadFile(e)
		for _, s := range states {
			if strings.Contains(string(data), "SLUICE_SANDBOX="+s.Name()) {
				n++
			}
		}
	}
	return n
}

// groupsOf are the cgroups that a process made.
func groupsOf(pid int) []string {
	dirs, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/sluice/%d-*", pid))
	more, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/sluice/%d-*", pid))
	return append(dirs, more...)
}

func TestKilledRunIsCleanedUp(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	walled(t, local.Options{Root: root})
	cmd := victim(t, root)
	kept := filepath.Join(root, "states", "somebody-elses")
	if err := os.Mkdir(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if marked(root) < 5 || os.Geteuid() == 0 && len(groupsOf(cmd.Process.Pid)) == 0 {
		t.Fatalf("%d processes, cgroups %v", marked(root), groupsOf(cmd.Process.Pid))
	}
	kill9(t, cmd)
	eventually(t, "the steps have died with their sandbox", func() bool { return marked(root) == 0 })

	other := victim(t, filepath.Join(root, "..", filepath.Base(root)+"-other"))
	newBox(t, local.Options{Root: root})
	wantLeft(t, filepath.Join(root, "states"), "somebody-elses")
	if half, _ := filepath.Glob(filepath.Join(root, "envs", "*", "content", "half")); len(half) > 0 {
		t.Errorf("a half-built environment is left: %v", half)
	}
	if left := groupsOf(cmd.Process.Pid); len(left) > 0 {
		t.Errorf("cgroups are left: %v", left)
	}
	if os.Geteuid() == 0 && len(groupsOf(other.Process.Pid)) == 0 {
		t.Error("the cgroups of a living process were removed")
	}
}

func kill9(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func wantLeft(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

// TestLivingRunIsLeftAlone: opening a second sandbox over the same root disturbs no running job.
func TestLivingRunIsLeftAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	walled(t, local.Options{Root: root})
	victim(t, root)
	newBox(t, local.Options{Root: root})
	if states, _ := os.ReadDir(filepath.Join(root, "states")); len(states) != 3 || marked(root) < 6 {
		t.Errorf("%d states and %d processes are left", len(states), marked(root))
	}
	if half, _ := filepath.Glob(filepath.Join(root, "envs", "*", "content", "half")); len(half) != 1 {
		t.Error("an environment was removed while it was being built")
	}
}

func TestFallbackIsCleanedUp(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cmd := victim(t, root, "FALLBACK=1")
	if marked(root) < 5 {
		t.Fatalf("%d processes", marked(root))
	}
	kill9(t, cmd)
	newBox(t, local.Options{Root: root, NoNamespaces: true})
	eventually(t, "the steps are dead", func() bool { return marked(root) == 0 })
	wantLeft(t, filepath.Join(root, "states"))
}

// TestTwoProcessesBuildOnce: the lock holds between processes.
func TestTwoProcessesBuildOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var outs []io.Reader
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBuilder$", "-test.v")
		cmd.Env = append(os.Environ(), helperVar+"="+root)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		outs = append(outs, out)
	}
	var ids []string
	for _, out := range outs {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "built "); ok {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) != 2 || ids[0] != ids[1] || ids[0] == "" {
		t.Errorf("the processes saw %q", ids)
	}
}

// TestBuilder is not a test: it is the process that TestTwoProcessesBuildOnce starts twice.
func TestBuilder(t *testing.T) {
	root := os.Getenv(helperVar)
	if root == "" {
		t.Skip("only run by other tests")
	}
	s := newBox(t, local.Options{Root: root})
	env := prepare(t, s, sh("install", `sleep 1; head -c 16 /dev/urandom | od -An -tx1`))
	_, id, _ := strings.Cut(env.Log, "\n")
	fmt.Printf("built %s\n", strings.TrimSpace(id))
}
