package maven

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/report"
)

// event is one line of our extension's report.
type event struct {
	E       string // module, source, class, goal, failed, end
	N       string // of a module: the name of its folder for reports
	Dir     string // of the module, from the root
	File    string // of a source: from the root; of a class: its base name
	Package string
	Class   string
	Goal    string // "maven-surefire-plugin:test"
	Phase   string
	State   string // start, ok, failed
	Reports string // of Surefire's start: the name of the folder that its reports go to
	Message string
}

// ran is what a run tells of a module.
type ran struct {
	dir     string
	classes *jvm.Classes
	test    string // how Surefire ended: "", start, ok, failed
	words   string // of Surefire's failure
	folders map[string]bool
}

type analysis struct {
	root    string
	step    *replay.StepResult
	modules []*ran
	number  map[string]*ran // by folder of reports
	set     report.Set
	broken  map[string]string
	source  bool // some source did not build
	tests   bool // some tests did not build
	crashed bool
	tested  bool // Surefire came to its end somewhere
	ended   bool
	doubt   report.Doubts
}

const surefireGoal = "maven-surefire-plugin:test"

// Parse reads what our extension and Surefire wrote. Both, and the exit code, must agree.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &analysis{root: r.Root, step: step, number: map[string]*ran{}, broken: map[string]string{}}
	data := res.Files[eventFile]
	a.doubt.Add(len(data) == 0, "maven left no report: %s", firstError(step))
	byDir := map[string]*ran{}
	report.Events(&a.doubt, step, data, func(e event) { a.read(byDir, e) })
	a.reports(res.Files)
	a.doubt.Agree(report.End{
		Tool: "maven", Step: step, Set: &a.set, Broken: len(a.broken) > 0, Ran: a.set.Len() > 0, Ended: a.ended, Words: firstError(step),
	})
	rep.Tests = a.set.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.ends().Phases(&rep)
	rep.Inconsistent = a.doubt.Reason
	return rep
}

var errorLine = regexp.MustCompile(`(?m)^\[(?:ERROR|FATAL)\] .*$`)

// firstError is what Maven says first of what went wrong.
func firstError(s *replay.StepResult) string {
	if m := errorLine.Find(s.Stdout); m != nil {
		return report.FirstLine(string(m))
	}
	return report.FirstLine(string(s.Stderr) + string(s.Stdout))
}

// read takes one event. byDir are the modules that were named.
func (a *analysis) read(byDir map[string]*ran, e event) {
	m := byDir[e.Dir]
	switch {
	case e.E == "module":
		a.doubt.Add(len(a.modules) >= maxPoms, "the report names more than %d modules", maxPoms)
		if len(a.modules) >= maxPoms {
			return
		}
		a.doubt.Add(m != nil, "the report names the module %s twice", report.FirstLine(path.Join(a.root, e.Dir)))
		m = &ran{dir: path.Join(a.root, e.Dir), classes: jvm.NewClasses(path.Join(a.root, e.Dir))}
		a.modules, byDir[e.Dir], a.number[e.N] = append(a.modules, m), m, m
	case e.E == "end":
		a.doubt.Add(a.ended, "the report has two ends")
		a.ended = true
		a.unread(e)
	case m == nil:
		a.doubt.Add(true, "the report has an event of no module: %q in %s", report.FirstLine(e.E), report.FirstLine(e.Dir))
	default:
		a.event(m, e)
	}
}

// unread is an end before any module: the poms could not be read.
func (a *analysis) unread(e event) {
	if len(a.modules) == 0 && strings.TrimSpace(e.Message) != "" {
		a.fail(&ran{dir: a.root}, e)
	}
}

func (a *analysis) event(m *ran, e event) {
	switch e.E {
	case "source":
		m.classes.Source(path.Join(a.root, e.File), e.Package)
	case "class":
		m.classes.Compiled(e.Class, e.File)
	case "goal":
		a.goal(m, e)
	case "failed":
		// A goal's failure was told before, with more words.
		if m.test != "failed" && !a.knows(m) {
			a.fail(m, e)
		}
	default:
		a.doubt.Add(true, "the report has an unknown event %q", report.FirstLine(e.E))
	}
}

func (a *analysis) goal(m *ran, e event) {
	switch {
	case e.Goal == surefireGoal:
		if e.Reports != "" {
			if m.folders == nil {
				m.folders = map[string]bool{}
			}
			m.folders[e.Reports] = true
		}
		if m.test != "failed" { // of several runs of tests in one module the failed one tells
			m.test = e.State
		}
		if e.State == "failed" && len(m.words) < wordsBytes {
			m.words += e.Message
		}
	case e.State == "failed":
		a.fail(m, e)
	}
}

// What is kept of a report that may have been forged: the words of Surefire's failures in a module, and broken files beside which a module's
// own failure says nothing more.
const (
	wordsBytes = 256 << 10
	manyBroken = 1000
)

// knows reports whether the module's failure was told.
func (a *analysis) knows(m *ran) bool {
	if len(a.broken) > manyBroken {
		return true
	}
	if _, ok := a.broken[path.Join(m.dir, pomFile)]; ok {
		return true
	}
	for f := range a.broken {
		if strings.HasPrefix(f, strings.TrimPrefix(m.dir+"/", "/")) {
			return true
		}
	}
	return false
}

// absent are Maven's words for what the environment does not hold.
var absent = regexp.MustCompile(`(?i)in offline mode|Could not (?:resolve|transfer|find) (?:artifact|dependencies)|has not been downloaded from it before|Failed to collect dependencies|was not found in|or one of its dependencies could not be resolved`)

