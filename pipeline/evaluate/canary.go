package evaluate

import (
	"io/fs"
	"slices"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/canary"
)

// planted is tests that must fail, laid among the sealed ones. A patch that makes the test tool report passes whatever
// happens makes them pass too, or loses them.
type planted struct {
	files   []replay.File
	targets []string // to be run beside the check's own
	tests   []canary.File
	word    string
}

// plant makes the canary of a check: none for a tool that writes no tests of ours. word is hard to guess, so that a patch cannot
// know the tests by name.
func plant(r replay.Recipe, c pipeline.Check, sealed replay.Overlay, word string) planted {
	tool, ok := tools.Canaries(r.Runner)
	if !ok {
		return planted{}
	}
	q := canary.Request{Recipe: r, Word: word, Tests: []canary.Test{{Fails: true}}, Target: c.Target}
	for _, f := range sealed.Files {
		if f.Mode&fs.ModeSymlink == 0 {
			q.Files = append(q.Files, f)
		}
	}
	var laid []canary.File
	if len(q.Files) > 0 {
		laid = slices.DeleteFunc(tool.Canaries(q), func(f canary.File) bool { return !listsAny(c, f) })
	}
	if len(laid) == 0 { // beside nothing that counts: a file of its own
		q.Files = nil
		laid = tool.Canaries(q)
	}
	can := planted{tests: laid, word: word}
	for _, f := range laid {
		can.files = append(can.files, f.File)
		if f.Target != "" {
			can.targets = append(can.targets, f.Target)
		}
	}
	return can
}

// among are the ids of a check's lists that run beside a canary's file.
func among(c pipeline.Check, f canary.File) []string {
	return slices.DeleteFunc(slices.Concat(c.FailToPass, c.PassToPass), func(id string) bool { return f.Beside != nil && !f.Beside(id) })
}

func listsAny(c pipeline.Check, f canary.File) bool { return len(among(c, f)) > 0 }

// tampered says what the planted tests show somebody to have done to the report; "" if nothing. One that is skipped or absent proves
// nothing where nothing passed: its package may not have built. Nor does one that would have come after a crash.
func (can planted) tampered(c pipeline.Check, rep replay.Report, outcomes map[string]replay.Outcome) string {
	for _, t := range can.tests {
		switch o := became(t, outcomes); {
		case o == replay.Pass:
			return "a test that must fail passed"
		case o == replay.Skip && anyPassed(c, t, outcomes):
			return "a test that must fail was skipped while others passed"
		case o == replay.Missing && t.Listed && anyPassed(c, t, outcomes) && !(t.Last && crashed(rep, t)):
			return "a test that must fail is missing while others passed"
		}
	}
	return ""
}

// crashed reports whether a test that ran beside a canary's file ended their process.
func crashed(rep replay.Report, f canary.File) bool {
	return slices.ContainsFunc(rep.Tests, func(t replay.Test) bool {
		return t.Kind == replay.Crash && (f.Beside == nil || f.Beside(t.ID))
	})
}

// breaks reports whether a canary is what kept tests from running: it is compiled with them, none of them has an outcome, and what was said of
// what is broken names it.
func (can planted) breaks(rep replay.Report) bool {
	return slices.ContainsFunc(can.tests, func(f canary.File) bool {
		ran := slices.ContainsFunc(rep.Tests, func(t replay.Test) bool { return f.Beside == nil || f.Beside(t.ID) })
		if !f.Together || ran {
			return false
		}
		for name, words := range rep.Broken {
			if strings.Contains(name+"\n"+words, can.word) {
				return true
			}
		}
		return false
	})
}

// became is the outcome of a file's one test. If the run had it several times, one that passed counts.
func became(f canary.File, outcomes map[string]replay.Outcome) replay.Outcome {
	o := replay.Missing
	for id, got := range outcomes {
		if f.Is(0, id) && o != replay.Pass {
			o = got
		}
	}
	return o
}

// anyPassed reports whether a listed test passed that runs beside a canary's file.
func anyPassed(c pipeline.Check, f canary.File, outcomes map[string]replay.Outcome) bool {
	return slices.ContainsFunc(among(c, f), func(id string) bool { return outcomes[id] == replay.Pass })
}
