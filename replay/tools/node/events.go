package node

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// ReporterHead is the text that all reporters of ours begin with.
//
//go:embed reporter.js
var ReporterHead string

// event is one line of a report.
type event struct {
	E       string // begin, start, end, broken, done
	File    string // from the package's folder
	Path    []string
	Outcome replay.Outcome `json:"o"`
	Kind    replay.Kind    `json:"k"`
	Message string         `json:"m"`
	Late    bool           // an end that came after the test's own, from a hook
	Tests   int            // of done: how many ends of tests' own there are
	Bad     int            // of done: how many failures
}

// analysis is one reading of a report.
type analysis struct {
	root    string
	step    *replay.StepResult
	set     report.Set
	count   map[string]int // ends of tests of one name
	starts  map[string]int
	broken  map[string]string
	ended   int
	running string // the test that started last and has no end
	begun   int
	done    int // reports that came to their end
	counted int // tests that they count
	doubt   report.Doubts
}

// Parse reads the report of a reporter of ours, which must agree with the exit code. The tool's name is for the reader.
func Parse(r replay.Recipe, res replay.Result, tool, file string) replay.Report {
	rep, step := report.Start(r, res)
	if step == nil {
		return rep
	}
	a := &analysis{root: r.Root, step: step, count: map[string]int{}, starts: map[string]int{}, broken: map[string]string{}}
	data, there := res.Files[file]
	a.doubt.Add(!there || len(data) == 0, "%s left no report: %s", tool, report.FirstLine(string(step.Stderr)+string(step.Stdout)))
	unsealed := step.Stop == replay.Exited && len(data) > 0 && !bytes.HasSuffix(step.Stdout, Seal(data))
	report.Events(&a.doubt, step, data, a.event)
	a.doubt.Add(unsealed, "the report is not as its reporter wrote it")
	a.close()
	a.agree(tool)
	rep.Tests = a.set.Sorted()
	if len(a.broken) > 0 {
		rep.Broken = a.broken
	}
	a.phases(&rep)
	rep.Inconsistent = a.doubt.Reason
	return rep
}

// Seal is what run.js prints last when the report has these bytes and nobody but the reporter wrote them. What the tests left running may
// still change the report, but not what was printed.
func Seal(report []byte) []byte {
	return fmt.Appendf(nil, "\nsluice report sha256:%x\n", sha256.Sum256(report))
}

func (a *analysis) event(e event) {
	switch e.E {
	case "begin":
		a.begun++
	case "start":
		a.running = a.id(e)
		a.starts[a.running]++
	case "end":
		a.end(e)
	case "broken":
		a.broken[a.file(e)] = report.Clip(e.Message, report.BrokenLines, report.BrokenBytes)
	case "done":
		a.done++
		a.counted += e.Tests
		a.running = ""
	default:
		a.doubt.Add(true, "the report has an unknown event %q", report.FirstLine(e.E))
	}
}

// file names a file from the tree.
func (a *analysis) file(e event) string {
	name := strings.ToValidUTF8(e.File, "\uFFFD")
	if name == "" {
		return path.Join(a.root, manifestFile) // of no file: of the whole
	}
	return path.Join(a.root, name)
}

var control = regexp.MustCompile(`[\pC\s]+`)

// id is the file and the titles. What is no letter of a title counts as one space.
func (a *analysis) id(e event) string {
	titles := make([]string, 0, len(e.Path))
	for _, p := range e.Path {
		if p = strings.TrimSpace(control.ReplaceAllString(strings.ToValidUTF8(p, "\uFFFD"), " ")); p != "" {
			titles = append(titles, p)
		}
	}
	return a.file(e) + "::" + strings.Join(titles, " > ")
}

// numbered tells tests of one name apart by the order in which they end.
func numbered(id string, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s#%d", id, n)
	}
	return id
}

func (a *analysis) end(e event) {
	id := a.id(e)
	a.doubt.Add(!report.Known(e.Outcome), "test %s has the unknown outcome %q", report.FirstLine(id), report.FirstLine(string(e.Outcome)))
	if !report.Known(e.Outcome) {
		return
	}
	if !e.Late {
		a.count[id]++
		a.ended++
	}
	if a.running == id {
		a.running = ""
	}
	t := replay.Test{ID: numbered(id, max(1, a.count[id])), Outcome: e.Outcome, Message: strings.ToValidUTF8(e.Message, "\uFFFD")}
	switch e.Outcome {
	case replay.Fail, replay.Error, replay.TimedOut:
		t.Kind = kindOf(e)
	}
	a.set.Add(t)
}

func kindOf(e event) replay.Kind {
	switch {
	case e.Outcome == replay.TimedOut:
		return ""
	case e.Kind == replay.Assertion, e.Kind == replay.Crash:
		return e.Kind
	}
	return replay.Exception
}

// close gives the test that was running when the tool ended its outcome.
func (a *analysis) close() {
	if a.running == "" {
		return
	}
	t := replay.Test{ID: numbered(a.running, a.count[a.running]+1), Outcome: replay.Error, Kind: replay.Crash}
	t.Message = fmt.Sprintf("the process ended: %s, exit %d", a.step.Stop, a.step.ExitCode)
	if a.step.Stop == replay.Timeout {
		t = replay.Test{ID: t.ID, Outcome: replay.TimedOut}
	}
	a.set.Add(t)
}

// agree compares the exit code with the report.
func (a *analysis) agree(tool string) {
	whole := a.done > 0 && a.done >= a.begun || a.done == 0 && a.begun == 0 && len(a.broken) > 0
	a.doubt.Add(a.done > 0 && a.counted != a.ended, "the report counts other tests than it names")
	a.doubt.Agree(report.End{
		Tool: tool, Step: a.step, Set: &a.set, Broken: len(a.broken) > 0, Ran: a.set.Len() > 0,
		Ended: whole, Crashed: !whole && a.running != "", Twice: true, Words: string(a.step.Stderr),
	})
}

func (a *analysis) phases(rep *replay.Report) {
	if a.set.Len() > 0 {
		rep.BuildTests = replay.OK
	}
	if len(a.broken) > 0 {
		rep.BuildTests = replay.Failed
	}
	switch {
	case a.step.Stop != replay.Exited, a.running != "":
		rep.RunTests = replay.Failed
	case a.set.Len() > 0 && a.done > 0:
		rep.RunTests = replay.OK
	case len(a.broken) > 0:
		rep.RunTests = replay.NotRun
	}
}

// unbound are the words for a name that the state does not have.
var unbound = regexp.MustCompile(`^(?:ReferenceError(?: \[[A-Z_]+\])?: \S+ is not defined|` +
	`TypeError: (?:\(0 ?, ?[\w$.]+\)|[\w$]+) is not a (?:function|constructor)|` +
	`(?:Error|ResolveError)(?: \[[A-Z_]+\])?: Cannot find (?:module|package) |` +
	`SyntaxError: The requested module '[^']*' does not provide an export named )`)

// Unbound reports whether a test failed because it names what the state does not have: a file, an import, a bare name. A method that an
// object lacks is behaviour.
func Unbound(t replay.Test) bool { return t.Kind == replay.Exception && unbound.MatchString(t.Message) }

// CutShort is every test when the process ended in the middle of one: all run in one process.
func CutShort(tests []replay.Test) []string {
	for _, t := range tests {
		if t.Kind == replay.Crash {
			return []string{""}
		}
	}
	return nil
}
