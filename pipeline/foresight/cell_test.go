package foresight

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/narrow"
)

// report makes a report from "outcome/kind" by test id.
func report(tests map[string]string) replay.Report {
	r := replay.Report{BuildSource: replay.OK, BuildTests: replay.OK, RunTests: replay.OK, Stop: replay.Exited}
	for _, id := range sortedKeys(tests) {
		t := replay.Test{ID: id}
		switch tests[id] {
		case "assertion":
			t.Outcome, t.Kind = replay.Fail, replay.Assertion
		case "build":
			t.Outcome, t.Kind = replay.Error, replay.Build
		case "collection":
			t.Outcome, t.Kind = replay.Error, replay.Collection
		default:
			t.Outcome = replay.Outcome(tests[id])
		}
		r.Tests = append(r.Tests, t)
	}
	return r
}

// flaky is a cell in which a test's outcomes differ between the runs.
func flaky(id string, c Cell) Cell {
	c.Tests = maps.Clone(c.Tests)
	delete(c.Tests, id)
	c.Flaky = append(slices.Clone(c.Flaky), id)
	return c
}

func cell(tests map[string]string) Cell { return merge("x", "gotest", []replay.Report{report(tests)}) }

func TestMerge(t *testing.T) {
	t.Parallel()
	c := merge("h1", "gotest", []replay.Report{
		report(map[string]string{"steady": "pass", "fails": "assertion", "turns": "pass", "goes": "pass"}),
		report(map[string]string{"steady": "pass", "fails": "assertion", "turns": "fail", "comes": "pass"}),
	})
	if diff := cmp.Diff([]string{"comes", "goes", "turns"}, c.Flaky); diff != "" {
		t.Error(diff)
	}
	if c.outcome("steady") != replay.Pass || c.outcome("fails") != replay.Fail || c.outcome("turns") != replay.Missing || c.Runs != 2 {
		t.Errorf("%+v", c)
	}
}

func TestMergeLaws(t *testing.T) {
	t.Parallel()
	outcomes := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.SampledFrom([]string{"pass", "assertion", "skip", "build"}))
	rapid.Check(t, func(t *rapid.T) {
		var reports []replay.Report
		for _, m := range rapid.SliceOfN(outcomes, 1, 4).Draw(t, "runs") {
			reports = append(reports, report(m))
		}
		c := merge("x", "gotest", reports)
		for _, id := range c.Flaky {
			if _, ok := c.Tests[id]; ok {
				t.Fatalf("%s is flaky and listed", id)
			}
		}
		// The order of the runs does not matter, and a run repeated changes nothing.
		back := merge("x", "gotest", append([]replay.Report{reports[len(reports)-1]}, reports...))
		if diff := cmp.Diff(c.Flaky, back.Flaky); diff != "" {
			t.Fatal(diff)
		}
		if len(reports) == 1 && len(c.Flaky) > 0 {
			t.Fatal("one run cannot show that a test is flaky")
		}
	})
}

func TestTroubleIsNoVerdictOnTests(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*replay.Report){
		"run-timeout":      func(r *replay.Report) { r.Stop = replay.Timeout },
		"run-disk":         func(r *replay.Report) { r.Stop = replay.DiskFull },
		"run-oom":          func(r *replay.Report) { r.Stop = replay.OOM },
		"run-inconsistent": func(r *replay.Report) { r.Inconsistent = "exit 1 without a failure" },
	} {
		r := report(map[string]string{"a": "pass"})
		spoil(&r)
		c := merge("h2", "gotest", []replay.Report{report(map[string]string{"a": "pass"}), r})
		if c.Trouble == nil || c.Trouble.Code != want {
			t.Errorf("%s: %+v", want, c.Trouble)
		}
	}
}

