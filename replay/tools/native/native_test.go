package native

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/report"
	"sluice/replay/tools/tooltest"
)

func TestWants(t *testing.T) {
	t.Parallel()
	w := Wants{}
	w.Add("cmake", "ZLIB")
	w.Add("cmake", "Threads")
	w.Add("pkg", "zlib")
	w.Add("pkg", "unheard-of")
	list, notes := w.Packages()
	if d := cmp.Diff([]string{"zlib1g-dev"}, list); d != "" || len(notes) != 1 || !strings.Contains(notes[0], "pkg unheard-of") {
		t.Errorf("%s notes %q", d, notes)
	}
	if Install(nil) != nil {
		t.Error("nothing is installed by a step")
	}
}

// TestDied: assert() and an exception that nobody catches end a program by a signal, as a crash does.
func TestDied(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]replay.Kind{
		"x: a.c:2: main: Assertion `1+1==3' failed.\n":                   replay.Assertion,
		"**\nERROR:../a.c:3:test: assertion failed (a == b): (1 == 2)\n": replay.Assertion,
		"terminate called after throwing an instance of 'int'\n":         replay.Exception,
		"": replay.Crash, "the word assertion\n": replay.Crash,
	} {
		if got := Died(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestGtestOfOldVersions: a skip is an attribute there, and cases that a filter left out are listed.
func TestGtestOfOldVersions(t *testing.T) {
	t.Parallel()
	xml := `<testsuites><testsuite name="S"><testcase name="A" status="run" result="skipped" classname="S"/>
		<testcase name="B" status="run" result="completed" classname="S"/><testcase name="C" status="notrun" result="suppressed" classname="S"/></testsuite></testsuites>`
	for only, want := range map[string]string{"": "t::S.A skip\nt::S.B pass\nt::S.C skip\n", "S.B": "t::S.B pass\n"} {
		a := &Analysis{Files: map[string][]byte{"c.xml": []byte(xml)}}
		a.Gtest(Run{Cases: "c.xml", Prefix: "t", Case: only}, replay.Test{Outcome: replay.Pass})
		if got := tooltest.ViewOf(replay.Report{Tests: a.tests.Sorted()}).Tests; got != want || a.Doubt.Reason != "" {
			t.Errorf("of %q: got %q, %s", only, got, a.Doubt.Reason)
		}
	}
}

// TestSteps: the build's folder is told to all steps, and the program is one.
func TestSteps(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{Root: "sub", Build: Plan{Root: "sub", Dir: "build-sluice"}.Build("pass")}
	steps := Test(r, replay.Target{}, "pass")
	if BuiltIn(r) != "build-sluice" || len(steps) != 3 || steps[2].Name != report.StepTest || steps[2].Dir != "sub" {
		t.Errorf("steps %+v", steps)
	}
	for _, s := range steps {
		if !strings.Contains(s.Args[len(s.Args)-1], `"build":"build-sluice"`) || !strings.HasSuffix(s.Args[3], "\n\npass") {
			t.Errorf("step %s: %q", s.Name, s.Args[len(s.Args)-1])
		}
	}
}
