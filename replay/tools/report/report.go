// Package report reads what test tools leave behind, as far as that is the same for all of them: a set of tests in which
// of two reports about one test the worse is believed, JUnit files, clipped words, reasons for doubt, and the steps that came before
// the tests.
//
// It never runs anything, and never panics on a report: reports are written by processes that ran foreign code.
package report

import (
	"fmt"
	"sort"
	"strings"

	"sluice/replay"
)

// StepTest is the name of the step that runs the tests. A recipe's Build steps come before it, under their own names.
const StepTest = "test"

// What is kept of the words of tools.
const (
	messageLines = 12
	messageBytes = 1200
	BrokenLines  = 1 << 10 // of what a compiler or collector says
	BrokenBytes  = 8 << 10
)

// badness orders outcomes: of two reports about one test the worse is believed.
var badness = map[replay.Outcome]int{
	replay.Pass: 1, replay.Skip: 2, replay.Missing: 3, replay.TimedOut: 4, replay.Error: 5, replay.Fail: 6,
}

// Worse reports whether of two reports about one test the first is believed. Every outcome is worse than none.
func Worse(a, b replay.Outcome) bool { return badness[a] > badness[b] }

// Known reports whether an outcome is one of replay's.
func Known(o replay.Outcome) bool { return badness[o] > 0 }

// Bad says that a test did what must make the tool's exit code non-zero.
func Bad(o replay.Outcome) bool { return badness[o] >= badness[replay.TimedOut] }

// Set gathers tests by id, so that ids stay unique.
type Set struct {
	byID  map[string]replay.Test
	clash string
}

// Clash is the first id that was both good and bad, or "".
func (s *Set) Clash() string { return s.clash }

// Len is how many tests there are.
func (s *Set) Len() int { return len(s.byID) }

// Add takes a report about a test; its message is clipped.
func (s *Set) Add(t replay.Test) {
	if s.byID == nil {
		s.byID = map[string]replay.Test{}
	}
	t.Message = Clip(t.Message, messageLines, messageBytes)
	old, seen := s.byID[t.ID]
	if seen && Bad(old.Outcome) != Bad(t.Outcome) && s.clash == "" {
		s.clash = t.ID
	}
	if !seen || Worse(t.Outcome, old.Outcome) {
		s.byID[t.ID] = t
	}
}

// Sorted are the tests by id; never nil.
func (s *Set) Sorted() []replay.Test {
	list := make([]replay.Test, 0, len(s.byID))
	for _, t := range s.byID {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// AnyBad reports whether a test did what must make the exit code non-zero.
func (s *Set) AnyBad() bool {
	for _, t := range s.byID {
		if Bad(t.Outcome) {
			return true
		}
	}
	return false
}

// Clip makes text fit to be stored: valid UTF-8, at most so many lines and bytes, no folder of environments.
func Clip(s string, lines, limit int) string {
	if len(s) > 4*limit {
		s = s[:4*limit]
	}
	s = strings.ReplaceAll(s, replay.EnvFolder+"/", "{env}/")
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

// FirstLine is a tool's first line, for reasons.
func FirstLine(s string) string { return Clip(s, 1, 300) }

// Doubts keeps the first reason why a report cannot be believed.
type Doubts struct{ Reason string }

// Add gives a reason if it holds.
func (d *Doubts) Add(when bool, format string, args ...any) {
	if when && d.Reason == "" {
		d.Reason = fmt.Sprintf(format, args...)
	}
}

// Start begins a report from the steps that came before the tests. It returns the test step's result, or nil when the
// tests never started: then the report is complete.
func Start(r replay.Recipe, res replay.Result) (replay.Report, *replay.StepResult) {
	rep := replay.Report{
		BuildSource: replay.OK, BuildTests: replay.Unknown, RunTests: replay.Unknown,
		Tests: []replay.Test{}, Stop: replay.Skipped,
	}
	for _, s := range r.Build {
		got := res.Step(s.Name)
		if got == nil || got.Stop == replay.Skipped || got.Stop == replay.Exited && got.ExitCode == 0 {
			continue
		}
		words := Clip(string(got.Stdout)+string(got.Stderr), BrokenLines, BrokenBytes)
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
