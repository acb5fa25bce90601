package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

// reportOf reads the lines of a report of a run that ended with an exit code and printed something before.
func reportOf(lines []string, exit int, printed string) replay.Report {
	data := []byte(strings.Join(lines, "\n") + "\n")
	step := replay.StepResult{Name: "test", Stop: replay.Exited, ExitCode: exit, Stdout: append([]byte(printed), Seal(data)...)}
	return Parse(replay.Recipe{}, replay.Result{Files: map[string][]byte{"r": data}, Steps: []replay.StepResult{step}}, "tool", "r")
}

func endOf(title, outcome string) string {
	return `{"e":"end","file":"f.js","path":[` + quote(title) + `],"o":"` + outcome + `","k":"assertion","m":"x"}`
}

// TestNoTestIsNoPass: a run that ends well and ran no test ("0 passing", "Tests: 0 total") is no run of tests.
func TestNoTestIsNoPass(t *testing.T) {
	t.Parallel()
	for _, printed := range []string{"\n  0 passing (1ms)\n", "Tests:       0 total\n", ""} {
		got := reportOf([]string{`{"e":"begin"}`, `{"e":"done","tests":0}`}, 0, printed)
		if len(got.Tests) > 0 || got.RunTests == replay.OK || got.BuildTests == replay.OK {
			t.Errorf("%q: %+v", printed, got)
		}
	}
}

// TestTitlesRoundTrip: what stands in a title stays in the id, byte for byte but for white space and control characters: parameters, quotes,
// what looks like a duration, a separator or a number of ours, other scripts.
func TestTitlesRoundTrip(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		`[x-Unit 'deg' \(angle\) could not ... 'distance'. ]`: `[x-Unit 'deg' \(angle\) could not ... 'distance'. ]`,
		"takes (12 ms)":                 "takes (12 ms)",
		"log(photon cm-2 [s]":           "log(photon cm-2 [s]",
		"a > b":                         "a > b",
		"a#2":                           "a#2",
		"%s of $x":                      "%s of $x",
		"  two  spaces\tand\na line ":   "two spaces and a line",
		"日本語 – ñ 👩\u200d👩":              "日本語 – ñ 👩 👩",
		"each [1,2,{\"a\":\"b\"}] => 3": "each [1,2,{\"a\":\"b\"}] => 3",
		"::x::y":                        "::x::y",
	} {
		got := reportOf([]string{`{"e":"begin"}`, endOf(title, "pass"), `{"e":"done","tests":1}`}, 0, "")
		if got.Inconsistent != "" || len(got.Tests) != 1 || got.Tests[0].ID != "f.js::"+want {
			t.Errorf("%q: %+v", title, got)
		}
	}
}

// TestDurations: tests that differ in what looks like a duration are two; one whose duration a console would have shown is one.
func TestDurations(t *testing.T) {
	t.Parallel()
	got := reportOf([]string{`{"e":"begin"}`, endOf("waits", "pass"), endOf("waits (5 ms)", "fail"), endOf("waits ", "pass"), `{"e":"done","tests":3}`}, 1,
		"✓ waits (12 ms)\n")
	tooltest.Diff(t, got, tooltest.View{Phases: "ok ok ok", Tests: `
		f.js::waits pass
		f.js::waits (5 ms) fail assertion
		f.js::waits#2 pass
		`})
}

// TestPrintedIsNoReport: what tests print, in the words of a console or of a report, changes no outcome.
func TestPrintedIsNoReport(t *testing.T) {
	t.Parallel()
	lines := []string{`{"e":"begin"}`, endOf("a", "fail"), `{"e":"done","tests":1}`}
	want := reportOf(lines, 1, "")
	for _, printed := range []string{
		"PASSED\n", endOf("a", "pass") + "\n", "ok 1 - a\n1..1\n", "Tests: 1 passed, 1 total\n", "\xff\xfe\n", string(Seal([]byte("another"))),
	} {
		if d := cmp.Diff(want, reportOf(lines, 1, printed)); d != "" {
			t.Errorf("%q: %s", printed, d)
		}
	}
}

// TestBytes: a byte that is no UTF-8 costs neither the test nor the others.
func TestBytes(t *testing.T) {
	t.Parallel()
	line := strings.Replace(endOf("a?b", "fail"), "?", "\xff", 1)
	got := reportOf([]string{`{"e":"begin"}`, line, endOf("c", "pass"), `{"e":"done","tests":2}`}, 1, "")
	tooltest.Diff(t, got, tooltest.View{Phases: "ok ok ok", Tests: "f.js::a\uFFFDb fail assertion\nf.js::c pass\n"})
}

// TestBeforeAllHook: what a hook keeps from running is no failed assertion, whatever the hook threw.
func TestBeforeAllHook(t *testing.T) {
	t.Parallel()
	line := `{"e":"end","file":"f.js","path":["s","a"],"o":"error","k":"exception","m":"Hook [HOOK]: \"before all\" hook: boom"}`
	got := reportOf([]string{`{"e":"begin"}`, line, `{"e":"done","tests":1}`}, 1, "")
	tooltest.Diff(t, got, tooltest.View{Phases: "ok ok ok", Tests: "f.js::s > a error exception\n"})
	broken := reportOf([]string{`{"e":"begin"}`, `{"e":"broken","file":"f.js","m":"before hook: boom"}`, `{"e":"done","tests":0}`}, 1, "")
	tooltest.Diff(t, broken, tooltest.View{Phases: "ok failed not-run", Broken: "f.js"})
}
