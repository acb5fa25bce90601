//go:build linux

package projects

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/tooltest"
)

// TestCanaries lays tests of ours among those of each project: what must fail fails, what must pass passes, and the project's own do what they
// did. A file that cannot be loaded is told.
func TestCanaries(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from registries")
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if c := box.Capabilities(); len(c.Missing) > 0 {
		skip(t, "SLUICE_REQUIRE_SANDBOX", c.Missing)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		tool, _, _ := strings.Cut(name, "-")
		if _, ok := tools.Canaries(tool); !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if slow[name] && os.Getenv(everything) == "" {
				t.Skipf("it installs or compiles much: %s=all runs it", everything)
			}
			if err := lacking(t, name, tool); err != nil {
				t.Skip(err)
			}
			tree, want := project(t, archive)
			planted(t, box, tree, want)
		})
	}
}

// planted runs a project with tests of ours, then with one that cannot be loaded.
func planted(t *testing.T, box replay.Sandbox, tree tooltest.Tree, want string) {
	t.Helper()
	r, err := tools.Detect(t.Context(), tree, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := tools.Neighbours(t.Context(), tree, r)
	if err != nil {
		t.Fatal(err)
	}
	writer, _ := tools.Canaries(r.Runner)
	laid := writer.Canaries(canary.Request{
		Recipe: r, Word: "0f1e2d", Tests: []canary.Test{{Part: "a"}, {Part: "b", Fails: true}}, Files: files, Max: 8,
	})
	if len(laid) == 0 && len(files) == 1 && path.Base(files[0].Path) == "tests.py" {
		t.Skip("a module that is collected by a rule of the project's own")
	}
	if len(laid) == 0 {
		t.Fatalf("no tests of ours beside %d files", len(files))
	}
	tests := func(target replay.Target, files ...replay.File) replay.Report {
		return over(t, box, r, tree, target, files)
	}
	var overlay []replay.File
	for _, f := range laid {
		overlay = append(overlay, f.File)
	}
	rep := tests(replay.Target{}, overlay...)
	heard := 0
	rep.Tests = slices.DeleteFunc(rep.Tests, func(x replay.Test) bool {
		for _, f := range laid {
			for i, wanted := range []replay.Outcome{replay.Pass, replay.Fail} {
				if !f.Is(i, x.ID) {
					continue
				}
				if heard++; x.Outcome != wanted && !(wanted == replay.Fail && x.Outcome == replay.Error) {
					t.Errorf("%s: %s, want %s: %s", x.ID, x.Outcome, wanted, x.Message)
				}
				if f.Beside != nil && !f.Beside(x.ID) {
					t.Errorf("%s is not beside itself", x.ID)
				}
				return true
			}
		}
		return false
	})
	if heard == 0 {
		t.Errorf("no test of ours is in the report: %v", rep.Broken)
	}
	if got := lines(rep); got != want {
		t.Errorf("with tests of ours (-want +got):\n%s\n%s", gocmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), rep.Inconsistent)
	}
	f := laid[0]
	rep = tests(replay.Target{Paths: []string{f.Only}}, f.Broken)
	if told := strings.Join(slices.Collect(maps.Values(rep.Broken)), "\n"); !strings.Contains(told, "0f1e2d") {
		t.Errorf("that %s cannot be loaded is not told: %q %s", f.Broken.Path, told, rep.Inconsistent)
	}
}

// over runs tests over a project with files laid over it.
func over(t *testing.T, box replay.Sandbox, r replay.Recipe, tree tooltest.Tree, target replay.Target, files []replay.File) replay.Report {
	t.Helper()
	if r.Base != nil && r.Runner != "maven" {
		r.Base, r.Fingerprint = nil, cmp.Or(r.Fingerprint, "none")+"-bare"
	}
	env, err := box.Prepare(t.Context(), r, tree)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := tools.For(r.Runner)
	if err != nil {
		t.Fatal(err)
	}
	res, err := box.Run(t.Context(), replay.Job{
		Name: "canaries", Tree: tree, Overlays: []replay.Overlay{{Files: files}}, Env: env, Steps: runner.Steps(r, target),
		Limits: replay.Limits{Wall: 5 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	return runner.Parse(r, target, res)
}
