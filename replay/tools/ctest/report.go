package ctest

import (
	"strings"

	"sluice/replay"
	"sluice/replay/tools/native"
	"sluice/replay/tools/report"
)

// readRun takes in one run of ctest.
func readRun(a *native.Analysis, run native.Run) {
	data, ok := a.Files[run.Report]
	if !ok {
		a.Doubt.Add(true, "ctest left no report %s", run.Report)
		return
	}
	cases, err := report.ReadJUnit(data)
	a.Doubt.Add(err != nil, "reading %s: %v", run.Report, err)
	items := byName(a.Index.Tests)
	bad := false
	for _, c := range cases {
		item, known := items[c.Name]
		if !known || len(item) == 0 {
			a.Doubt.Add(true, "ctest reports a test that was not asked for: %q", report.FirstLine(c.Name))
			continue
		}
		items[c.Name] = item[1:]
		t, built := outcome(c, run.Reasons[c.Name])
		bad = bad || report.Bad(t.Outcome) || !built
		switch t.ID = item[0].ID; {
		case !built:
			a.Break(named(item[0]), c.Words()+"\n"+c.Out)
		case run.Cases == "" || run.Test != c.Name:
			a.Add(t)
		default:
			a.Gtest(run, t)
		}
	}
	a.Doubt.Add(run.Exit == 0 && bad, "ctest exited 0 in spite of failures")
	a.Doubt.Add(run.Exit != 0 && !bad, "ctest exited %d without a failure", run.Exit)
}

// byName lists the tests of each name, in ctest's order.
func byName(list []native.Item) map[string][]native.Item {
	m := map[string][]native.Item{}
	for _, i := range list {
		m[i.Name] = append(m[i.Name], i)
	}
	return m
}

func named(i native.Item) string {
	if i.Target != "" {
		return i.Target
	}
	return i.Name
}

// signals are what ctest says of programs that a signal ended.
var signals = []string{"SEGFAULT", "ILLEGAL", "INTERRUPT", "NUMERICAL", "OTHER_FAULT", "Subprocess aborted", "Subprocess killed", "Bus error", "Child aborted"}

// outcome reads a case; reason is what older versions say elsewhere. built is false if there is no program to run.
func outcome(c report.Case, reason string) (t replay.Test, built bool) {
	why := reason
	for _, w := range append(c.Failures, c.Skips...) {
		if w.Message != "" {
			why = w.Message
		}
	}
	t.Message = strings.TrimSpace(why + "\n" + c.Out)
	switch {
	case c.Status == "run":
		return replay.Test{Outcome: replay.Pass}, true
	case c.Status == "disabled", strings.HasPrefix(why, "SKIP_"):
		t.Outcome = replay.Skip
	case c.Status == "fail" && why == "Timeout":
		t.Outcome = replay.TimedOut
	case c.Status == "fail" && died(why):
		t.Outcome, t.Kind = replay.Error, native.Died(c.Out)
	case c.Status == "fail":
		t.Outcome, t.Kind = replay.Fail, native.Exited(c.Out)
	case strings.HasPrefix(why, "Unable to find executable"), strings.HasPrefix(c.Out, "Unable to find executable"):
		return t, false
	case c.Status == "notrun":
		t.Outcome, t.Kind = replay.Error, replay.Collection
	default:
		t.Outcome, t.Message = replay.Missing, "no outcome"
	}
	return t, true
}

func died(why string) bool {
	for _, s := range signals {
		if strings.Contains(strings.ToLower(why), strings.ToLower(s)) {
			return true
		}
	}
	return strings.HasPrefix(why, "Exception") || strings.HasPrefix(why, "SIG")
}
