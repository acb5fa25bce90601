package gotest

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// Parse reads the events on the test step's stdout. The exit code, the packages' ends and the tests' ends must agree.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &goAnalysis{log: readGoLog(step.Stdout, step.Stderr), step: step, broken: map[string]string{}}
	a.doubt.Add(step.Truncated, "the output of go test was cut")
	a.doubt.Add(len(a.log.packages) == 0, "go test reported nothing: %s", report.FirstLine(a.log.stray.String()))
	for _, name := range slices.Sorted(maps.Keys(a.log.packages)) {
		a.pkg(name, a.log.packages[name])
	}
	a.agree()
	rep.Tests = a.tests.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep, res.Step(StepExplain))
	rep.Inconsistent = a.doubt.Reason
	return rep
}

type goAnalysis struct {
	log       *goLog
	step      *replay.StepResult
	tests     report.Set
	broken    map[string]string
	unbuilt   int  // packages that did not build
	cutShort  bool // a package has no end
	withTests int  // packages of which at least one test started
	doubt     report.Doubts
}

func (a *goAnalysis) pkg(name string, p *goPackageLog) {
	if p.broken != "" {
		a.unbuilt++
		a.broken[name] = report.Clip(a.buildWords(name, p), report.BrokenLines, report.BrokenBytes)
		a.doubt.Add(len(p.tests) > 0, "package %s did not build and yet ran tests", name)
		return
	}
	started, failed := false, false
	for id, t := range p.tests {
		got, ok := a.outcome(p, id, t)
		if !ok {
			continue
		}
		got.ID = strings.ToValidUTF8(name+"::"+id, "\uFFFD")
		a.tests.Add(got)
		started = started || t.started
		failed = failed || report.Bad(got.Outcome)
		a.doubt.Add(len(t.ends) > 1, "test %s ended more than once", got.ID)
	}
	if started {
		a.withTests++
	}
	a.packageEnd(name, p, started, failed)
}

// packageEnd compares a package's end with its tests'.
func (a *goAnalysis) packageEnd(name string, p *goPackageLog, started, failed bool) {
	switch {
	case p.end == "":
		a.cutShort = true
		a.doubt.Add(a.step.Stop == replay.Exited, "package %s has no end", name)
	case p.end == "fail" && !started:
		a.broken[name] = report.Clip("the test binary ended before its first test\n"+p.output.String(), report.BrokenLines, report.BrokenBytes)
	case p.end == "fail" && !failed:
		a.doubt.Add(true, "package %s failed without a failed test", name)
	case p.end != "fail" && failed:
		a.doubt.Add(true, "package %s passed with a failed test", name)
	}
}

// agree compares the exit code with all that was found.
func (a *goAnalysis) agree() {
	failures := a.tests.AnyBad() || len(a.broken) > 0
	if a.step.Stop == replay.Exited {
		a.doubt.Add(a.step.ExitCode == 0 && failures, "go test exited 0 in spite of failures")
		a.doubt.Add(a.step.ExitCode != 0 && !failures, "go test exited %d without a failure", a.step.ExitCode)
		a.doubt.Add(a.withTests == 0 && !failures, "no test ran")
	}
	a.doubt.Add(a.tests.Clash() != "", "test %s both passed and failed", a.tests.Clash())
}

// outcome reads one test. A test that only has output was never started: it is not reported.
func (a *goAnalysis) outcome(p *goPackageLog, name string, t *goTestLog) (replay.Test, bool) {
	switch {
	case len(t.ends) == 0 && !t.started:
		return replay.Test{}, false
	case len(t.ends) == 0:
		return a.unended(p, name, t), true
	case slices.Contains(t.ends, "fail"), slices.Contains(t.ends, "pass") && slices.Contains(t.ends, "skip"):
		kind, words := p.failure(name, t)
		return replay.Test{Outcome: replay.Fail, Kind: kind, Message: words}, true
	case t.ends[0] == "skip":
		return replay.Test{Outcome: replay.Skip, Message: t.output.String()}, true
	case !t.started:
		// Only a printed line can do this.
		return replay.Test{Outcome: replay.Missing, Message: "passed without having been started"}, true
	}
	return replay.Test{Outcome: replay.Pass}, true
}

// unended reads a test that started and has no end: the binary, or the run, ended first.
func (a *goAnalysis) unended(p *goPackageLog, name string, t *goTestLog) replay.Test {
	words := t.output.String()
	missing := replay.Test{Outcome: replay.Missing, Message: "started and has no end"}
	crash := replay.Test{Outcome: replay.Error, Kind: replay.Crash, Message: words}
	switch {
	case p.timedOut && p.wasRunning(name, t):
		return replay.Test{Outcome: replay.TimedOut, Message: words}
	case t.paused, p.timedOut:
		return missing
	case p.end == "" && a.step.Stop == replay.Timeout:
		return replay.Test{Outcome: replay.TimedOut, Message: words}
	case p.end == "" && a.step.Stop != replay.Exited:
		return crash
	case p.end == "fail" && p.panicked:
		crash.Kind = replay.Exception
		return crash
	case p.end == "fail":
		return crash
	}
	return missing
}

