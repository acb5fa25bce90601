package tooltest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// View is a report without the words of the tools.
type View struct {
	Phases string // build source, build tests, run tests
	Tests  string // "id outcome kind" lines
	Broken string // sorted names
	Doubt  string
}

// ViewOf shortens a report.
func ViewOf(r replay.Report) View {
	v := View{Doubt: r.Inconsistent}
	v.Phases = strings.Join([]string{string(r.BuildSource), string(r.BuildTests), string(r.RunTests)}, " ")
	for _, t := range r.Tests {
		v.Tests += strings.TrimSpace(strings.Join([]string{t.ID, string(t.Outcome), string(t.Kind)}, " ")) + "\n"
	}
	var broken []string
	for name := range r.Broken {
		broken = append(broken, name)
	}
	sort.Strings(broken)
	v.Broken = strings.Join(broken, " ")
	return v
}

// Diff compares a report with a view; white space at the beginning of its lines does not count.
func Diff(t testing.TB, got replay.Report, want View) {
	t.Helper()
	if want.Tests != "" {
		want.Tests = strings.ReplaceAll(strings.TrimLeft(want.Tests, "\n"), "\t", "")
	}
	if d := cmp.Diff(want, ViewOf(got)); d != "" {
		t.Errorf("report differs (-want +got):\n%s\nbroken: %v", d, got.Broken)
	}
}

// Captured reads a file of testdata; one that is not there is empty: an empty output was not kept.
func Captured(t testing.TB, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elem...)...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

// CapturedAll reads the files of a folder of testdata, by their names; "+" in a name there is a "/". There must be some.
func CapturedAll(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing was captured of %s: %v", folder, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		files[strings.ReplaceAll(filepath.Base(name), "+", "/")] = ReadFile(t, name)
	}
	return files
}

// Left is what a run left whose tests' step ended by itself.
type Left struct {
	Recipe replay.Recipe
	Files  map[string][]byte
	Stdout []byte
	Exit   int
}

// Parse has a tool read what a run left. The report must be sound.
func Parse(t testing.TB, tool replay.Runner, l Left) replay.Report {
	t.Helper()
	step := replay.StepResult{Name: report.StepTest, Stop: replay.Exited, ExitCode: l.Exit, Stdout: l.Stdout}
	r := tool.Parse(l.Recipe, replay.Target{}, replay.Result{Files: l.Files, Steps: []replay.StepResult{step}})
	Sound(t, r, l.Exit)
	return r
}

// Find returns a test of a report.
func Find(t testing.TB, r replay.Report, id string) replay.Test {
	t.Helper()
	for _, test := range r.Tests {
		if test.ID == id {
			return test
		}
	}
	t.Fatalf("no test %s in %v", id, r.Tests)
	return replay.Test{}
}

// Sound checks what holds for every report of every tool, whatever the run left: exit is the test step's, which ended by itself.
func Sound(t testing.TB, r replay.Report, exit int) {
	t.Helper()
	someBad := false
	for i, test := range r.Tests {
		if i > 0 && r.Tests[i-1].ID >= test.ID {
			t.Errorf("ids %q, %q are not in order or not unique", r.Tests[i-1].ID, test.ID)
		}
		if !report.Known(test.Outcome) || !utf8.ValidString(test.ID+test.Message) || !strings.Contains(test.ID, "::") {
			t.Errorf("unsound test %+v", test)
		}
		someBad = someBad || report.Bad(test.Outcome)
	}
	failures := someBad || len(r.Broken) > 0
	if exit != 0 && !failures && r.Inconsistent == "" {
		t.Errorf("exit %d without a failure is believed", exit)
	}
	if exit == 0 && someBad && r.Inconsistent == "" {
		t.Error("exit 0 with a failure is believed")
	}
	if len(r.Tests) == 0 && !failures && r.Inconsistent == "" {
		t.Error("a run without tests is believed")
	}
}
