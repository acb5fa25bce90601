// Package runner turns the machine-readable reports of test tools into outcomes.
//
// It says which steps run a tool over a state and reads what they left. It never runs anything, never reads a console
// where a report exists, never counts a test as passed that the report does not hold, and never panics on a report:
// reports are written by processes that ran foreign code.
package runner

import (
	"fmt"
	"sort"
	"strings"

	"sluice/replay"
)

// The names of the steps. A recipe's Build steps come before them, under their own names.
const (
	StepTest    = "test"
	StepExplain = "build source" // gotest only: says, after a failure, whether the source builds without its tests
)

const (
	messageLines = 12
	messageBytes = 1200
	brokenBytes  = 8 << 10
)

// For returns the runner of that name: "gotest" or "pytest".
func For(name string) (replay.Runner, error) {
	switch name {
	case "gotest":
		return goTest{}, nil
	case "pytest":
		return pyTest{}, nil
	}
	return nil, fmt.Errorf("no runner is named %q", name)
}

// badness orders outcomes: of two reports about one test the worse is believed.
var badness = map[replay.Outcome]int{
	replay.Pass: 1, replay.Skip: 2, replay.Missing: 3, replay.TimedOut: 4, replay.Error: 5, replay.Fail: 6,
}

// bad says that a test did what must make the tool's exit code non-zero.
func bad(o replay.Outcome) bool { return badness[o] >= badness[replay.TimedOut] }

// testSet gathers tests by id, so that ids stay unique.
type testSet struct {
	byID  map[string]replay.Test
	clash string // the first id that was both good and bad
}

func (s *testSet) add(t replay.Test) {
	if s.byID == nil {
		s.byID = map[string]replay.Test{}
	}
	t.Message = clip(t.Message, messageLines, messageBytes)
	old, seen := s.byID[t.ID]
	if seen && bad(old.Outcome) != bad(t.Outcome) && s.clash == "" {
		s.clash = t.ID
	}
	if !seen || badness[t.Outcome] > badness[old.Outcome] {
		s.byID[t.ID] = t
	}
}

func (s *testSet) sorted() []replay.Test {
	list := make([]replay.Test, 0, len(s.byID))
	for _, t := range s.byID {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

func (s *testSet) anyBad() bool {
	for _, t := range s.byID {
		if bad(t.Outcome) {
			return true
		}
	}
	return false
}

// clip makes text fit to be stored: valid UTF-8, at most so many lines and bytes.
func clip(s string, lines, limit int) string {
	if len(s) > 4*limit {
		s = s[:4*limit]
	}
	s = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
	parts := strings.SplitAfterN(s, "\n", lines+1)
	if len(parts) > lines {
		s = strings.TrimSpace(strings.Join(parts[:lines], ""))
	}
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

func firstLine(s string) string { return clip(s, 1, 300) }

// doubts keeps the first reason why a report cannot be believed.
type doubts struct{ reason string }

func (d *doubts) add(when bool, format string, args ...any) {
	if when && d.reason == "" {
		d.reason = fmt.Sprintf(format, args...)
	}
}

// start begins a report from the steps that came before the tests. It returns the test step's result, or nil when the
// tests never started: then the report is complete.
func start(r replay.Recipe, res replay.Result) (replay.Report, *replay.StepResult) {
	rep := replay.Report{
		BuildSource: replay.OK, BuildTests: replay.Unknown, RunTests: replay.Unknown,
		Tests: []replay.Test{}, Stop: replay.Skipped,
	}
	for _, s := range r.Build {
		got := res.Step(s.Name)
		if got == nil || got.Stop == replay.Skipped || got.Stop == replay.Exited && got.ExitCode == 0 {
			continue
		}
		words := clip(string(got.Stdout)+string(got.Stderr), 1<<10, brokenBytes)
		rep.BuildSource, rep.BuildTests, rep.RunTests = replay.Failed, replay.NotRun, replay.NotRun
		rep.Broken = map[string]string{got.Name: words}
		rep.Stop = got.Stop
		break
	}
	test := res.Step(StepTest)
	if test != nil && test.Stop != replay.Skipped {
		rep.Stop = test.Stop
		return rep, test
	}
	if rep.BuildSource != replay.Failed {
		rep.BuildSource = replay.Unknown
		rep.Inconsistent = "the tests were never started"
	}
	return rep, nil
}
