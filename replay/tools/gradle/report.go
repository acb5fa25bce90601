package gradle

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/report"
)

// event is one line of our script's report.
type event struct {
	E       string // top, tests, source, class, start, end, task, done
	Task    string // ":core:test"
	Dir     string // of top: absolute; of tests: the build's folder, from the root
	File    string
	Package string
	Class   string
	Name    string
	Kind    string // of a task: source, tests or run
	State   string // of a task: ok, failed; of a test: SUCCESS, FAILURE, SKIPPED
	Type    string // of what was thrown
	Message string
}

// ran is what a run tells of one task of tests.
type ran struct {
	dir     string
	classes *jvm.Classes
	running map[[2]string]int // class and name
	bad     bool
	failed  bool // the task ended so
	ended   bool
	crash   string // what Gradle says of the end of the tests' process
}

type analysis struct {
	root   string
	top    string
	step   *replay.StepResult
	tasks  map[string]*ran
	set    report.Set
	broken map[string]string
	spoken map[string]string // files that compilers speak of; nil before that is asked
	source bool              // some source did not build
	tests  bool              // some tests did not build
	crash  bool
	begun  bool
	done   bool
	doubt  report.Doubts
}

// Parse reads what our script wrote. It must agree with how Gradle's tasks and Gradle itself ended.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &analysis{root: r.Root, step: step, tasks: map[string]*ran{}, broken: map[string]string{}}
	data := res.Files[eventFile]
	a.doubt.Add(len(data) == 0, "gradle left no report: %s", report.FirstLine(string(step.Stderr)+string(step.Stdout)))
	report.Events(&a.doubt, step, data, a.event)
	a.close()
	a.doubt.Agree(report.End{
		Tool: "gradle", Step: step, Set: &a.set, Broken: len(a.broken) > 0, Ran: a.set.Len() > 0, Ended: a.done, Words: string(step.Stderr),
	})
	rep.Tests = a.set.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.ends().Phases(&rep)
	rep.Inconsistent = a.doubt.Reason
	return rep
}

func (a *analysis) event(e event) {
	switch e.E {
	case "top":
		a.top, a.begun = e.Dir, true
		return
	case "done":
		a.doubt.Add(a.done, "the report has two ends")
		a.done = true
		a.failure(e)
		return
	case "task":
		a.task(e)
		return
	case "tests":
		a.doubt.Add(a.tasks[e.Task] != nil, "the tests of %s begin twice", report.FirstLine(e.Task))
		dir := path.Join(a.root, e.Dir)
		a.tasks[e.Task] = &ran{dir: dir, classes: jvm.NewClasses(dir), running: map[[2]string]int{}}
		return
	}
	x := a.tasks[e.Task]
	if x == nil {
		a.doubt.Add(true, "the report has an event of no task: %s", report.FirstLine(e.Task))
		return
	}
	key := [2]string{e.Class, e.Name}
	switch e.E {
	case "source":
		x.classes.Source(path.Join(a.root, e.File), e.Package)
	case "class":
		x.classes.Compiled(e.Class, e.File)
	case "start":
		x.running[key]++
	case "end":
		a.doubt.Add(x.running[key] == 0, "test %s ended without a start", report.FirstLine(e.Name))
		x.running[key] = max(0, x.running[key]-1)
		a.test(x, e)
	default:
		a.doubt.Add(true, "the report has an unknown event %q", report.FirstLine(e.E))
	}
}

func (a *analysis) test(x *ran, e event) {
	c := report.Case{Class: e.Class, Name: e.Name}
	switch e.State {
	case "SUCCESS":
	case "SKIPPED":
		c.Skips = []report.What{{Message: "skipped"}}
	case "FAILURE":
		c.Failures = []report.What{{Type: e.Type, Message: e.Message}}
	default:
		a.doubt.Add(true, "test %s has the unknown outcome %q", report.FirstLine(e.Name), report.FirstLine(e.State))
		return
	}
	t := x.classes.Test(c, false)
	if t.Outcome == replay.Fail && t.Kind == replay.Exception {
		t.Outcome = replay.Error // as Surefire tells them
	}
	x.bad = x.bad || report.Bad(t.Outcome)
	a.set.Add(t)
}

