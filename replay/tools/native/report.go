package native

import (
	"encoding/json"
	"fmt"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// Built is what a program leaves about a build.
type Built struct {
	Exit   int `json:"exit"`
	Failed []struct {
		Name  string `json:"name"` // of the target
		Test  bool   `json:"test"`
		Waits bool   `json:"waits"` // for another that failed
		Words string `json:"words"`
	} `json:"failed"`
}

// Index is what a program leaves about the tests.
type Index struct {
	Exit  int    `json:"exit"` // the worst one of the runs
	Tests []Item `json:"tests"`
	Runs  []Run  `json:"runs"`
}

// Item is a test as the build knows it. Several may have one name; ids are unique.
type Item struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Target string `json:"target"`
	// Meson's: the project of several, how the program speaks, what is started, and whether it was.
	Project  string   `json:"project"`
	Protocol string   `json:"protocol"`
	Command  []string `json:"command"`
	Asked    bool     `json:"asked"`
}

// Run is one start of the test tool.
type Run struct {
	Report string `json:"report"` // the tool's, a name in {out}
	Exit   int    `json:"exit"`
	// Reasons say why tests failed, by name, where the report does not.
	Reasons map[string]string `json:"reasons"`
	// Of a program whose cases are reported one by one: its report, if it ended by itself, the target, the test's name, and the case that
	// alone was run, or "". Alone says that one run for each case follows.
	Cases  string `json:"cases"`
	Prefix string `json:"prefix"`
	Test   string `json:"test"`
	Case   string `json:"case"`
	Alone  bool   `json:"alone"`
	// Owed are the cases of a program that ended well without the report that it was asked for.
	Owed []string `json:"owed"`
}

// Analysis gathers what a run left.
type Analysis struct {
	Index Index
	Files map[string][]byte
	Doubt report.Doubts

	step    *replay.StepResult
	built   Built
	known   bool // there is a report about the build
	tests   report.Set
	broken  map[string]string
	ran     int // tests that started
	sources bool
	targets bool
}

// Parse reads what the programs left. read takes in one run's reports.
func Parse(r replay.Recipe, res replay.Result, read func(*Analysis, Run)) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &Analysis{Files: res.Files, step: step, broken: map[string]string{}}
	a.build()
	if err := a.decode(indexFile, &a.Index); err != nil {
		a.Doubt.Add(true, "the tests left no report (%v): %s", err, report.FirstLine(string(step.Stderr)+string(step.Stdout)))
	}
	for _, run := range a.Index.Runs {
		read(a, run)
	}
	a.agree()
	rep.Tests = a.tests.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep)
	rep.Inconsistent = a.Doubt.Reason
	return rep
}

func (a *Analysis) decode(name string, into any) error {
	data, ok := a.Files[name]
	if !ok {
		return fmt.Errorf("no %s", name)
	}
	if len(data) > report.JUnitBytes {
		return fmt.Errorf("%s has %d bytes", name, len(data))
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

func (a *Analysis) build() {
	if err := a.decode(buildFile, &a.built); err != nil {
		a.Doubt.Add(true, "the build left no report: %v", err)
		return
	}
	a.known = true
	for _, f := range a.built.Failed {
		a.Break(f.Name, f.Words)
		a.sources = a.sources || !f.Test && !f.Waits
		a.targets = a.targets || f.Test && !f.Waits
	}
}

// Break notes what could not be built or started.
func (a *Analysis) Break(name, words string) {
	if name == "" {
		name = "(unnamed)"
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if a.broken[name] == "" {
		a.broken[name] = report.Clip(words, report.BrokenLines, report.BrokenBytes)
	}
}

// Add takes a test's outcome.
func (a *Analysis) Add(t replay.Test) {
	if !strings.Contains(t.ID, "::") {
		a.Doubt.Add(true, "a test has no id: %q", report.FirstLine(t.ID))
		return
	}
	t.ID = strings.ToValidUTF8(t.ID, "\uFFFD")
	a.tests.Add(t)
	if t.Outcome != replay.Skip && t.Outcome != replay.Missing {
		a.ran++
	}
}

// agree compares the exit code with all that was found. What could not be built leaves it alone: the tests that are there are run.
func (a *Analysis) agree() {
	exit := a.step.ExitCode
	a.Doubt.Add(a.step.Stop == replay.Exited && exit != min(a.Index.Exit, 100), "the tests exited %d, and their report says %d", exit, a.Index.Exit)
	a.Doubt.Agree(report.End{
		Tool: "the program that runs tests", Step: a.step, Set: &a.tests, Broken: len(a.broken) > 0, Spared: true, Ran: a.tests.Len() > 0, Ended: true,
	})
}

func (a *Analysis) phases(rep *replay.Report) {
	if !a.known {
		rep.BuildSource = replay.Unknown
		return
	}
	rep.BuildTests = replay.OK
	if a.targets {
		rep.BuildTests = replay.Failed
	}
	if a.sources {
		rep.BuildSource = replay.Failed
	}
	switch {
	case a.step.Stop != replay.Exited:
		rep.RunTests = replay.Failed
	case a.ran > 0:
		rep.RunTests = replay.OK
	case len(a.broken) > 0:
		rep.RunTests = replay.NotRun
	}
	if rep.RunTests == replay.NotRun && a.sources && !a.targets {
		rep.BuildTests = replay.NotRun
	}
}
