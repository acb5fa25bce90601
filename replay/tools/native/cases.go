package native

import (
	"regexp"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// Program is the name, behind a target's, of what a program did that none of its cases says.
const Program = "(program)"

// Gtest reads the report of a program with GoogleTest. whole is what the test tool says about the program.
func (a *Analysis) Gtest(run Run, whole replay.Test) {
	data, ok := a.Files[run.Cases]
	if !ok {
		a.unreported(run, whole)
		return
	}
	cases, err := report.ReadJUnit(data)
	a.Doubt.Add(err != nil, "reading the report of %s: %v", run.Prefix, err)
	bad := false
	for _, c := range cases {
		name := c.Class + "." + c.Name
		if run.Case != "" && run.Case != name {
			continue // older ones list what the filter left out
		}
		t := c.Test(GtestKind)
		if c.Result == "skipped" && t.Outcome == replay.Pass || c.Result == "suppressed" {
			t.Outcome = replay.Skip
		}
		t.ID = run.Prefix + "::" + name
		bad = bad || report.Bad(t.Outcome)
		a.Add(t)
	}
	if report.Bad(whole.Outcome) && !bad {
		whole.ID = run.Prefix + "::" + Program
		a.Add(whole)
	}
	a.Doubt.Add(!report.Bad(whole.Outcome) && bad, "%s passed with a failed case", run.Prefix)
}

// unreported is a program that ended before its report.
func (a *Analysis) unreported(run Run, whole replay.Test) {
	for _, name := range run.Owed {
		a.Add(replay.Test{ID: run.Prefix + "::" + name, Outcome: replay.Missing, Message: "the program ended well without a report"})
	}
	switch {
	case run.Alone, len(run.Owed) > 0: // its cases tell
		return
	case run.Case != "":
		whole.ID = run.Prefix + "::" + run.Case
	case whole.ID == "":
		whole.ID = run.Prefix + "::" + Program
	}
	if whole.Outcome == replay.Pass && run.Case != "" {
		whole.Outcome, whole.Message = replay.Missing, "ended well without a report"
	}
	a.Add(whole)
}

var thrown = regexp.MustCompile(`(?m)^(?:.*: )?(?:unknown file|C\+\+ exception with description|Unknown C\+\+ exception|terminate called after throwing)`)

// GtestKind tells an assertion from an exception in the words of a case.
func GtestKind(w report.What) replay.Kind {
	if thrown.MatchString(w.Message) || thrown.MatchString(w.Text) {
		return replay.Exception
	}
	return replay.Assertion
}

var asserted = regexp.MustCompile("(?m)Assertion [`'\"].*['\"] failed|^(?:\\*\\*\\n)?(?:ERROR|Bail out! ERROR):.*assertion failed")

// Died is the kind of failure of a program that a signal ended, by what it printed before: assert() ends by one, and so does an exception
// that nobody catches.
func Died(output string) replay.Kind {
	switch {
	case asserted.MatchString(output):
		return replay.Assertion
	case thrown.MatchString(output):
		return replay.Exception
	}
	return replay.Crash
}

// Exited is the kind of failure of a program that ended by itself.
func Exited(output string) replay.Kind {
	if thrown.MatchString(output) {
		return replay.Exception
	}
	return replay.Assertion
}
