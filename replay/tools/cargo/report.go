package cargo

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// analysis is one reading of a run.
type analysis struct {
	step   *replay.StepResult
	built  built
	log    *log
	set    report.Set
	broken map[string]string
	ran    bool // a test began
	lost   bool // a program ended early
	doubt  report.Doubts
}

// Parse reads what was compiled and what ran. Exit code, programs' ends, suites' counts and tests' ends must agree.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	rep, step := report.Start(r, res)
	if build := res.Step(stepBuild); build != nil && build.Stop != replay.Exited && build.Stop != replay.Skipped {
		rep.Stop, rep.Inconsistent = build.Stop, ""
		return rep
	}
	if step == nil {
		return rep
	}
	a := &analysis{step: step, built: readMade(res.Files[madeFile]), broken: map[string]string{}}
	a.log = readLog(&a.doubt, step, res.Files[reportFile])
	a.compiled()
	a.doubt.Add(len(a.log.list) == 0 && len(a.broken) == 0, "cargo left no report: %s", report.FirstLine(string(step.Stderr)))
	for _, run := range a.log.list {
		a.run(run)
	}
	a.agree()
	rep.Tests = a.set.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep, res.Step(stepExplain))
	rep.Inconsistent = a.doubt.Reason
	return rep
}

// compiled takes what did not compile. A target that another one needs is broken where it stands.
func (a *analysis) compiled() {
	for scope, words := range a.built.broken {
		a.broken[scope] = report.Clip(words, report.BrokenLines, report.BrokenBytes)
	}
	words := cmp.Or(a.built.unread, a.built.stopped)
	if words != "" && len(a.broken) == 0 {
		a.broken[manifestFile] = report.Clip(words, report.BrokenLines, report.BrokenBytes)
	}
}

func (a *analysis) run(r *run) {
	end, ended := r.first()
	a.doubt.Add(!ended && !cut(a.step), "%s has no end", r.scope)
	if r.how == "program" {
		a.program(r, end, ended)
		return
	}
	for _, t := range r.outcomes(end, ended, a.step.Stop) {
		a.ran = true
		a.set.Add(t)
	}
	a.whole(r, end, ended)
}

// program is a target with a main function of its own: one test.
func (a *analysis) program(r *run, end event, ended bool) {
	t := replay.Test{ID: r.scope + "::(main)", Outcome: replay.Pass, Message: numberless(end.Words)}
	switch {
	case end.Late, !ended && a.step.Stop == replay.Timeout:
		t.Outcome = replay.TimedOut
	case !ended:
		t.Outcome, t.Kind = replay.Error, replay.Crash
	case end.Signal != 0:
		t.Outcome, t.Kind, t.Message = replay.Error, replay.Crash, died(end)
	case end.Exit != 0:
		t.Outcome, t.Kind = replay.Fail, kindOf(end.Words)
	default:
		t.Message = ""
	}
	a.ran = true
	a.set.Add(t)
}

// whole compares a program's end with its suites' and its tests'.
func (a *analysis) whole(r *run, end event, ended bool) {
	if !ended || end.Late {
		a.lost = true
		return
	}
	if end.Cut || r.suites == 0 {
		if len(r.tests) == 0 {
			a.lost = true
			a.broken[r.scope] = report.Clip("the program ended before its first test: "+died(end), report.BrokenLines, report.BrokenBytes)
		}
		return
	}
	got := r.count()
	a.doubt.Add(got != r.said, "%s counts other tests than it names", r.scope)
	a.doubt.Add(r.suites > 1 && r.how != "doc", "%s has %d suites", r.scope, r.suites)
	a.doubt.Add(r.failedAny != (r.said.failed > 0), "the suite of %s and its tests disagree", r.scope)
	a.doubt.Add((end.Exit != 0 || end.Signal != 0) != r.failedAny, "%s ended with %d, and its suite says otherwise", r.scope, end.Exit)
	if r.listed != nil {
		slices.Sort(r.names)
		list := slices.Sorted(slices.Values(r.listed))
		a.doubt.Add(!slices.Equal(slices.Compact(list), r.names), "%s has other tests than it lists", r.scope)
	}
}

func (r *run) count() (s suite) {
	for _, t := range r.tests {
		for _, e := range t.ends {
			switch e.Event {
			case "failed":
				s.failed++
			case "ignored":
				s.ignored++
			default:
				s.passed++
			}
		}
	}
	return s
}

// outcomes are the tests of a program. Names of examples lose their lines and get numbers, by the order of the lines.
func (r *run) outcomes(end event, ended bool, stop replay.Stop) []replay.Test {
	names := slices.Clone(r.names)
	for _, n := range r.listed {
		if r.tests[n] == nil {
			names = append(names, n) // it never began
		}
	}
	place := func(n string) string { return n }
	if r.how == "doc" {
		place = func(n string) string { return docLine.ReplaceAllString(n, "") }
		slices.SortStableFunc(names, func(x, y string) int {
			return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(lineOf(x), lineOf(y)), cmp.Compare(x, y))
		})
	}
	var out []replay.Test
	seen := map[string]int{}
	for _, n := range names {
		t := replay.Test{Outcome: replay.Missing, Message: "it did not run"}
		if one := r.tests[n]; one != nil {
			t = r.outcome(n, one, end, ended, stop)
		}
		id := r.scope + "::" + strings.ToValidUTF8(place(n), "\uFFFD")
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s#%d", id, seen[id])
		}
		t.ID = id
		out = append(out, t)
	}
	return out
}

