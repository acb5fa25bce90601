package gotest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/gotest"
	"sluice/replay/tools/tooltest"
)

// run runs a recipe's steps over a tree in temporary folders with this machine's Go and its caches, without a sandbox and without
// Install: the tree is ours and needs nothing.
func run(t *testing.T, tree tooltest.Tree, r replay.Recipe, paths ...string) replay.Report {
	t.Helper()
	target := replay.Target{Paths: paths}
	var steps []replay.Step
	for _, s := range (gotest.Tool{}).Steps(r, target) {
		if s.IfFailed == "" {
			steps = append(steps, s)
		}
	}
	return gotest.Tool{}.Parse(r, target, replay.Result{Steps: runSteps(t, lay(t, tree), r, steps)})
}

// lay writes a tree to a temporary folder.
func lay(t *testing.T, tree tooltest.Tree) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range tree {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runSteps(t *testing.T, dir string, r replay.Recipe, steps []replay.Step) (done []replay.StepResult) {
	t.Helper()
	env := t.TempDir()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.TrimSpace(string(goroot)), filepath.Join(env, "goroot")); err != nil {
		t.Fatal(err)
	}
	expand := strings.NewReplacer("{tree}", dir, "{env}", env)
	for _, s := range steps {
		args := slices.Clone(s.Args)
		for i := range args {
			args[i] = expand.Replace(args[i])
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = filepath.Join(dir, s.Dir), &stdout, &stderr, os.Environ()
		for _, vars := range []map[string]string{r.Env, s.Env} {
			for k, v := range vars {
				if k != "GOCACHE" && k != "GOMODCACHE" {
					cmd.Env = append(cmd.Env, k+"="+expand.Replace(v))
				}
			}
		}
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		done = append(done, replay.StepResult{
			Name: s.Name, Stop: replay.Exited, ExitCode: cmd.ProcessState.ExitCode(), Stdout: stdout.Bytes(), Stderr: stderr.Bytes(),
		})
	}
	return done
}

const passes = "package lib\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif Two != 2 {\n\t\tt.Error(Two)\n\t}\n}\n"

// TestOldCodeRuns runs code with vendored packages, of both layouts, in a GOPATH.
func TestOldCodeRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles tests")
	}
	t.Parallel()
	for _, vendor := range []string{"vendor/", "vendor/src/"} {
		tree := oldTree(tooltest.Tree{
			"main.go":    "package main\n\nimport _ \"x.org/me/tool/lib\"\n\nfunc main() {}\n",
			"lib/lib.go": "package lib\n\nimport \"github.com/dep/one/sub\"\n\nconst Two = sub.Two\n", "lib/l_test.go": passes,
			vendor + "github.com/dep/one/sub/x.go": "package sub\n\nconst Two = 2\n",
		})
		r := detect(t, tree)
		want := tooltest.View{Phases: "ok ok ok", Tests: "x.org/me/tool/lib::TestX pass\n"}
		tooltest.Diff(t, run(t, tree, r), want)
		tooltest.Diff(t, run(t, tree, r, "lib/l_test.go"), want)
	}
}

// TestWideWorkspaceRuns runs all modules of a workspace, and one of them.
func TestWideWorkspaceRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles tests")
	}
	t.Parallel()
	lib := "package lib\n\nconst Two = 2\n"
	tree := tooltest.Tree{
		"go.work": "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module m.org/a\n\ngo 1.21\n", "b/go.mod": "module m.org/b\n\ngo 1.21\n",
		"a/lib.go": lib, "a/lib_test.go": passes, "b/c/lib.go": lib,
		"b/c/lib_test.go": strings.Replace("//go:build integration && linux\n\n"+passes, "lib\n\n", "lib\n\nimport _ \"m.org/a\"\n", 1),
	}
	r := detect(t, tree)
	tooltest.Diff(t, run(t, tree, r), tooltest.View{Phases: "ok ok ok", Tests: "m.org/a::TestX pass\n"})
	tooltest.Diff(t, run(t, tree, r, "b/c/lib_test.go"), tooltest.View{Phases: "ok ok ok", Tests: "m.org/b/c::TestX pass\n"})
}