// fail takes the failure of a goal, or of a module before its first goal.
func (a *analysis) fail(m *ran, e event) {
	files := jvm.Errors(e.Message, func(name string) (string, bool) {
		return path.Join(a.root, strings.TrimPrefix(name, "./")), !path.IsAbs(name)
	})
	if len(files) == 0 {
		// After another module's failure what that would have made is not there, either.
		first := len(a.broken) == 0
		files = map[string]string{path.Join(m.dir, pomFile): report.Clip(e.Message, report.BrokenLines, report.BrokenBytes)}
		a.doubt.Add(first && absent.MatchString(e.Message), "the environment lacks what the build needs: %s", report.FirstLine(e.Message))
	}
	for f, words := range files {
		a.broken[strings.ToValidUTF8(f, "\uFFFD")] = words
	}
	if strings.Contains(e.Phase, "test") || strings.Contains(strings.ToLower(e.Goal), ":test") {
		a.tests = true
	} else {
		a.source = true
	}
}

var (
	crash = regexp.MustCompile(`(?i)The forked VM terminated|ForkStarter|There was an error in the forked process|The fork(?:ed VM)? .*crash|VM crash`)
	// started is how Surefire started the machine, with files named by the time.
	started = regexp.MustCompile(`(?m)^Command was .*\n?`)
	crashed = regexp.MustCompile(`(?m)^Crashed tests:\n((?:[\w.$]+$\n?)+)`)
)

// reports reads Surefire's XML, module by module.
func (a *analysis) reports(files map[string][]byte) {
	folders := map[string]bool{}
	for name := range files {
		dir := path.Dir(name)
		if strings.HasPrefix(name, reportsDir+"/") && strings.HasSuffix(name, ".xml") && path.Dir(dir) == reportsDir {
			folders[path.Base(dir)] = true
		}
	}
	cases := map[*ran][]report.Case{}
	for _, folder := range sorted(folders) {
		n, _, _ := strings.Cut(folder, ".")
		m := a.number[n]
		if m == nil || m.test == "" || len(m.folders) > 0 && !m.folders[folder] {
			a.doubt.Add(true, "there are reports of tests that did not run: %s", report.FirstLine(folder))
			continue
		}
		list, err := report.ReadJUnits(files, reportsDir+"/"+folder+"/TEST-*.xml")
		a.doubt.Add(err != nil && a.step.Stop == replay.Exited && m.words == "", "reading the reports: %v", err)
		cases[m] = append(cases[m], list...)
	}
	bad := map[*ran]bool{}
	for _, m := range a.modules {
		worseFirst(cases[m])
		for _, c := range cases[m] {
			t := m.classes.Test(c, true)
			bad[m] = bad[m] || report.Bad(t.Outcome)
			a.set.Add(t)
		}
	}
	for _, m := range a.modules {
		a.module(m, bad[m])
	}
}

// worseFirst orders what several reports say of one test, which a suite runs besides its class or which somebody made up: the first has
// the test's own id.
func worseFirst(cases []report.Case) {
	places := map[[2]string][]int{}
	for i, c := range cases {
		key := [2]string{c.Class, c.Name}
		places[key] = append(places[key], i)
	}
	for _, at := range places {
		if !slices.ContainsFunc(at, func(i int) bool { return cases[i].Report != cases[at[0]].Report }) {
			continue
		}
		same := make([]report.Case, 0, len(at))
		for _, i := range at {
			same = append(same, cases[i])
		}
		slices.SortStableFunc(same, func(x, y report.Case) int { return cmp.Compare(passed(x), passed(y)) })
		for n, i := range at {
			cases[i] = same[n]
		}
	}
}

func passed(c report.Case) int {
	if len(c.Failures)+len(c.Errors) > 0 {
		return 0
	}
	return 1
}

// module compares how Surefire ended with its reports.
func (a *analysis) module(m *ran, bad bool) {
	switch m.test {
	case "ok":
		a.tested = true
		a.doubt.Add(bad, "the module %s has failed tests and yet passed", m.dir)
	case "failed":
		if crash.MatchString(m.words) {
			a.crash(m)
			return
		}
		a.tested = true
		a.doubt.Add(!bad && absent.MatchString(m.words), "the environment lacks what the tests need: %s", report.FirstLine(m.words))
		a.doubt.Add(!bad, "the tests of the module %s failed without a failed test: %s", m.dir, report.FirstLine(m.words))
	case "start":
		a.doubt.Add(a.step.Stop == replay.Exited, "the tests of the module %s have no end", m.dir)
	}
}

// crash names the classes that ran when a virtual machine ended: none of their tests is known.
func (a *analysis) crash(m *ran) {
	a.crashed = true
	words := started.ReplaceAllString(m.words, "")
	named := crashed.FindAllStringSubmatch(m.words, -1)
	for _, c := range named {
		for _, class := range strings.Fields(c[1]) {
			file, rest := m.classes.File(class)
			a.set.Add(replay.Test{ID: file + "::" + rest + jvm.WholeClass, Outcome: replay.Error, Kind: replay.Crash, Message: "the virtual machine ended in it\n" + words})
		}
	}
	if len(named) == 0 {
		a.broken[path.Join(m.dir, pomFile)] = report.Clip("the virtual machine of the tests ended\n"+words, report.BrokenLines, report.BrokenBytes)
	}
}

func (a *analysis) ends() jvm.Ends {
	return jvm.Ends{
		Begun: a.ended || len(a.modules) > 0, Source: a.source, Tests: a.tests, Cut: a.crashed || a.step.Stop != replay.Exited,
		Reported: a.set.Len() > 0, Completed: a.tested,
	}
}

// sorted are folders named by numbers, in the order of these.
func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for k := range set {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(fmt.Sprintf("%08s", a), fmt.Sprintf("%08s", b)) })
	return list
}