var docLine = regexp.MustCompile(` \(line (\d+)\)`)

func lineOf(name string) int {
	if m := docLine.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

// outcome reads one test. Of two ends the worse is believed; one that only a printed line can have made is none.
func (r *run) outcome(name string, t *oneTest, end event, ended bool, stop replay.Stop) replay.Test {
	failed := slices.IndexFunc(t.ends, func(e testEvent) bool { return e.Event == "failed" })
	ignored := slices.IndexFunc(t.ends, func(e testEvent) bool { return e.Event == "ignored" })
	switch {
	case failed >= 0:
		return failure(t.ends[failed], r.how)
	case ignored >= 0:
		return replay.Test{Outcome: replay.Skip, Message: t.ends[ignored].Message}
	case len(t.ends) > 0:
		return replay.Test{Outcome: replay.Pass}
	}
	if alone, ok := r.alone(name); ok {
		if alone.Late {
			return replay.Test{Outcome: replay.TimedOut}
		}
		return replay.Test{Outcome: replay.Error, Kind: replay.Crash, Message: died(alone)}
	}
	switch {
	case end.Late, !ended && stop == replay.Timeout:
		return replay.Test{Outcome: replay.TimedOut, Message: numberless(end.Words)}
	case !ended, end.crashed(), r.suites == 0:
		return replay.Test{Outcome: replay.Error, Kind: replay.Crash, Message: died(end)}
	}
	return replay.Test{Outcome: replay.Missing, Message: "started and has no end"}
}

func failure(e testEvent, how string) replay.Test {
	words := strings.TrimSpace(e.Message + "\n" + e.Stdout)
	t := replay.Test{Outcome: replay.Fail, Kind: kindOf(words), Message: panicWords(words)}
	switch {
	case e.Reason == "time limit exceeded":
		return replay.Test{Outcome: replay.TimedOut}
	case how == "doc" && docBuild.MatchString(words):
		t.Outcome, t.Kind = replay.Error, replay.Build
	}
	return t
}

var (
	// Words of rustc and rustdoc where an example does not compile.
	docBuild = regexp.MustCompile(`(?m)^(?:error(?:\[E\d+\])?: |Couldn't compile the test)`)
	asserted = regexp.MustCompile(`(?m)(?:assertion (?:failed|.left .{1,8} right. failed|failed: ` + "`" + `)|test did not panic as expected|did not contain expected string)`)
	panics   = regexp.MustCompile(`(?m)^(?:thread '.*' panicked at|Error: )`)
)

func kindOf(words string) replay.Kind {
	if asserted.MatchString(words) {
		return replay.Assertion
	}
	return replay.Exception
}

// threadNumber is what newer releases write beside a thread's name; it is another one in each run.
var threadNumber = regexp.MustCompile(`(?m)^(thread '.*') \(\d+\) (panicked at )`)

func numberless(words string) string { return threadNumber.ReplaceAllString(words, "$1 $2") }

// panicWords begins with the panic: what a test printed before is not its failure.
func panicWords(words string) string {
	words = numberless(words)
	if at := panics.FindStringIndex(words); at != nil {
		return words[at[0]:]
	}
	return words
}

func died(e event) string {
	how := fmt.Sprintf("exit %d", e.Exit)
	if e.Signal != 0 {
		how = fmt.Sprintf("signal %d", e.Signal)
	}
	return strings.TrimSpace(how + "\n" + numberless(e.Words))
}

// agree compares the exit code with all that was found.
func (a *analysis) agree() {
	a.doubt.Add(a.built.bad, "a line of the report on what was compiled cannot be read")
	a.doubt.Agree(report.End{
		Tool: "cargo", Step: a.step, Set: &a.set, Broken: len(a.broken) > 0, Ran: a.ran,
		Ended: a.log.done && a.log.all == len(a.log.list), Words: string(a.step.Stderr),
	})
}

func (a *analysis) phases(rep *replay.Report, explain *replay.StepResult) {
	if a.built.read {
		rep.BuildSource, rep.BuildTests = replay.OK, replay.OK
	} else {
		rep.BuildSource, rep.BuildTests = replay.Unknown, replay.Unknown
	}
	unbuilt := len(a.built.broken) > 0 || a.built.stopped != "" || a.built.unread != ""
	if unbuilt {
		rep.BuildTests, rep.BuildSource = replay.Failed, sourceBuilds(explain)
	}
	switch {
	case cut(a.step), a.lost:
		rep.RunTests = replay.Failed
	case a.ran:
		rep.RunTests = replay.OK
	case unbuilt:
		rep.RunTests = replay.NotRun
	}
}

var notCompiled = regexp.MustCompile(`(?m)^error(?:: could not compile|: aborting due to|\[E\d+\])`)

// sourceBuilds reads the explaining step: the packages without their tests.
func sourceBuilds(s *replay.StepResult) replay.Phase {
	switch {
	case s == nil || s.Stop != replay.Exited:
		return replay.Unknown
	case s.ExitCode == 0:
		return replay.OK
	case notCompiled.Match(s.Stderr):
		return replay.Failed
	}
	return replay.Unknown
}
