package gotest

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

// TestOddNames: names with spaces, slashes, other scripts, bytes that are no text, double names, examples and seeds of fuzz tests are
// ids, whole and apart (names cut at their first space became ambiguous: SWE-bench#43, #279, #290).
func TestOddNames(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"go1.21", "go1.26"} {
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, "names", 1))
		tooltest.Diff(t, got, tooltest.View{Phases: goFine, Tests: `
			example.com/odd/names::ExampleNames pass
			example.com/odd/names::FuzzSeed fail assertion
			example.com/odd/names::FuzzSeed/kept pass
			example.com/odd/names::FuzzSeed/seed#0 pass
			example.com/odd/names::FuzzSeed/seed#1 fail assertion
			example.com/odd/names::TestNames fail assertion
			example.com/odd/names::TestNames/#00 pass
			example.com/odd/names::TestNames/---_PASS:_TestX_(0.00s) pass
			example.com/odd/names::TestNames/a/b fail assertion
			example.com/odd/names::TestNames/bad` + "\uFFFD" + `byte pass
			example.com/odd/names::TestNames/line_break pass
			example.com/odd/names::TestNames/quote"s pass
			example.com/odd/names::TestNames/same pass
			example.com/odd/names::TestNames/same#01 pass
			example.com/odd/names::TestNames/same#01#01 pass
			example.com/odd/names::TestNames/tab_here pass
			example.com/odd/names::TestNames/with_space pass
			example.com/odd/names::TestNames/ünï_çödé_日本 pass
			`})
		tooltest.Sound(t, got, 1)
	}
}

// TestGluedOutput: what a test prints without a newline is glued to the line that ends it, and may look like another test's end
// (SWE-bench_Pro-os#76, multi-swe-bench#52). Nothing of it changes an outcome.
func TestGluedOutput(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"go1.21", "go1.26"} {
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, "glued", 1))
		tooltest.Diff(t, got, tooltest.View{Phases: goFine, Tests: `
			example.com/odd/glued::TestCarriage pass
			example.com/odd/glued::TestFails fail assertion
			example.com/odd/glued::TestFakes pass
			example.com/odd/glued::TestGlued pass
			example.com/odd/glued::TestStderr pass
			example.com/odd/glued::TestSub pass
			example.com/odd/glued::TestSub/glued skip
			`})
	}
}

// TestOddEnds: binaries that end in ways of their own. A test that was never reached is not in the report: it did not pass
// (SWE-smith#24), and a run in which none ran proves nothing (SWE-bench 395389c).
func TestOddEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit int
		want tooltest.View
	}{
		"exit0": {1, tooltest.View{Phases: goFine, Tests: `
			example.com/odd/exit0::TestBefore pass
			example.com/odd/exit0::TestExit fail exception
			`}},
		"mainexit": {0, tooltest.View{Phases: goFine, Doubt: "package example.com/odd/mainexit passed with a failed test", Tests: `
			example.com/odd/mainexit::TestFails fail assertion
			example.com/odd/mainexit::TestFine pass
			`}},
		"mainnone": {0, tooltest.View{Phases: "ok ok unknown", Doubt: "no test ran"}},
		"mainpanic": {1, tooltest.View{Phases: goFine, Doubt: "package example.com/odd/mainpanic failed without a failed test", Tests: `
			example.com/odd/mainpanic::TestFine pass
			`}},
		"race": {1, tooltest.View{Phases: goFine, Tests: `
			example.com/odd/race::TestClean pass
			example.com/odd/race::TestRace fail assertion
			`}},
	} {
		for _, version := range []string{"go1.21", "go1.26"} {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, name, c.exit))
				tooltest.Diff(t, got, c.want)
				tooltest.Sound(t, got, c.exit)
			})
		}
	}
	race := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, "go1.26", "race", 1))
	if words := tooltest.Find(t, race, "example.com/odd/race::TestRace").Message; !strings.Contains(words, "DATA RACE") {
		t.Errorf("a race is reported as %q", words)
	}
	if scopes := (Tool{}).CutShort(race.Tests); len(scopes) > 0 {
		t.Errorf("a race cuts nothing short, and yet %q", scopes)
	}
	exit := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, "go1.26", "exit0", 1))
	if scopes := (Tool{}).CutShort(exit.Tests); len(scopes) != 1 || scopes[0] != "example.com/odd/exit0::" {
		t.Errorf("an exit cuts short %q", scopes)
	}
}
