package evaluate

import (
	"fmt"
	"sort"

	"sluice/pipeline"
	"sluice/replay"
)

// grade reads a check's verdict from its report. A test that the report does not hold is missing, and only "pass" passes:
// a test that the patch makes skip is no solution.
func grade(c pipeline.Check, can planted, rep replay.Report) CheckResult {
	outcomes := map[string]replay.Outcome{}
	for _, t := range rep.Tests {
		outcomes[t.ID] = t.Outcome
	}
	r := CheckResult{
		Name: c.Name, Resolves: c.Resolves, Broken: rep.Broken,
		FailToPass: sortOut(c.FailToPass, outcomes), PassToPass: sortOut(c.PassToPass, outcomes),
	}
	r.State, r.Why = verdict(r, can.tampered(c, rep, outcomes), rep)
	return r
}

// verdict is the state of a check, the gravest first.
func verdict(r CheckResult, tampered string, rep replay.Report) (State, string) {
	total := r.FailToPass.Size() + r.PassToPass.Size()
	missing := len(r.FailToPass[replay.Missing]) + len(r.PassToPass[replay.Missing])
	passing := len(r.FailToPass[replay.Pass]) + len(r.PassToPass[replay.Pass])
	switch {
	case rep.Stop == replay.OOM:
		return OOM, "the run hit its memory limit"
	case rep.Stop == replay.Timeout:
		return TimedOut, "the run hit its time limit"
	case tampered != "":
		return Tampered, tampered
	case rep.Inconsistent != "":
		return Invalid, rep.Inconsistent
	case rep.BuildSource == replay.Failed:
		return BuildFailed, "the source does not build"
	case missing == total && rep.BuildTests == replay.Failed:
		return BuildFailed, "the tests do not build on it"
	case missing == total:
		return Invalid, "none of the listed tests ran"
	case passing == total:
		return Resolved, ""
	}
	return Unresolved, fmt.Sprintf("%d of %d fail-to-pass and %d of %d pass-to-pass tests pass",
		len(r.FailToPass[replay.Pass]), r.FailToPass.Size(), len(r.PassToPass[replay.Pass]), r.PassToPass.Size())
}

// sortOut puts a list's tests under their outcomes.
func sortOut(ids []string, outcomes map[string]replay.Outcome) List {
	l := List{}
	for _, id := range ids {
		o, ok := outcomes[id]
		if !ok {
			o = replay.Missing
		}
		l[o] = append(l[o], id)
	}
	for _, ids := range l {
		sort.Strings(ids)
	}
	return l
}
