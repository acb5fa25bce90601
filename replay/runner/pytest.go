package runner

import (
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"sluice/replay"
)

// pyTest runs pytest with a JUnit report. Test ids are pytest's node ids, relative to the tree.
type pyTest struct{}

func (pyTest) Name() string { return "pytest" }

// inVenv starts the interpreter of a virtual environment as its activation would: tests may start its scripts by name.
const inVenv = `PATH="$VIRTUAL_ENV/bin:$PATH"; export PATH; exec python "$@"`

const junitFile = "junit.xml"

// Steps runs the recipe's Build steps, then pytest, under the interpreter of the recipe's VIRTUAL_ENV if it has one.
//
// The project's addopts are switched off: they ask for coverage, workers, retries and reports of their own, which
// change the exit code and the order. What a project cannot do without (an import mode, markers) is for the recipe to
// put into PYTEST_ADDOPTS. Random order is switched off, the cache of an earlier run is not used, and node ids are made relative to the
// step's folder. Every path must exist: pytest runs nothing if one does not.
func (pyTest) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	args := []string{"python"}
	if r.Env["VIRTUAL_ENV"] != "" {
		args = []string{"sh", "-c", inVenv, "sh"}
	}
	args = append(args,
		"-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts=",
		"-o", "junit_family=xunit1", "--junitxml={out}/"+junitFile, "--rootdir=.", "--continue-on-collection-errors",
	)
	if paths := pyPaths(r.Root, t.Paths); len(paths) > 0 {
		args = append(args, paths...)
	}
	steps := append([]replay.Step{}, r.Build...)
	return append(steps, replay.Step{Name: StepTest, Args: args, Dir: r.Root})
}

// pyPaths keeps the test modules of a target. Helpers (conftest.py, data, plain modules) cannot be run themselves: if
// there is nothing else, everything runs.
func pyPaths(root string, paths []string) []string {
	seen := map[string]bool{}
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		if pyTestModule(path.Base(clean)) {
			seen[relativeTo(root, clean)] = true
		}
	}
	var list []string
	for p := range seen {
		list = append(list, p)
	}
	sort.Strings(list)
	return list
}

func pyTestModule(base string) bool {
	stem, ok := strings.CutSuffix(base, ".py")
	return ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") ||
		strings.HasSuffix(stem, "_tests") || stem == "test" || stem == "tests")
}

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
func (pyTest) Parse(r replay.Recipe, t replay.Target, res replay.Result) replay.Report {
	rep, step := start(r, res)
	if step == nil {
		return rep
	}
	a := &pyAnalysis{root: r.Root, step: step, broken: map[string]string{}}
	if data, ok := res.Files[junitFile]; ok {
		a.report(data, t.Paths)
	} else if !a.unconfigured() {
		a.doubt.add(true, "pytest left no report: %s", firstLine(string(step.Stderr)+string(step.Stdout)))
	}
	a.agree()
	rep.Tests = a.tests.sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep)
	rep.Inconsistent = a.doubt.reason
	return rep
}

type pyAnalysis struct {
	root    string
	step    *replay.StepResult
	tests   testSet
	broken  map[string]string
	failed  bool // something in broken is an error, not a skip
	doubt   doubts
	ignored int // files that chose at import not to be tested
}

func (a *pyAnalysis) report(data []byte, paths []string) {
	cases, err := readJUnit(data)
	a.doubt.add(err != nil, "reading the report: %v", err)
	names := newModuleNames(a.root, paths, cases)
	for _, c := range cases {
		if c.Name == "" {
			continue // what pytest.exit leaves: the exit code tells
		}
		if c.collected() {
			t := c.test()
			t.ID = strings.ToValidUTF8(names.nodeID(c), "\uFFFD")
			a.tests.add(t)
			continue
		}
		file := names.module(c)
		a.broken[file] = clip(c.words(), 1<<10, brokenBytes)
		if len(c.Errors)+len(c.Failures) > 0 {
			a.failed = true
		} else {
			a.ignored++
		}
	}
	a.doubt.add(a.tests.clash != "", "test %s both passed and failed", a.tests.clash)
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
	a.broken[a.relative(string(m[1]))] = clip(string(a.step.Stderr), 1<<10, brokenBytes)
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
	a.doubt.add(a.step.Stop == replay.Signal, "pytest was killed by a signal")
	if a.step.Stop != replay.Exited {
		return
	}
	failures := a.tests.anyBad() || a.failed
	a.doubt.add(pySummary.Match(a.step.Stdout) && !failures, "the console tells of failures that the report lacks")
	switch a.step.ExitCode {
	case pyOK:
		a.doubt.add(failures, "pytest exited 0 in spite of failures")
		a.doubt.add(len(a.tests.byID) == 0, "no test ran")
	case pyTestsFailed:
		a.doubt.add(!failures, "pytest exited 1 without a failure")
	case pyUsage:
		a.usage()
	case pyNoTests:
		a.doubt.add(len(a.tests.byID) > 0 || a.failed, "pytest exited 5 (no tests) with a report of tests")
		a.doubt.add(a.ignored == 0, "no test ran")
	default:
		a.doubt.add(true, "%s", a.abnormal())
	}
}

func (a *pyAnalysis) usage() {
	for _, m := range pyNotFound.FindAllSubmatch(a.step.Stderr, -1) {
		a.broken[path.Join(a.root, string(m[1]))] = "file or directory not found"
		a.failed = true
	}
	a.doubt.add(!a.failed, "%s", a.abnormal())
}

func (a *pyAnalysis) abnormal() string {
	return fmt.Sprintf("pytest exited %d: %s", a.step.ExitCode, firstLine(string(a.step.Stderr)))
}

func (a *pyAnalysis) phases(rep *replay.Report) {
	if len(a.tests.byID) > 0 || len(a.broken) > 0 {
		rep.BuildTests = replay.OK
	}
	if a.failed {
		rep.BuildTests = replay.Failed
	}
	normal := a.step.Stop == replay.Exited && (a.step.ExitCode == pyOK || a.step.ExitCode == pyTestsFailed)
	switch {
	case len(a.tests.byID) > 0 && normal:
		rep.RunTests = replay.OK
	case a.step.Stop != replay.Exited, a.step.ExitCode == pyInterrupted, a.step.ExitCode == pyInternalError:
		rep.RunTests = replay.Failed
	case len(a.broken) > 0:
		rep.RunTests = replay.NotRun
	}
}