// TestWarm: after warming, the tests' packages are compiled and only their main package is left to be; and nothing of the repository ran, not
// even what runs before its tests.
func TestWarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles tests")
	}
	t.Parallel()
	fresh := fmt.Sprintf("package lib\n\n// %x\nconst Two = 2\n", rand.Uint64()) // in nobody's cache
	eager := "package lib\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc init() { os.WriteFile(\"ran\", nil, 0o644) }\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"
	tree := tooltest.Tree{
		"go.mod": "module m.org/a\n\ngo 1.21\n", "lib/lib.go": fresh, "lib/main_test.go": eager, "lib/in_test.go": passes,
		"lib/out_test.go": "package lib_test\n\nimport (\n\t\"testing\"\n\n\t\"m.org/a/lib\"\n)\n\nfunc TestY(t *testing.T) { _ = lib.Two }\n",
		"bad/bad.go":      "package bad\n\nvar x int = \"\"\n",
	}
	r := detect(t, tree)
	for _, paths := range [][]string{nil, {"lib/in_test.go"}} {
		dir, target := lay(t, tree), replay.Target{Paths: paths}
		runSteps(t, dir, r, (gotest.Tool{}).Warm(r, target))
		ran := filepath.Join(dir, "lib/ran")
		if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: warming ran code of the repository: %v", paths, err)
		}
		test := (gotest.Tool{}).Steps(r, target)[0]
		test.Env = map[string]string{"GOFLAGS": r.Env["GOFLAGS"] + " -x", "GOPROXY": "off"}
		done := runSteps(t, dir, r, []replay.Step{test})
		if _, err := os.Stat(ran); err != nil || !bytes.Contains(done[0].Stdout, []byte(`"Action":"pass"`)) {
			t.Errorf("%q: the tests did not run: %v\n%s", paths, err, done[0].Stdout)
		}
		for line := range strings.Lines(string(done[0].Stdout) + string(done[0].Stderr)) { // from Go 1.24 on, events
			if strings.Contains(line, "/compile ") && strings.Contains(line, "-p m.org/a/lib") {
				t.Errorf("%q: compiled again: %s", paths, line)
			}
		}
	}
}

// TestCacheStaysWhole ages a prepared build cache by writing the day of its last clean-up into it: the go command takes nothing away, and
// writes to no file that was there.
func TestCacheStaysWhole(t *testing.T) {
	t.Parallel()
	r := detect(t, tooltest.Tree{"go.mod": "module m\n\ngo 1.21\n", "a_test.go": "package m\n"})
	fill := r.Install[len(r.Install)-1]
	cache := t.TempDir()
	sh := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOCACHE="+cache, "GOFLAGS=", "GO111MODULE=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	times := func() map[string]time.Time {
		all := map[string]time.Time{}
		err := filepath.WalkDir(cache, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && (strings.HasSuffix(p, "-a") || strings.HasSuffix(p, "-d")) {
				all[p] = info.ModTime()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	sh(append(slices.Clone(fill.Args[:4]), "unicode/utf8")...)
	before := times()
	long := []byte("1000000000")
	if err := os.WriteFile(filepath.Join(cache, "trim.txt"), long, 0o644); err != nil {
		t.Fatal(err)
	}
	sh("go", "build", "unicode/utf8")
	if trimmed, err := os.ReadFile(filepath.Join(cache, "trim.txt")); err != nil || bytes.Equal(trimmed, long) {
		t.Fatalf("the go command did not clean up: %q, %v", trimmed, err)
	}
	after := times()
	if diff := cmp.Diff(before, after); len(before) < 2 || diff != "" {
		t.Errorf("%d files, then %d:\n%s", len(before), len(after), diff)
	}
	for p, at := range before {
		if at.Year() < 2099 {
			t.Errorf("%s is of %v", p, at)
		}
	}
}
