//go:build linux

package local_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

// TestBusyVictim is not a test: it is the process that TestManyKills kills while it does all that a sandbox does.
func TestBusyVictim(t *testing.T) {
	root, mark := os.Getenv(helperVar), os.Getenv("BUSY")
	if root == "" || mark == "" {
		t.Skip("only run by TestManyKills")
	}
	ctx := context.Background()
	s := newBox(t, local.Options{Root: root, NoNamespaces: os.Getenv("FALLBACK") != ""})
	env := prepare(t, s)
	tree := sandboxtest.NewTree("t", sandboxtest.Text("a/b", strings.Repeat("a\n", 1e5)))
	var wg sync.WaitGroup
	for _, work := range []func(n int){
		func(int) {
			_, _ = s.Run(ctx, replay.Job{Tree: tree, Env: env, Steps: []replay.Step{sh("run", `sleep 0.1; setsid sleep 300 & exit 1`)}})
		},
		func(n int) {
			r := replay.Recipe{Fingerprint: fmt.Sprint(mark, n), Install: []replay.Step{sh("install", "head -c 3000000 /dev/urandom >{env}/f; sleep 0.1; mkdir {env}/d")}}
			_, _ = s.Prepare(ctx, r, tree)
		},
		func(int) {
			if o, err := s.Open(ctx, replay.SessionSpec{Build: true, Tree: tree}); err == nil {
				_, _ = o.Exec(ctx, sh("spawn", "trap '' TERM HUP; sleep 300 & sleep 0.1"))
				_ = o.Close()
			}
		},
	} {
		wg.Go(func() {
			for n := range 500 {
				work(n)
			}
		})
	}
	wg.Wait()
}

// TestManyKills kills processes at any instant of their work, some while they open their sandbox, some without namespaces. After the next
// start no state, half-built environment, control group or process of them is left, and nothing of a bystander is touched.
func TestManyKills(t *testing.T) {
	root := t.TempDir()
	living := walled(t, local.Options{Root: root})
	o, err := living.Open(t.Context(), replay.SessionSpec{Tree: sandboxtest.NewTree("t", sandboxtest.Text("mine", "mine"))})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	prepare(t, living)
	crowd(t, root)
	before := below(t, root)
	random := rand.New(rand.NewPCG(5, 9))
	for n := range sandboxtest.Kills(t, 10) {
		fallback := n%3 == 2
		cmd := exec.Command(os.Args[0], "-test.run=^TestBusyVictim$")
		cmd.Env = append(os.Environ(), helperVar+"="+root, "BUSY="+strconv.Itoa(n)+"-")
		if fallback {
			cmd.Env = append(cmd.Env, "FALLBACK=1")
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(800)) * time.Millisecond)
		kill9(t, cmd)
		next := newBox(t, local.Options{Root: root})
		pid := cmd.Process.Pid
		if left, _ := filepath.Glob(filepath.Join(root, "states", fmt.Sprintf("%d-*", pid))); len(left) > 0 {
			t.Errorf("kill %d: states are left: %q", n, left)
		}
		if left := groupsOf(pid); len(left) > 0 {
			t.Errorf("kill %d: control groups are left: %q", n, left)
		}
		if left := incomplete(t, root); len(left) > 0 {
			t.Errorf("kill %d: half-built environments are left: %q", n, left)
		}
		eventually(t, "the victim's processes are dead", func() bool { return len(processesOf(pid)) == 0 })
		if err := next.Close(); err != nil {
			t.Error(err)
		}
		forgetEnvironments(t, root, before)
	}
	if d := cmp.Diff(before, below(t, root)); d != "" {
		t.Errorf("bystanders (-before +after):\n%s", d)
	}
	if _, err := o.Read(t.Context(), "mine"); err != nil {
		t.Errorf("the session of a living process: %v", err)
	}
	t.Logf("%d kills", sandboxtest.Kills(t, 10))
}

// crowd makes folders that look like ours and are not.
func crowd(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{
		"states/somebody-elses", "states/1-1-1.short", fmt.Sprintf("states/%d-x-1.%s", 1<<22+1, strings.Repeat("a", 32)),
		"envs/mine", "envs/" + strings.Repeat("g", 32), "other/states/1-1-1." + strings.Repeat("a", 32),
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "file"), []byte(dir), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// below lists all but locks, which stay, with their modes.
func below(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !strings.HasSuffix(name, ".lock") {
			all[name] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// incomplete are environments of ours without their log.
func incomplete(t *testing.T, root string) (left []string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, "envs", strings.Repeat("[0-9a-f]", 32)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "log")); err != nil {
			left = append(left, d)
		}
	}
	return left
}

// forgetEnvironments removes those that a victim completed, which may stay.
func forgetEnvironments(t *testing.T, root string, keep map[string]string) {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(root, "envs", strings.Repeat("[0-9a-f]", 32)))
	for _, d := range dirs {
		if keep[d] == "" {
			if err := os.RemoveAll(d); err != nil {
				t.Error(err)
			}
		}
	}
}

// processesOf are the steps' processes of a dead sandbox's process.
func processesOf(pid int) (found []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range environs {
		if data, _ := os.ReadFile(e); strings.Contains(string(data), fmt.Sprintf("SLUICE_SANDBOX=%d-", pid)) {
			found = append(found, e)
		}
	}
	return found
}
