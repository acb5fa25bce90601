package tools

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

// TestTable checks what holds for the table as a whole.
func TestTable(t *testing.T) {
	t.Parallel()
	names, languages := map[string]bool{}, map[string][]string{}
	owner := map[string]string{}
	for _, tool := range table {
		if names[tool.Name()] || tool.Name() == "" {
			t.Errorf("two tools are named %q, or one has no name", tool.Name())
		}
		names[tool.Name()] = true
		if got, err := For(tool.Name()); err != nil || got != replay.Runner(tool) {
			t.Errorf("%s is not found by its name: %v", tool.Name(), err)
		}
		l := tool.Language()
		if old, known := languages[l.Name]; known && !slices.Equal(old, l.Extensions) || len(l.Extensions) == 0 {
			t.Errorf("%s: the extensions of %s are %q and %q", tool.Name(), l.Name, old, l.Extensions)
		}
		languages[l.Name] = l.Extensions
		for _, x := range l.Extensions {
			if other := owner[x]; other != "" && other != l.Name || !strings.HasPrefix(x, ".") {
				t.Errorf("extension %q of %s is also %s's", x, l.Name, other)
			}
			owner[x] = l.Name
		}
	}
	if _, err := For("make"); err == nil {
		t.Error("there is a tool that nobody wrote")
	}
}

// TestImages: tools of one language share an image, a tree's recipe names it, and a flag's image comes first.
func TestImages(t *testing.T) {
	t.Parallel()
	byLanguage := map[string]string{}
	for _, tool := range table {
		image, l := Image(tool.Name()), tool.Language().Name
		if !strings.HasPrefix(image, "sluice/") || !slices.Contains(Images(), image) {
			t.Errorf("%s wants the image %q", tool.Name(), image)
		}
		if old, known := byLanguage[l]; known && old != image {
			t.Errorf("the tools of %s want %s and %s", l, old, image)
		}
		byLanguage[l] = image
	}
	if got := Image("make"); got != DefaultImage {
		t.Errorf("an unknown tool wants %q", got)
	}
	tree := tooltest.Tree{"go.mod": "module m\n", "a_test.go": "package m\n"}
	if r := detect(t, tree); r.Image != Image("gotest") {
		t.Errorf("the recipe names %q", r.Image)
	}
	if r, err := Detect(t.Context(), tree, Options{Image: "mine"}); err != nil || r.Image != "mine" {
		t.Errorf("the flag's image came second: %q, %v", r.Image, err)
	}
}

// steps are the steps of a tool over a recipe that it would make.
func steps(tool Tool) []replay.Step {
	return tool.Steps(replay.Recipe{Runner: tool.Name()}, replay.Target{})
}

// TestSteps: each tool has one step of tests, none reads what another run left, and no path is of this machine.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		n := 0
		for _, s := range steps(tool) {
			if s.Name == StepTest {
				n++
			}
			if len(s.Args) == 0 || s.Name == "" {
				t.Errorf("%s: a step without a name or command: %+v", tool.Name(), s)
			}
		}
		if n != 1 {
			t.Errorf("%s has %d steps named %q", tool.Name(), n, StepTest)
		}
	}
}

// TestNoReport: whatever the exit code, a run that left nothing is evidence of nothing.
func TestNoReport(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		for _, exit := range []int{0, 1, 2, 5, 139} {
			for _, files := range []map[string][]byte{nil, leave(tool, nil)} {
				res := replay.Result{Files: files, Steps: []replay.StepResult{{Name: StepTest, Stop: replay.Exited, ExitCode: exit}}}
				r := tool.Parse(replay.Recipe{}, replay.Target{}, res)
				if r.Inconsistent == "" || len(r.Tests) > 0 {
					t.Errorf("%s believes exit %d without a report: %+v", tool.Name(), exit, r)
				}
				tooltest.Sound(t, r, exit)
			}
		}
	}
}

var outFile = regexp.MustCompile(`\{out\}/([A-Za-z0-9._-]+)`)

// leave puts the same bytes into every file that a tool's steps name in {out}.
func leave(tool Tool, data []byte) map[string][]byte {
	files := map[string][]byte{}
	for _, s := range steps(tool) {
		for _, a := range s.Args {
			for _, m := range outFile.FindAllStringSubmatch(a, -1) {
				files[m[1]] = data
			}
		}
	}
	return files
}

// FuzzParse gives every tool arbitrary bytes as report, console and errors.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("*/testdata/*/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no captured outputs: %v", err)
	}
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 8<<10)], []byte("# p\nx.go:1:1: y"), i%6)
	}
	f.Add([]byte("PASSED"), []byte("\x00\xff"), -1)
	f.Add([]byte("<testcase><testcase"), []byte("FAIL\tp [build failed]\n"), 1)
	f.Fuzz(func(t *testing.T, left, console []byte, exit int) {
		for _, tool := range table {
			res := replay.Result{Files: leave(tool, left), Steps: []replay.StepResult{
				{Name: StepTest, Stop: replay.Exited, ExitCode: exit, Stdout: left, Stderr: console},
			}}
			for _, s := range steps(tool) {
				if s.IfFailed == StepTest {
					res.Steps = append(res.Steps, replay.StepResult{Name: s.Name, Stop: replay.Exited, Stdout: console})
				}
			}
			tooltest.Sound(t, tool.Parse(replay.Recipe{}, replay.Target{}, res), exit)
		}
	})
}

func TestBuildStepFails(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{Build: []replay.Step{{Name: "install"}}}
	res := replay.Result{Steps: []replay.StepResult{
		{Name: "install", Stop: replay.Exited, ExitCode: 1, Stderr: []byte("no compiler")},
		{Name: StepTest, Stop: replay.Skipped},
	}}
	for _, run := range table {
		got := run.Parse(r, replay.Target{}, res)
		tooltest.Diff(t, got, tooltest.View{Phases: "failed not-run not-run", Broken: "install"})
		lost := run.Parse(replay.Recipe{}, replay.Target{}, replay.Result{})
		tooltest.Diff(t, lost, tooltest.View{Phases: "unknown unknown unknown", Doubt: "the tests were never started"})
	}
}

// TestToolsAreApart: a tool's folder is its own; what two tools share is a package beside them.
func TestToolsAreApart(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		files, err := filepath.Glob(tool.Name() + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no folder of its name: %v", tool.Name(), err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range file.Imports {
				for _, other := range table {
					if other.Name() != tool.Name() && spec.Path.Value == strconv.Quote("sluice/replay/tools/"+other.Name()) {
						t.Errorf("%s imports the tool %s", name, other.Name())
					}
				}
			}
		}
	}
}
