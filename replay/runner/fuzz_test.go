package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/replay"
)

// FuzzParse gives both runners arbitrary bytes as report, console and errors.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*")
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
	f.Fuzz(func(t *testing.T, report, console []byte, exit int) {
		res := replay.Result{Files: map[string][]byte{junitFile: report}, Steps: []replay.StepResult{
			{Name: StepTest, Stop: replay.Exited, ExitCode: exit, Stdout: report, Stderr: console},
			{Name: StepExplain, Stop: replay.Exited, Stdout: console},
		}}
		for _, run := range []replay.Runner{goTest{}, pyTest{}} {
			sound(t, run.Parse(replay.Recipe{}, replay.Target{}, res), exit)
		}
	})
}

// sound checks what holds for every report.
func sound(t *testing.T, r replay.Report, exit int) {
	t.Helper()
	failures := len(r.Broken) > 0
	for i, test := range r.Tests {
		if i > 0 && r.Tests[i-1].ID >= test.ID {
			t.Errorf("ids %q, %q are not in order or not unique", r.Tests[i-1].ID, test.ID)
		}
		if badness[test.Outcome] == 0 || !utf8.ValidString(test.ID+test.Message) || !strings.Contains(test.ID, "::") {
			t.Errorf("unsound test %+v", test)
		}
		failures = failures || bad(test.Outcome)
	}
	if exit != 0 && !failures && r.Inconsistent == "" {
		t.Errorf("exit %d without a failure is believed", exit)
	}
	someBad := slices.ContainsFunc(r.Tests, func(x replay.Test) bool { return bad(x.Outcome) })
	if exit == 0 && someBad && r.Inconsistent == "" {
		t.Error("exit 0 with a failure is believed")
	}
	if len(r.Tests) == 0 && !failures && r.Inconsistent == "" {
		t.Error("a run without tests is believed")
	}
}
