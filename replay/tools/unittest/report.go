package unittest

import (
	"fmt"
	"path"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// The program's exit codes. Python itself exits with 1 too.
const (
	allWell = iota
	someBad
	noTests = 5
)

// event is one line of the report.
type event struct {
	E       string // start, end, broken, ignored, done
	ID      string
	File    string
	Outcome replay.Outcome `json:"o"`
	Kind    replay.Kind    `json:"k"`
	Message string         `json:"m"`
	Late    bool           // an end that came after the test's own, from its class or module
	Tests   int            // of done: how many have an end
}

// state is what the report says about one test.
type state struct {
	started, ended int // ends of its own
	test           replay.Test
}

// analysis is one reading of a report.
type analysis struct {
	root    string
	step    *replay.StepResult
	tests   map[string]*state
	order   []string
	broken  map[string]string
	failed  bool // something in broken is an error, not a skip
	ignored int  // files that chose at import not to be tested
	done    *event
	running string // the test that started last and has no end
	set     report.Set
	doubt   report.Doubts
}

// Parse reads the report, which must agree with the exit code.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &analysis{root: r.Root, step: step, tests: map[string]*state{}, broken: map[string]string{}}
	data, there := res.Files[reportFile]
	a.doubt.Add(!there || len(data) == 0, "unittest left no report: %s", report.FirstLine(string(step.Stderr)+string(step.Stdout)))
	report.Events(&a.doubt, step, data, func(e event) {
		a.doubt.Add(a.done != nil, "the report goes on behind its end")
		a.event(e)
	})
	a.close()
	a.agree()
	rep.Tests = a.set.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep)
	rep.Inconsistent = a.doubt.Reason
	return rep
}

func (a *analysis) event(e event) {
	switch e.E {
	case "start":
		t := a.state(e.ID)
		t.started++
		a.running = e.ID
		a.doubt.Add(t.started > 1, "test %s was started more than once", e.ID)
	case "end":
		a.end(e)
	case "broken":
		a.failed = true
		a.spoil(e)
	case "ignored":
		a.ignored++
		a.spoil(e)
	case "done":
		a.done = &e
	default:
		a.doubt.Add(true, "the report has an unknown event %q", report.FirstLine(e.E))
	}
}

func (a *analysis) state(id string) *state {
	t := a.tests[id]
	if t == nil {
		t = &state{}
		a.tests[id] = t
		a.order = append(a.order, id)
	}
	return t
}

// end takes an outcome; a test may have several (of its subtests, of its clean-up), of which the worst counts.
func (a *analysis) end(e event) {
	t := a.state(e.ID)
	a.doubt.Add(!report.Known(e.Outcome), "test %s has the unknown outcome %q", e.ID, report.FirstLine(string(e.Outcome)))
	passed := t.test.Outcome == replay.Pass || t.ended > 0 && e.Outcome == replay.Pass
	a.doubt.Add(passed && !e.Late, "test %s passed and had another end", e.ID)
	if !e.Late {
		t.ended++
	}
	if report.Worse(e.Outcome, t.test.Outcome) {
		t.test = replay.Test{Outcome: e.Outcome, Kind: e.Kind, Message: e.Message}
	}
	if a.running == e.ID {
		a.running = ""
	}
}

func (a *analysis) spoil(e event) {
	file := path.Join(a.root, strings.ToValidUTF8(e.File, "\uFFFD"))
	a.broken[file] = report.Clip(e.Message, report.BrokenLines, report.BrokenBytes)
}

// close gives every test that was named its outcome.
func (a *analysis) close() {
	for _, id := range a.order {
		s := a.tests[id]
		test := s.test
		if s.ended == 0 && test.Outcome == "" {
			test = a.unended(id)
		}
		place, name, ok := strings.Cut(id, "::")
		a.doubt.Add(!ok || !report.Known(test.Outcome), "the report names a test %q that is none", report.FirstLine(id))
		if !ok || !report.Known(test.Outcome) {
			continue
		}
		test.ID = strings.ToValidUTF8(path.Join(a.root, place)+"::"+name, "\uFFFD")
		a.set.Add(test)
	}
	a.doubt.Add(a.set.Clash() != "", "test %s both passed and failed", a.set.Clash())
}

// unended reads a test that started and has no end: the interpreter, or the run, ended first.
func (a *analysis) unended(id string) replay.Test {
	switch {
	case a.done != nil || id != a.running:
		return replay.Test{Outcome: replay.Missing, Message: "started and has no end"}
	case a.step.Stop == replay.Timeout:
		return replay.Test{Outcome: replay.TimedOut}
	}
	return replay.Test{Outcome: replay.Error, Kind: replay.Crash, Message: fmt.Sprintf("the interpreter ended: %s, exit %d", a.step.Stop, a.step.ExitCode)}
}

// agree compares the exit code with the report.
func (a *analysis) agree() {
	failures := a.set.AnyBad() || a.failed
	crashed := a.done == nil && a.running != ""
	a.doubt.Add(a.step.Stop == replay.Signal && !crashed, "python was killed by a signal")
	if a.step.Stop != replay.Exited {
		return
	}
	a.doubt.Add(a.done == nil && !crashed, "python exited %d before the report's end: %s", a.step.ExitCode, report.FirstLine(string(a.step.Stderr)))
	a.doubt.Add(a.done != nil && a.done.Tests != a.set.Len(), "the report counts other tests than it names")
	switch a.step.ExitCode {
	case allWell:
		a.doubt.Add(failures, "python exited 0 in spite of failures")
		a.doubt.Add(a.set.Len() == 0, "no test ran")
	case noTests:
		a.doubt.Add(!crashed && (a.set.Len() > 0 || a.failed), "python exited 5 (no tests) with a report of tests")
		a.doubt.Add(!crashed && a.ignored == 0, "no test ran")
	default:
		a.doubt.Add(!failures, "python exited %d without a failure", a.step.ExitCode)
		a.doubt.Add(a.step.ExitCode != someBad && !crashed, "python exited %d: %s", a.step.ExitCode, report.FirstLine(string(a.step.Stderr)))
	}
}

func (a *analysis) phases(rep *replay.Report) {
	if a.set.Len() > 0 || len(a.broken) > 0 {
		rep.BuildTests = replay.OK
	}
	if a.failed {
		rep.BuildTests = replay.Failed
	}
	switch {
	case a.done == nil && (a.step.Stop != replay.Exited || a.running != ""):
		rep.RunTests = replay.Failed
	case a.set.Len() > 0 && a.done != nil:
		rep.RunTests = replay.OK
	case len(a.broken) > 0:
		rep.RunTests = replay.NotRun
	}
}
