package foresight

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/pipeline"
	"sluice/pipeline/recipes"
	"sluice/replay"
)

// scripted is a matrix whose runs are written down: by the spec's name, the run of each repeat. The last one is repeated. It notes what ran.
func scripted(repeats int, runs map[string][]replay.Report) (*matrix, *[]string) {
	ran := &[]string{}
	m := &matrix{family: &family{set: Settings{Repeats: repeats}}}
	m.env.Recipes = map[string]replay.Recipe{}
	for _, s := range states {
		m.env.Recipes[s] = replay.Recipe{Runner: "pytest"}
	}
	m.runs = func(_ context.Context, s spec, repeat int) (observed, error) {
		*ran = append(*ran, s.Name+" #"+strconv.Itoa(repeat))
		all := runs[s.Name]
		return observed{Observed: recipes.Observed{Report: all[min(repeat, len(all))-1], Conditions: replay.Conditions{Sandbox: "local", CPUs: 1}}}, nil
	}
	return m, ran
}

type tests = map[string]string

func reports(all ...tests) []replay.Report {
	var out []replay.Report
	for _, t := range all {
		out = append(out, report(t))
	}
	return out
}

var t2 = replay.Overlay{Files: []replay.File{{Path: "test_a.py"}}}

// The plan goes from the cheapest run to the dearest, round by round, and ends where no run that is left can change the verdict.
func TestPlanStopsWhenItIsCertain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		runs map[string][]replay.Report
		all  bool
		code string
		ran  string
	}{
		{name: "all repeats of a pair that stands, states in turn",
			runs: map[string][]replay.Report{"h2": reports(tests{"a": "pass"}), "b2+T2": reports(tests{"a": "assertion"}), "h1+T2": reports(tests{"a": "assertion"})},
			ran:  "h2 #1, b2+T2 #1, h1+T2 #1, h2 #2, b2+T2 #2, h1+T2 #2, h2 #3, b2+T2 #3, h1+T2 #3"},
		{name: "the fix's head fails", code: "fix-tests-do-not-pass", runs: map[string][]replay.Report{"h2": reports(tests{"a": "assertion"})}, ran: "h2 #1"},
		{name: "the defect does not show", code: "no-fail-to-pass",
			runs: map[string][]replay.Report{"h2": reports(tests{"a": "pass"}), "b2+T2": reports(tests{"a": "pass"})}, ran: "h2 #1, b2+T2 #1"},
		{name: "the only test turns out flaky in the second round", code: "flaky-only",
			runs: map[string][]replay.Report{"h2": reports(tests{"a": "pass"}), "b2+T2": reports(tests{"a": "assertion"}, tests{"a": "pass"}), "h1+T2": reports(tests{"a": "assertion"})},
			ran:  "h2 #1, b2+T2 #1, h1+T2 #1, h2 #2, b2+T2 #2"},
		{name: "one of two is flaky: the other one still decides",
			runs: map[string][]replay.Report{"h2": reports(tests{"a": "pass", "b": "pass"}), "b2+T2": reports(tests{"a": "assertion", "b": "assertion"}, tests{"a": "pass", "b": "assertion"}),
				"h1+T2": reports(tests{"a": "assertion", "b": "assertion"})},
			ran: "h2 #1, b2+T2 #1, h1+T2 #1, h2 #2, b2+T2 #2, h1+T2 #2, h2 #3, b2+T2 #3, h1+T2 #3"},
		{name: "with --all-runs nothing is left out", all: true, code: "flaky-only",
			runs: map[string][]replay.Report{"h2": reports(tests{"a": "pass"}), "b2+T2": reports(tests{"a": "assertion"}, tests{"a": "pass"}), "h1+T2": reports(tests{"a": "assertion"})},
			ran:  "h2 #1, b2+T2 #1, h1+T2 #1, h2 #2, b2+T2 #2, h1+T2 #2, h2 #3, b2+T2 #3, h1+T2 #3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, ran := scripted(3, tt.runs)
			m.set.AllRuns = tt.all
			out, err := m.fixRuns(t.Context(), t2)
			if err != nil {
				t.Fatal(err)
			}
			code := ""
			if out.Verdict != nil {
				code = out.Verdict.Code
			}
			if code != tt.code {
				t.Errorf("code %q, want %q", code, tt.code)
			}
			if diff := cmp.Diff(tt.ran, strings.Join(*ran, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Stopping early never changes an end: a candidate is out under the plan exactly if it is out when everything runs, and what stands has
// the same lists.
func TestPlanLaw(t *testing.T) {
	t.Parallel()
	run := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"pass", "assertion", "skip", "build", "timeout"}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		script := map[string][]replay.Report{}
		for _, name := range []string{"h2", "b2+T2", "h1+T2", "h1", "b1+T1"} {
			for _, r := range rapid.SliceOfN(run, 1, 3).Draw(t, name) {
				script[name] = append(script[name], report(r))
			}
		}
		plan := func(all bool) (FixRuns, TaskRuns) {
			m, _ := scripted(3, script)
			m.set.AllRuns = all
			fix, err1 := m.fixRuns(context.Background(), t2)
			task, err2 := m.taskRuns(context.Background(), t2)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			return fix, task
		}
		fix, task := plan(false)
		fullFix, fullTask := plan(true)
		if (fix.Verdict == nil) != (fullFix.Verdict == nil) || (task.Verdict == nil) != (fullTask.Verdict == nil) {
			t.Fatalf("the plan says %v and %v, all runs %v and %v", fix.Verdict, task.Verdict, fullFix.Verdict, fullTask.Verdict)
		}
		if diff := cmp.Diff(fullFix, fix); fix.Verdict == nil && diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(fullTask, task); task.Verdict == nil && diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestDisagreementIsExcludedWithItsReason: a gold patch that fails now and then, or a test that passed before it, is no measure; see
// github.com/SWE-bench/SWE-bench/issues/294, where 14 of 500 gold patches failed. What disagrees is out by name, with what it did.
func TestDisagreementIsExcludedWithItsReason(t *testing.T) {
	t.Parallel()
	m, _ := scripted(3, map[string][]replay.Report{
		"h2":    reports(tests{"a": "pass", "b": "pass"}, tests{"a": "pass", "b": "assertion"}, tests{"a": "pass"}),
		"b2+T2": reports(tests{"a": "assertion", "b": "assertion"}), "h1+T2": reports(tests{"a": "assertion", "b": "assertion"}),
		"h1": reports(tests{"t": "pass", "p": "pass", "q": "pass"}, tests{"t": "pass", "p": "pass", "q": "timeout"}), "b1+T1": reports(tests{"p": "pass", "q": "pass"}),
	})
	fix, err := m.fixRuns(t.Context(), t2)
	if err != nil {
		t.Fatal(err)
	}
	task, err := m.taskRuns(t.Context(), t2)
	if err != nil {
		t.Fatal(err)
	}
	want := Gold{
		TaskFailToPass: []string{"t"}, TaskPassToPass: []string{"p"}, TaskKinds: tests{"t": "missing"},
		Anticipation: []string{"a"}, AnticipationKinds: tests{"a": "assertion"}, Flaky: []string{"b", "q"}, Clock: ClockUnknown,
		Excluded: []pipeline.Excluded{
			{Test: "b", Reason: "flaky", State: "h2", Outcomes: []string{"pass", "fail: assertion", "missing"}},
			{Test: "q", Reason: "flaky", State: "h1", Outcomes: []string{"pass", "timeout", "timeout"}},
		},
	}
	if diff := cmp.Diff(want, goldOf(fix, task, OriginRuns{}, ClockRuns{Sensitive: ClockUnknown})); diff != "" {
		t.Error(diff)
	}
	if n := len(fix.After.Conditions); n != 1 {
		t.Errorf("%d conditions for runs that had the same", n)
	}
}

// TestHangIsNoPass: a test that hangs in one run is flaky, one that always does fails; a run that hangs as a whole is evidence of
// nothing. See github.com/SWE-bench/SWE-smith/issues/26.
func TestHangIsNoPass(t *testing.T) {
	t.Parallel()
	c := merge("h1", "pytest", reports(tests{"sometimes": "pass", "always": "timeout"}, tests{"sometimes": "timeout", "always": "timeout"}))
	if diff := cmp.Diff([]string{"sometimes"}, c.Flaky); diff != "" || c.passes("sometimes") || c.passes("always") || len(c.passing()) > 0 {
		t.Errorf("%s %+v", diff, c)
	}
	r := TaskRuns{After: c, Before: cell(nil)}
	if r.decide(); r.Verdict == nil {
		t.Errorf("what hangs is in a list: %+v", r)
	}
	hung := report(tests{"a": "pass"})
	hung.Stop = replay.Timeout
	if c := merge("h1", "pytest", []replay.Report{report(tests{"a": "pass"}), hung}); c.Trouble == nil || c.Trouble.Code != "run-timeout" {
		t.Errorf("%+v", c.Trouble)
	}
}

// TestSetupFailure: what breaks down before the first test says nothing of the code's behaviour; see
// github.com/scaleapi/SWE-bench_Pro-os/issues/76. What does not build is another thing: it cannot run.
func TestSetupFailure(t *testing.T) {
	t.Parallel()
	broke := report(nil)
	broke.RunTests, broke.Broken = replay.Failed, map[string]string{"m/p": "panic: no server\nmore"}
	unbuilt := broke
	unbuilt.BuildTests = replay.Failed
	one := report(tests{"a": "pass"})
	one.RunTests = replay.Failed
	for name, tt := range map[string]struct {
		report replay.Report
		code   string
	}{"initialiser": {broke, "setup-failure"}, "build": {unbuilt, ""}, "after a test": {one, ""}} {
		c := merge("b2+T2", "gotest", []replay.Report{tt.report})
		code := ""
		if c.Trouble != nil {
			code = c.Trouble.Code
		}
		if code != tt.code {
			t.Errorf("%s: %+v, want %q", name, c.Trouble, tt.code)
		}
	}
	m, _ := scripted(3, map[string][]replay.Report{"h2": reports(tests{"a": "pass"}), "b2+T2": {broke}})
	out, err := m.fixRuns(t.Context(), t2)
	if err != nil || out.Verdict == nil || *out.Verdict != (Verdict{"setup-failure", "b2+T2 ended before its first test; m/p: panic: no server"}) {
		t.Errorf("%v %+v", err, out.Verdict)
	}
}

// TestMemoryLimitIsNamed: that a run was killed says nothing without the limit; see github.com/logic-star-ai/swt-bench/issues/15.
func TestMemoryLimitIsNamed(t *testing.T) {
	t.Parallel()
	killed := report(tests{"a": "pass"})
	killed.Stop = replay.OOM
	m, _ := scripted(3, nil)
	var runs []observed
	for _, r := range []replay.Report{report(tests{"a": "pass"}), killed} {
		runs = append(runs, observed{Observed: recipes.Observed{Report: r, Conditions: replay.Conditions{Memory: 512 << 20}}})
	}
	if c := m.merge(spec{Name: "h2", State: stateH2}, runs); c.Trouble == nil || *c.Trouble != (Verdict{"run-oom", "h2 reached the memory limit of 512 MiB"}) {
		t.Errorf("%+v", c.Trouble)
	}
}

// TestClock: what fails only years ahead leaves the lists, what the canary did not see moved is unknown. See
// github.com/MatthiasValvekens/pyHanko/issues/472, where certificates in the tests expired.
func TestClock(t *testing.T) {
	t.Parallel()
	today := cell(tests{"a": "pass", "b": "pass", "other": "pass"})
	d := decisive{state: stateH2, tests: []string{"a", "b"}, today: today}
	broken := cell(tests{"a": "pass"})
	broken.Broken = map[string]string{"test_b.py": "certificate has expired"}
	slow := cell(tests{"a": "pass", "b": "pass"})
	slow.Trouble = &Verdict{"run-timeout", "too slow"}
	for _, tt := range []struct {
		name  string
		ahead Cell
		moved bool
		out   []string
		want  Sensitive
	}{
		{"nothing changes", today, true, nil, ClockInsensitive},
		{"a test fails", cell(tests{"a": "pass", "b": "assertion", "other": "pass"}), true, []string{"b: fail: assertion"}, ClockInsensitive},
		{"a test that does not decide fails", cell(tests{"a": "pass", "b": "pass", "other": "error"}), true, []string{"other: error"}, ClockInsensitive},
		{"a file cannot be loaded", broken, true, []string{"b: missing"}, ClockInsensitive},
		{"a test is skipped", cell(tests{"a": "pass", "b": "skip"}), true, nil, ClockUnknown},
		{"the clock did not move", cell(tests{"a": "assertion", "b": "pass"}), false, nil, ClockUnknown},
		{"the run is evidence of nothing", slow, true, nil, ClockUnknown},
	} {
		r := ClockRuns{Sensitive: ClockInsensitive}
		r.take(d, tt.ahead, tt.moved)
		var out []string
		for _, e := range r.Excluded {
			out = append(out, e.Test+": "+strings.Join(e.Outcomes, ","))
		}
		if diff := cmp.Diff(tt.out, out); diff != "" || r.Sensitive != tt.want || (r.Why == "") != (tt.want == ClockInsensitive) {
			t.Errorf("%s: %s (%s) %s", tt.name, r.Sensitive, r.Why, diff)
		}
	}
	g := goldOf(FixRuns{Anticipation: []string{"a", "b"}}, TaskRuns{}, OriginRuns{}, ClockRuns{Sensitive: ClockSensitive, Excluded: []pipeline.Excluded{{Test: "b"}}})
	if !slices.Equal(g.Anticipation, []string{"a"}) || g.Clock != ClockSensitive || len(g.Flaky) > 0 {
		t.Errorf("%+v", g)
	}
}

func TestCanary(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for _, tt := range []struct {
		told []string
		want bool
	}{
		{[]string{"1000", fmt.Sprint(1001 + int64(year/time.Second))}, true}, {[]string{"1000", "1001"}, false}, {[]string{"", ""}, false}, {nil, false},
		{[]string{"1000", "Traceback"}, false},
	} {
		if got := (observed{Canary: tt.told}).moved(year); got != tt.want {
			t.Errorf("%q: %v", tt.told, got)
		}
	}
	for tool, want := range map[string]int{"gotest": 0, "pytest": 2, "mocha": 2, "ctest": 2, "cargo": 2, "maven": 2} {
		if got := canaries(replay.Recipe{Runner: tool}, year); len(got) != want {
			t.Errorf("%s has the canaries %v", tool, got)
		}
		if got := canaries(replay.Recipe{Runner: tool}, 0); got != nil {
			t.Errorf("%s asks the time in a run that is not ahead: %v", tool, got)
		}
	}
}

// TestLongRunsShare: repeats share what they compile from the second run of a state on, if the first took long and a third one comes.
func TestLongRunsShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wall    time.Duration
		repeats int
		want    string
	}{
		{shareFrom, 3, "#1 false, #2 true, #3 true"},
		{shareFrom - 1, 3, "#1 false, #2 false, #3 false"},
		{shareFrom, 2, "#1 false, #2 false"},
	} {
		m, _ := scripted(tt.repeats, nil)
		var ran []string
		m.runs = func(_ context.Context, s spec, repeat int) (observed, error) {
			ran = append(ran, fmt.Sprintf("#%d %v", repeat, s.Share))
			return observed{Observed: recipes.Observed{Report: report(tests{"a": "pass"}), Wall: tt.wall}}, nil
		}
		if _, err := m.rounds(t.Context(), []spec{{Name: "h2", State: stateH2}}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ran, ", "); got != tt.want {
			t.Errorf("%v, %d repeats: %s, want %s", tt.wall, tt.repeats, got, tt.want)
		}
	}
}