// wasRunning uses the list that the binary prints when it times out; a parent runs while its child does. A Go without
// that list leaves all that were not paused.
func (p *goPackageLog) wasRunning(name string, t *goTestLog) bool {
	if len(p.running) == 0 {
		return !t.paused
	}
	return slices.ContainsFunc(p.running, func(r string) bool {
		return r == name || strings.HasPrefix(r, name+"/")
	})
}

// failure gives the kind and words of a failed test. A parent without words of its own takes its first failed child's;
// a panic's words are printed after the outermost test's end, so they belong to its children as well.
func (p *goPackageLog) failure(name string, t *goTestLog) (replay.Kind, string) {
	if words := t.output.String(); strings.TrimSpace(words) != "" {
		return panicKind(t), words
	}
	names := p.sorted()
	first, _ := slices.BinarySearch(names, name+"/")
	for _, child := range names[first:] {
		if !strings.HasPrefix(child, name+"/") {
			break
		}
		if t := p.tests[child]; t.hasFailed() {
			return panicKind(t), t.output.String()
		}
	}
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		if t := p.tests[parent]; t != nil && t.panicked && t.hasFailed() {
			return replay.Exception, t.output.String()
		}
	}
	return replay.Assertion, ""
}

func panicKind(t *goTestLog) replay.Kind {
	if t.panicked {
		return replay.Exception
	}
	return replay.Assertion
}

// hasFailed says that a test failed and has words about it.
func (t *goTestLog) hasFailed() bool {
	return slices.Contains(t.ends, "fail") && strings.TrimSpace(t.output.String()) != ""
}

// sorted names the tests; the list is made once, after the last event.
func (p *goPackageLog) sorted() []string {
	if p.names == nil {
		p.names = slices.Sorted(maps.Keys(p.tests))
	}
	return p.names
}

// buildWords finds what the compiler said about a package: by the build that the package's end names, else under the
// package's own name or that of its test variant, else everything, since a dependency's words carry its own name.
func (a *goAnalysis) buildWords(name string, p *goPackageLog) string {
	names := slices.Sorted(maps.Keys(a.log.builds))
	var words strings.Builder
	for _, build := range names {
		base, _, _ := strings.Cut(build, " ")
		if build == p.failedBuild || base == name || base == name+"_test" {
			words.WriteString(a.log.builds[build].String())
		}
	}
	if words.Len() > 0 {
		return words.String()
	}
	for _, build := range names {
		words.WriteString(a.log.builds[build].String())
	}
	return p.broken + "\n" + words.String() + a.log.stray.String()
}

func (a *goAnalysis) phases(rep *replay.Report, explain *replay.StepResult) {
	rep.BuildSource, rep.BuildTests = replay.OK, replay.OK
	if len(a.log.packages) == 0 {
		rep.BuildSource, rep.BuildTests = replay.Unknown, replay.Unknown
	}
	if a.unbuilt > 0 {
		rep.BuildTests = replay.Failed
		rep.BuildSource = sourceBuilds(explain)
	}
	switch {
	case a.step.Stop != replay.Exited, a.cutShort:
		rep.RunTests = replay.Failed
	case a.withTests > 0:
		rep.RunTests = replay.OK
	case len(a.broken) > a.unbuilt:
		rep.RunTests = replay.Failed
	case a.unbuilt > 0:
		rep.RunTests = replay.NotRun
	default:
		rep.RunTests = replay.Unknown
	}
}

// sourceBuilds reads the explaining step: the packages without their tests.
func sourceBuilds(s *replay.StepResult) replay.Phase {
	if s == nil || s.Stop != replay.Exited || s.ExitCode != 0 || s.Truncated {
		return replay.Unknown
	}
	type goError struct{ Err string }
	for dec := json.NewDecoder(strings.NewReader(string(s.Stdout))); dec.More(); {
		var p struct {
			Error      *goError
			DepsErrors []goError
		}
		if dec.Decode(&p) != nil {
			return replay.Unknown
		}
		if p.Error != nil && !noSource(p.Error.Err) || len(p.DepsErrors) > 0 {
			return replay.Failed
		}
	}
	return replay.OK
}

// noSource says that a package has no source of its own that could fail to build.
func noSource(err string) bool {
	for _, s := range []string{"directory not found", "no such file or directory", "no Go files in", "no non-test Go files in"} {
		if strings.Contains(err, s) && !strings.HasPrefix(err, "# ") {
			return true
		}
	}
	return false
}
