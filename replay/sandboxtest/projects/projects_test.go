//go:build linux

package projects

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write what the local sandbox says into the projects")

// skip says what this machine lacks; where all must be there, it is a failure.
func skip(t *testing.T, variable string, why any) {
	t.Helper()
	if os.Getenv(variable) == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// sandboxes are both, or the test is skipped.
func sandboxes(t *testing.T) []replay.Sandbox {
	t.Helper()
	outside, err := docker.New(t.Context(), docker.Options{})
	if err != nil {
		skip(t, "SLUICE_REQUIRE_DOCKER", err)
	}
	inside, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if c := inside.Capabilities(); len(c.Missing) > 0 {
		skip(t, "SLUICE_REQUIRE_SANDBOX", c.Missing)
	}
	boxes := []replay.Sandbox{outside, inside}
	t.Cleanup(func() {
		for _, b := range boxes {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return boxes
}

// everything is the environment variable that asks for all projects; else those that install or compile much are left out.
const everything = "SLUICE_CONFORMANCE"

var slow = map[string]bool{"ava": true, "gotest": true, "jest": true, "pytest": true, "vitest": true}

func TestOneReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from registries")
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	boxes := sandboxes(t)
	for _, name := range archives {
		tool := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(tool, func(t *testing.T) {
			if slow[tool] && os.Getenv(everything) == "" {
				t.Skipf("it installs or compiles much: %s=all runs it", everything)
			}
			if tool == "cargo" {
				hasRust(t)
			}
			tree, want := project(t, name)
			var reports []string
			for _, box := range boxes {
				rep := run(t, box, tool, tree)
				got := lines(rep)
				if *update && box.Name() == local.Name {
					rewrite(t, name, got)
				}
				if got != want {
					t.Errorf("%s (-want +got):\n%s\n%s", box.Name(), gocmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), rep.Inconsistent)
				}
				for file, words := range rep.Broken {
					rep.Broken[file] = ofMachine.ReplaceAllString(words, "")
				}
				data, err := json.MarshalIndent(rep, "", "\t")
				if err != nil {
					t.Fatal(err)
				}
				reports = append(reports, string(data))
			}
			if d := gocmp.Diff(reports[0], reports[1]); d != "" {
				t.Errorf("the sandboxes disagree (-docker +local):\n%s", d)
			}
		})
	}
}

// hasRust skips where the compiler is not there, or is so old (before 1.73) that its library words panics otherwise than the image's.
func hasRust(t *testing.T) {
	t.Helper()
	out, err := exec.Command("rustc", "--version").Output()
	if err != nil {
		skip(t, "SLUICE_REQUIRE_SANDBOX", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "rustc %d.%d", &major, &minor); err != nil || major == 1 && minor < 73 {
		t.Skipf("this is %s", out)
	}
}

// ofMachine are lines that name node's version, or places in node's and Python's own files: the image and this machine may have two patch
// versions, in two folders.
var ofMachine = regexp.MustCompile(`(?m)^.*(?:node:internal|Node\.js v|/lib/python3\.\d+/).*\n?`)

// project reads an archive.
func project(t *testing.T, name string) (tooltest.Tree, string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tree, want := tooltest.Tree{}, ""
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		tree[f.Name] = string(f.Data)
	}
	return tree, want
}

// rewrite puts what a project's tests do into its archive.
func rewrite(t *testing.T, name, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 { // a new project
		archive.Files = append(archive.Files, txtar.File{Name: "want"})
		i = len(archive.Files) - 1
	}
	archive.Files[i].Data = []byte(want)
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run takes a project all the way in one sandbox.
func run(t *testing.T, box replay.Sandbox, tool string, tree tooltest.Tree) replay.Report {
	t.Helper()
	r, err := tools.Detect(t.Context(), tree, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Runner != tool {
		t.Fatalf("the project is one of %s", r.Runner)
	}
	if r.Base != nil { // a compiled standard library takes longer than what it saves here
		r.Base, r.Fingerprint = nil, r.Fingerprint+"-bare"
	}
	env, err := box.Prepare(t.Context(), r, tree)
	if err != nil {
		t.Fatalf("%s: %v", box.Name(), err)
	}
	runner, err := tools.For(tool)
	if err != nil {
		t.Fatal(err)
	}
	job := replay.Job{Name: "projects/" + tool, Tree: tree, Env: env, Steps: runner.Steps(r, replay.Target{}), Limits: replay.Limits{Wall: 5 * time.Minute}}
	once := func(job replay.Job) replay.Report {
		res, err := box.Run(t.Context(), job)
		if err != nil {
			t.Fatalf("%s: %v", box.Name(), err)
		}
		return runner.Parse(r, replay.Target{}, res)
	}
	if box.Name() != local.Name { // what repeats share is the same in both sandboxes: see sandboxtest
		return once(job)
	}
	job.Share = tools.Share(r, replay.Target{}, job.Steps)
	first, again := once(job), once(job)
	if d := gocmp.Diff(first, again); d != "" {
		t.Errorf("%s: a repeat that began with what the first built (-first +repeat):\n%s", box.Name(), d)
	}
	return again
}

// lines are what an archive's want says.
func lines(r replay.Report) string {
	v := tooltest.ViewOf(r)
	text := v.Tests
	for name := range strings.FieldsSeq(v.Broken) {
		text += "broken " + name + "\n"
	}
	return cmp.Or(text, "nothing\n")
}

// TestRewrite: what tests do is written into a project, whether it has a want or not.
func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"-- a.txt --\na\n", "-- want --\nold\n-- a.txt --\na\n"} {
		name := filepath.Join(t.TempDir(), "x.txtar")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		rewrite(t, name, "new\n")
		tree, want := project(t, name)
		if d := gocmp.Diff(tooltest.Tree{"a.txt": "a\n"}, tree); d != "" || want != "new\n" {
			t.Errorf("%q: want %q %s", text, want, d)
		}
	}
}