// task takes how a task ended. The compiler's words are on the console only.
func (a *analysis) task(e event) {
	if x := a.tasks[e.Task]; x != nil && e.Kind == "run" {
		x.ended, x.failed = true, e.State == "failed"
		if died.MatchString(e.Message) {
			x.crash = e.Message
		}
		if x.failed && !x.bad && absent.MatchString(e.Message) {
			a.doubt.Add(true, "the environment lacks what the tests need: %s", report.FirstLine(e.Message))
		}
		return
	}
	if e.State != "failed" {
		return
	}
	if e.Kind == "source" {
		a.source = true
	} else {
		a.tests = true
	}
	a.breaks(e)
}

// died are Gradle's words for the end of the process that runs the tests.
var died = regexp.MustCompile(`finished with non-zero exit value|Could not (?:complete|start) execution for Gradle Test`)

// absent are Gradle's words for what the environment does not hold.
var absent = regexp.MustCompile(`(?i)No cached (?:version|resource)|offline mode|Could not (?:resolve|find|download)`)

func (a *analysis) breaks(e event) {
	if strings.Contains(strings.ToLower(e.Task), "compile") && a.compilers() {
		return
	}
	name := path.Join(a.root, strings.ReplaceAll(strings.Trim(e.Task, ":"), ":", "/"))
	a.broken[strings.ToValidUTF8(name, "\uFFFD")] = report.Clip(e.Message, report.BrokenLines, report.BrokenBytes)
	a.doubt.Add(absent.MatchString(e.Message), "the environment lacks what the build needs: %s", report.FirstLine(e.Message))
}

// compilers notes the files of the tree that compilers speak of on the console, and reports whether there are any. It reads that once: a
// report may name many tasks.
func (a *analysis) compilers() bool {
	if a.spoken == nil {
		a.spoken = jvm.Errors(string(a.step.Stdout)+"\n"+string(a.step.Stderr), func(name string) (string, bool) {
			rel, ok := strings.CutPrefix(name, a.top+"/")
			return path.Join(a.root, rel), ok && a.top != ""
		})
		for f, words := range a.spoken {
			a.broken[strings.ToValidUTF8(f, "\uFFFD")] = words
		}
	}
	return len(a.spoken) > 0
}

// failure is the end of a build that failed before its first task.
func (a *analysis) failure(e event) {
	if e.Message == "" || len(a.broken) > 0 || len(a.tasks) > 0 {
		return
	}
	a.source = true
	a.breaks(event{Message: e.Message})
}

// close gives the tests that were running at the end their outcome.
func (a *analysis) close() {
	for _, name := range slices.Sorted(maps.Keys(a.tasks)) {
		x := a.tasks[name]
		a.unended(x)
		a.doubt.Add(x.ended && x.failed && !x.bad, "the tests of %s failed without a failed test", report.FirstLine(name))
		a.doubt.Add(x.ended && !x.failed && x.bad, "the tests of %s have failed and yet passed", report.FirstLine(name))
		a.doubt.Add(!x.ended && a.step.Stop == replay.Exited, "the tests of %s have no end", report.FirstLine(name))
	}
}

// unended are the tests without an end. At a time limit they were running. When their process ends, what it told last is lost with it, so
// nobody knows in which test that was: one id stands for the process.
func (a *analysis) unended(x *ran) {
	running := slices.SortedFunc(maps.Keys(x.running), func(p, q [2]string) int { return cmp.Or(cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1])) })
	running = slices.DeleteFunc(running, func(key [2]string) bool { return x.running[key] == 0 })
	if a.step.Stop == replay.Timeout {
		for _, key := range running {
			a.set.Add(replay.Test{ID: x.classes.ID(key[0], key[1]), Outcome: replay.TimedOut})
		}
		return
	}
	if len(running) > 0 || x.crash != "" {
		a.crash, x.bad = true, true
		id := strings.ToValidUTF8(path.Join(x.dir, "src/test"), "\uFFFD") + "::" + process
		a.set.Add(replay.Test{ID: id, Outcome: replay.Error, Kind: replay.Crash, Message: "the process of the tests ended\n" + x.crash})
	}
}

// process is the name of what stands for the process of a project's tests.
const process = "(process)"

func (a *analysis) ends() jvm.Ends {
	return jvm.Ends{
		Begun: a.begun, Source: a.source, Tests: a.tests, Cut: a.crash || a.step.Stop != replay.Exited,
		Reported: a.set.Len() > 0, Completed: true,
	}
}
