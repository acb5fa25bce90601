//go:build linux

package projects

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
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

var slow = map[string]bool{
	"ava": true, "ctest-googletest": true, "gotest": true, "gradle": true, "jest": true, "maven": true, "meson": true, "pytest": true, "unittest-django": true,
	"vitest": true,
}

// programs are what a tool's projects need of the machine in the local sandbox; the images have them. Tools without a line need what sluice itself needs.
var programs = map[string][]string{
	"cargo": {"cargo"}, "ctest": {"cmake", "make", "c++"}, "gotest": {"go"}, "gradle": {"gradle", "javac"}, "maven": {"mvn", "javac", "jar"},
	"meson": {"meson", "ninja", "cc"},
}

func TestOneReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from registries")
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	boxes := sandboxes(t)
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		t.Run(name, func(t *testing.T) {
			if slow[name] && os.Getenv(everything) == "" {
				t.Skipf("it installs or compiles much: %s=all runs it", everything)
			}
			tool, _, _ := strings.Cut(name, "-")
			tree, want := project(t, archive)
			var reports []string
			for _, box := range able(t, boxes, name, tool) {
				rep := run(t, box, tool, tree)
				got := lines(rep)
				if *update && box.Name() == local.Name {
					rewrite(t, archive, got)
				}
				if got != want && !*update {
					t.Errorf("%s (-want +got):\n%s\n%s", box.Name(), gocmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), rep.Inconsistent)
				}
				reports = append(reports, words(t, rep))
			}
			if d := gocmp.Diff(reports[0], reports[len(reports)-1]); d != "" {
				t.Errorf("the sandboxes disagree (-docker +local):\n%s", d)
			}
		})
	}
}

// able are the sandboxes that have a tool: where this machine lacks it, the engine's alone.
func able(t *testing.T, boxes []replay.Sandbox, name, tool string) []replay.Sandbox {
	t.Helper()
	if tool == "cargo" {
		hasRust(t)
	}
	if err := lacking(t, name, tool); err != nil {
		t.Logf("in docker only: %v", err)
		return boxes[:1]
	}
	return boxes
}

// lacking names a program that a project needs and this machine lacks. Where all must be there, that is a failure, but for those that are left
// out by default.
func lacking(t *testing.T, name, tool string) error {
	t.Helper()
	for _, program := range programs[tool] {
		if _, err := exec.LookPath(program); err != nil {
			if !slow[name] && os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
				t.Fatal(err)
			}
			return err
		}
	}
	return nil
}

// words is a report as text, without what is the machine's own.
func words(t *testing.T, rep replay.Report) string {
	t.Helper()
	for file, text := range rep.Broken {
		rep.Broken[file] = ofMachine.ReplaceAllString(text, "")
	}
	for i := range rep.Tests {
		rep.Tests[i].Message = strings.TrimSpace(ofMachine.ReplaceAllString(rep.Tests[i].Message, ""))
	}
	data, err := json.MarshalIndent(rep, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
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

// ofMachine are lines that name node's version, places in node's, Python's and Java's own files, the addresses in Go's stacks and how it repeats a
// panic, lines of makefiles that CMake wrote, and how GoogleTest frames its cases: the image and this machine may have two versions, in two folders.
var ofMachine = regexp.MustCompile(`(?m)^.*(?:node:internal|Node\.js v|/lib/python3\.\d+/|/lib/jvm/|\b0x[0-9a-f]+|\[recovered|^\tpanic: |^goroutine |` +
	`^gmake\[?|^\[(?:  FAILED  |-{10})\]).*\n?|^\n`)

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
	if r.Base != nil && tool != "maven" { // a compiled standard library takes longer than what it saves here; Maven's has programs of ours
		r.Base, r.Fingerprint = nil, r.Fingerprint+"-bare"
	}
	env, err := box.Prepare(t.Context(), r, tree)
	if failed := new(replay.InstallError); errors.As(err, &failed) {
		t.Fatalf("%s: %v\n%s", box.Name(), err, failed.Log)
	}
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
	if d := gocmp.Diff(words(t, first), words(t, again)); d != "" {
		t.Errorf("%s: a repeat that began with what the first built (-first +repeat):\n%s", box.Name(), d)
	}
	return again
}

// lines are what an archive's want says.
func lines(r replay.Report) string {
	text := tooltest.ViewOf(r).Tests
	for _, name := range slices.Sorted(maps.Keys(r.Broken)) {
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
