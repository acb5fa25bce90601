package pytest

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

const junitFile = "junit.xml"

// The exit codes that pytest documents.
const (
	pyOK = iota
	pyTestsFailed
	pyInterrupted
	pyInternalError
	pyUsage
	pyNoTests
)

// Parse reads the JUnit report, which must agree with the exit code and with the last line of the console.
func (Tool) Parse(r replay.Recipe, t replay.Target, res replay.Result) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &pyAnalysis{root: r.Root, step: step, broken: map[string]string{}}
	if data, ok := res.Files[junitFile]; ok {
		a.report(data, t.Paths)
	} else if !a.unconfigured() {
		a.doubt.Add(true, "pytest left no report: %s", report.FirstLine(string(step.Stderr)+string(step.Stdout)))
	}
	a.agree()
	rep.Tests = a.tests.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep)
	rep.Inconsistent = a.doubt.Reason
	return rep
}

type pyAnalysis struct {
	root    string
	step    *replay.StepResult
	tests   report.Set
	broken  map[string]string
	failed  bool // something in broken is an error, not a skip
	doubt   report.Doubts
	ignored int // files that chose at import not to be tested
}

func (a *pyAnalysis) report(data []byte, paths []string) {
	cases, err := report.ReadJUnit(data)
	a.doubt.Add(err != nil, "reading the report: %v", err)
	names := newModuleNames(a.root, paths, cases)
	for _, c := range cases {
		if c.Name == "" {
			continue // what pytest.exit leaves: the exit code tells
		}
		if collected(c) {
			t := c.Test(kind)
			t.ID = strings.ToValidUTF8(names.nodeID(c), "\uFFFD")
			a.tests.Add(t)
			continue
		}
		file := names.module(c)
		a.broken[file] = report.Clip(c.Words(), report.BrokenLines, report.BrokenBytes)
		if len(c.Errors)+len(c.Failures) > 0 {
			a.failed = true
		} else {
			a.ignored++
		}
	}
	a.doubt.Add(a.tests.Clash() != "", "test %s both passed and failed", a.tests.Clash())
}

var (
	pyConftest = regexp.MustCompile(`(?m)^ImportError while loading conftest '([^'\n]+)'`)
	pyTrace    = regexp.MustCompile(`(?m)^(\S+\.py):\d+: in `)
	pyNotFound = regexp.MustCompile(`(?m)^ERROR: (?:file or directory not found|not found): (\S+)`)
)

// unconfigured recognises the one death that says something about the tests and leaves no report: a conftest.py that
// cannot be imported.
func (a *pyAnalysis) unconfigured() bool {
	m := pyConftest.FindSubmatch(a.step.Stderr)
	if m == nil || a.step.Stop != replay.Exited || a.step.ExitCode != pyUsage {
		return false
	}
	a.broken[a.relative(string(m[1]))] = report.Clip(string(a.step.Stderr), report.BrokenLines, report.BrokenBytes)
	a.failed = true
	return true
}

// relative finds the name that the traceback uses for a file of which only the absolute name is known.
func (a *pyAnalysis) relative(abs string) string {
	for _, m := range pyTrace.FindAllSubmatch(a.step.Stderr, -1) {
		if name := string(m[1]); !path.IsAbs(name) && strings.HasSuffix(abs, "/"+name) {
			return path.Join(a.root, name)
		}
	}
	return path.Base(abs)
}

var pySummary = regexp.MustCompile(`(?m)^=+ (?:.*, )?\d+ (?:failed|errors?)\b.* in [0-9.]+s\b.*=+\s*$`)

// agree compares the exit code and the console's last line with the report.
func (a *pyAnalysis) agree() {
	a.doubt.Add(a.step.Stop == replay.Signal, "pytest was killed by a signal")
	if a.step.Stop != replay.Exited {
		return
	}
	failures := a.tests.AnyBad() || a.failed
	a.doubt.Add(pySummary.Match(a.step.Stdout) && !failures, "the console tells of failures that the report lacks")
	switch a.step.ExitCode {
	case pyOK:
		a.doubt.Add(failures, "pytest exited 0 in spite of failures")
		a.doubt.Add(a.tests.Len() == 0, "no test ran")
	case pyTestsFailed:
		a.doubt.Add(!failures, "pytest exited 1 without a failure")
	case pyUsage:
		a.usage()
	case pyNoTests:
		a.doubt.Add(a.tests.Len() > 0 || a.failed, "pytest exited 5 (no tests) with a report of tests")
		a.doubt.Add(a.ignored == 0, "no test ran")
	default:
		a.doubt.Add(true, "%s", a.abnormal())
	}
}

func (a *pyAnalysis) usage() {
	for _, m := range pyNotFound.FindAllSubmatch(a.step.Stderr, -1) {
		a.broken[path.Join(a.root, string(m[1]))] = "file or directory not found"
		a.failed = true
	}
	a.doubt.Add(!a.failed, "%s", a.abnormal())
}

func (a *pyAnalysis) abnormal() string {
	return fmt.Sprintf("pytest exited %d: %s", a.step.ExitCode, report.FirstLine(string(a.step.Stderr)))
}

func (a *pyAnalysis) phases(rep *replay.Report) {
	if a.tests.Len() > 0 || len(a.broken) > 0 {
		rep.BuildTests = replay.OK
	}
	if a.failed {
		rep.BuildTests = replay.Failed
	}
	normal := a.step.Stop == replay.Exited && (a.step.ExitCode == pyOK || a.step.ExitCode == pyTestsFailed)
	switch {
	case a.tests.Len() > 0 && normal:
		rep.RunTests = replay.OK
	case a.step.Stop != replay.Exited, a.step.ExitCode == pyInterrupted, a.step.ExitCode == pyInternalError:
		rep.RunTests = replay.Failed
	case len(a.broken) > 0:
		rep.RunTests = replay.NotRun
	}
}