func TestFixVerdicts(t *testing.T) {
	t.Parallel()
	type tests = map[string]string
	for _, tt := range []struct {
		name                  string
		after, before, origin Cell
		code                  string
		anticipation          []string
	}{
		{name: "anticipation", after: cell(tests{"a": "pass", "b": "pass"}), before: cell(tests{"a": "assertion", "b": "pass"}),
			origin: cell(tests{"a": "assertion", "b": "pass"}), anticipation: []string{"a"}},
		{name: "error and time-out count as run", after: cell(tests{"a": "pass", "b": "pass"}), before: cell(tests{"a": "error", "b": "timeout"}),
			origin: cell(tests{"a": "error", "b": "timeout"}), anticipation: []string{"a", "b"}},
		{name: "missing before the fix counts", after: cell(tests{"a": "pass"}), before: cell(nil), origin: cell(tests{"a": "assertion"}), anticipation: []string{"a"}},
		{name: "nothing passes after", after: cell(tests{"a": "assertion"}), code: "fix-tests-do-not-pass"},
		{name: "passes before", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "pass"}), code: "no-fail-to-pass"},
		{name: "passes on h1", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "assertion"}), origin: cell(tests{"a": "pass"}), code: "not-anticipation"},
		{name: "skipped on h1", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "assertion"}), origin: cell(tests{"a": "skip"}), code: "not-anticipation"},
		{name: "one is missing on h1, another passes", after: cell(tests{"a": "pass", "b": "pass"}), before: cell(tests{"a": "assertion", "b": "assertion"}),
			origin: cell(tests{"b": "pass"}), code: "anticipation-not-executable"},
		{name: "one is missing on h1, another is flaky", after: cell(tests{"a": "pass", "b": "pass"}), before: cell(tests{"a": "assertion", "b": "assertion"}),
			origin: Cell{Flaky: []string{"b"}}, code: "anticipation-not-executable"},
		{name: "the only one is flaky on h1", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "assertion"}), origin: Cell{Flaky: []string{"a"}}, code: "flaky-only"},
		{name: "does not build on h1", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "assertion"}), origin: cell(tests{"a": "build"}), code: "anticipation-not-executable"},
		{name: "not collected on h1", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "assertion"}), origin: cell(tests{"a": "collection"}), code: "anticipation-not-executable"},
		{name: "missing on h1", after: cell(tests{"a": "pass"}), before: cell(tests{"a": "assertion"}), origin: cell(nil), code: "anticipation-not-executable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := FixRuns{After: tt.after, Before: tt.before, Origin: tt.origin}
			for i := 0; i < 3 && r.Verdict == nil; i++ {
				r.decide(i)
			}
			code := ""
			if r.Verdict != nil {
				code = r.Verdict.Code
			}
			if code != tt.code {
				t.Errorf("code %q, want %q", code, tt.code)
			}
			if diff := cmp.Diff(tt.anticipation, r.Anticipation); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFlakyTestsLeaveEveryList(t *testing.T) {
	t.Parallel()
	twice := func(a, b string) Cell {
		return merge("x", "gotest", []replay.Report{report(map[string]string{"t": a, "u": "pass"}), report(map[string]string{"t": b, "u": "pass"})})
	}
	r := FixRuns{After: twice("pass", "pass"), Before: twice("assertion", "pass")}
	r.decide(0)
	r.decide(1)
	if r.Verdict == nil || r.Verdict.Code != "flaky-only" {
		t.Errorf("%+v", r.Verdict)
	}
	tr := TaskRuns{After: twice("pass", "pass"), Before: twice("assertion", "pass")}
	tr.decide()
	if tr.Verdict == nil || tr.Verdict.Code != "task-flaky-only" {
		t.Errorf("%+v", tr.Verdict)
	}
	fr := FixRuns{After: cell(map[string]string{"t": "pass"}), Anticipation: []string{"t", "v"}}
	base := twice("pass", "skip")
	g := goldOf(fr, TaskRuns{FailToPass: []string{"t", "w"}, PassToPass: []string{"t"}}, OriginRuns{Base: &base}, ClockRuns{})
	if diff := cmp.Diff(Gold{TaskFailToPass: []string{"w"}, TaskPassToPass: []string{}, Anticipation: []string{"v"}, Flaky: []string{"t"}, TaskKinds: map[string]string{"w": ""},
		AnticipationKinds: map[string]string{"v": "missing"},
		Excluded:          []pipeline.Excluded{{Test: "t", Reason: "flaky", State: "x", Outcomes: []string{"pass", "skip"}}}}, g); diff != "" {
		t.Error(diff)
	}
}

func TestTaskLists(t *testing.T) {
	t.Parallel()
	broken := cell(map[string]string{"old": "pass"})
	broken.Broken = map[string]string{"m/p": "undefined: New"}
	r := TaskRuns{
		After:  cell(map[string]string{"new": "pass", "old": "pass", "skipped": "pass", "fails": "assertion"}),
		Before: broken,
	}
	r.Before.Tests["skipped"] = replay.Test{ID: "skipped", Outcome: replay.Skip}
	r.decide()
	if r.Verdict != nil {
		t.Fatal(r.Verdict)
	}
	want := TaskRuns{FailToPass: []string{"new"}, PassToPass: []string{"old"}, Kinds: map[string]string{"new": "build"}}
	got := TaskRuns{FailToPass: r.FailToPass, PassToPass: r.PassToPass, Kinds: r.Kinds}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A panic ends the package: what is missing after it is neither before nor after.
func TestMissingAfterAPanicIsNoEvidence(t *testing.T) {
	t.Parallel()
	panicked := report(map[string]string{"m::TestEarly": "pass"})
	panicked.Tests = append(panicked.Tests, replay.Test{ID: "m::TestPanics", Outcome: replay.Error, Kind: replay.Exception})
	after := cell(map[string]string{"m::TestEarly": "pass", "m::TestPanics": "pass", "m::TestLate": "pass", "n::TestOther": "pass"})
	r := TaskRuns{After: after, Before: merge("b1+T1", "gotest", []replay.Report{panicked})}
	r.decide()
	if diff := cmp.Diff([]string{"m::TestPanics", "n::TestOther"}, r.FailToPass); diff != "" {
		t.Error(diff)
	}
	f := FixRuns{After: after, Before: r.Before}
	f.decide(0)
	f.decide(1)
	if diff := cmp.Diff([]string{"m::TestPanics", "n::TestOther"}, f.FailToPass); diff != "" {
		t.Error(diff)
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	file := func(path, data string) replay.File { return replay.File{Path: path, Data: []byte(data)} }
	got := over(
		replay.Overlay{Files: []replay.File{file("a", "1"), file("helper", "1"), file("old", "1")}, Remove: []string{"gone", "back"}},
		replay.Overlay{Files: []replay.File{file("a", "2"), file("back", "2")}, Remove: []string{"old"}})
	want := replay.Overlay{Files: []replay.File{file("a", "2"), file("back", "2"), file("helper", "1")}, Remove: []string{"gone", "old"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAchievable(t *testing.T) {
	t.Parallel()
	fr := FixRuns{Anticipation: []string{"a", "a2"}}
	tr := TaskRuns{FailToPass: []string{"t"}, PassToPass: []string{"p", "p2"}}
	pass := cell(map[string]string{"a": "pass", "a2": "pass", "t": "pass", "p": "pass", "p2": "pass"})
	fail := cell(map[string]string{"a": "assertion", "a2": "assertion", "t": "pass", "p": "pass", "p2": "pass"})
	late := cell(map[string]string{"a": "assertion"})
	late.Trouble = &Verdict{"run-timeout", "too slow"}
	for _, tt := range []struct {
		name      string
		cells     []Cell
		want      Achievable
		mechanism string
		kept      bool
	}{
		{"the patch does not apply", []Cell{fail}, Unclear, IncompleteCoverage, false},
		{"proven, and it was right before", []Cell{pass, pass, pass}, Proven, Regression, true},
		{"applies and the tests still fail", []Cell{fail, fail, pass}, NotShown, IncompleteCoverage, true},
		{"some flaky tests are in no list", []Cell{fail, flaky("a2", pass), flaky("p2", pass)}, Proven, IncompleteCoverage, true},
		{"flaky tests alone prove nothing", []Cell{fail, flaky("a", flaky("a2", cell(nil))), pass}, NotShown, IncompleteCoverage, true},
		{"run 6 is in trouble", []Cell{late}, Unclear, UnknownMechanism, false},
		{"the fix breaks the task's own tests", []Cell{fail, pass, cell(map[string]string{"t": "pass", "p": "assertion", "p2": "pass"})}, Proven, IncompleteCoverage, false},
	} {
		r := OriginRuns{Achievable: Unclear}
		r.read(tt.cells[:min(2, len(tt.cells))], fr)
		if len(tt.cells) > 2 {
			r.keep(tt.cells[2], tr)
		}
		if r.Achievable != tt.want || r.Mechanism != tt.mechanism || r.SuiteKept != tt.kept {
			t.Errorf("%s: %s, %s, kept %v", tt.name, r.Achievable, r.Mechanism, r.SuiteKept)
		}
	}
}

// Where narrowing dropped a file, the state's own version of it is seen again: its tests are not the fix's.
func TestDroppedTestsAreNoEvidence(t *testing.T) {
	t.Parallel()
	n := Narrowed{
		Dropped: []narrow.Drop{{File: "a_test.go", Name: "TestDropped", Kind: "func"}, {File: "b_test.go", Name: "b_test.go", Kind: "file"}},
		Removed: []pipeline.Text{pipeline.Text("b_test.go")},
	}
	n.hide(replay.Overlay{Files: []replay.File{
		{Path: "a_test.go", Data: []byte("package a\n\nfunc TestKept(t *testing.T) {}\n")},
		{Path: "b_test.go", Data: []byte("package a\n\nfunc TestGone(t *testing.T) {}\n\nfunc (s *Suite) TestMethod() {}\n")},
	}})
	failing := map[string]string{
		"m::TestDropped": "assertion", "m::TestGone/sub": "assertion", "m::TestSuite/TestMethod": "assertion", "m::TestKept": "assertion",
	}
	r := FixRuns{Origin: cell(failing), FailToPass: sortedKeys(failing), Narrowed: n}
	r.decide(2)
	if diff := cmp.Diff([]string{"m::TestKept"}, r.Anticipation); diff != "" {
		t.Error(diff)
	}
	n.Hidden = append(n.Hidden, "test_gone")
	if !n.hides("tests/test_a.py::TestC::test_gone[p/q]") || n.hides("tests/test_a.py::TestC::test_x[::test_gone]") || n.hides("m::TestKept/go") {
		t.Errorf("hidden: %v", n.Hidden)
	}
}

// A Python test that fails on a name which came later is what a compiler refuses elsewhere.
func TestNamesThatCameLaterAreNoEvidence(t *testing.T) {
	t.Parallel()
	fails := func(message string) replay.Report {
		return replay.Report{Tests: []replay.Test{{ID: "tests/test_a.py::test_x", Outcome: replay.Fail, Kind: replay.Exception, Message: message}}}
	}
	for message, want := range map[string]string{
		"AttributeError: module 'm' has no attribute 'later'": "anticipation-not-executable",
		"ZeroDivisionError: division by zero":                 "",
	} {
		r := FixRuns{FailToPass: []string{"tests/test_a.py::test_x"}, Origin: merge("h1+T2", "pytest", []replay.Report{fails(message)})}
		r.decide(2)
		code := ""
		if r.Verdict != nil {
			code = r.Verdict.Code
		}
		if code != want {
			t.Errorf("%s: code %q, want %q", message, code, want)
		}
	}
}
