package cargo

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// made is a line of the report of what was compiled.
type made struct {
	E      string // package, chosen, made, library, script, error, stopped, unread
	ID     string
	Name   string
	Scopes []string
	Target struct {
		Name string
		Kind []string
	}
	Words string
}

// scopeOf names a target as the program of ours does: the package for its library, else package/kind/name.
func scopeOf(pkg string, m made) string {
	for _, k := range []string{"bin", "test", "bench", "example", "custom-build"} {
		if slices.Contains(m.Target.Kind, k) {
			return pkg + "/" + k + "/" + m.Target.Name
		}
	}
	return pkg
}

// built is what compiling came to.
type built struct {
	packages map[string]string // names by cargo's own id
	broken   map[string]string // words by target
	stopped  string            // cargo's last words if it failed
	unread   string            // its words if it could not read the workspace
	read     bool
	bad      bool // a line could not be read
}

func readMade(data []byte) built {
	b := built{packages: map[string]string{}, broken: map[string]string{}}
	for line := range bytes.Lines(data) {
		var m made
		if json.Unmarshal(line, &m) != nil {
			b.bad = true
			continue
		}
		switch m.E {
		case "package":
			b.packages[m.ID] = m.Name
		case "chosen":
			b.read = true
		case "error":
			name, ok := b.packages[m.ID]
			if !ok { // a dependency's: "name 1.2.3 (registry+https://…)", since 1.77 "registry+https://…#name@1.2.3"
				name, _, _ = strings.Cut(m.ID[strings.LastIndexAny(m.ID, "#")+1:], " ")
			}
			scope := strings.ToValidUTF8(scopeOf(name, m), "\uFFFD")
			if len(b.broken[scope]) < report.BrokenBytes && !strings.Contains(b.broken[scope], m.Words) {
				b.broken[scope] += m.Words + "\n"
			}
		case "stopped":
			b.stopped = m.Words
		case "unread":
			b.unread = m.Words
		}
	}
	return b
}

// event is a line of the report of what ran.
type event struct {
	E      string // begin, out, end, done
	Run    int
	Scope  string
	How    string   // harness, program, doc
	List   []string // the names that the program says it has; nil if it does not say
	Line   string   // one line of what it printed
	Alone  string   // the one test that this end is of
	Exit   int
	Signal int
	Late   bool // it was ended at its time limit
	Cut    bool // it ended before its suite did
	Words  string
	Runs   int
}

// testEvent is one event of Rust's test library.
type testEvent struct {
	Type    string
	Event   string
	Name    string
	Stdout  string
	Message string
	Reason  string
	Passed  int
	Failed  int
	Ignored int
	Filter  int `json:"filtered_out"`
}

// run is one program, with what it said.
type run struct {
	scope, how string
	listed     []string
	names      []string // of tests, in the order in which they came
	tests      map[string]*oneTest
	said       suite // by the ends of suites
	suites     int
	failedAny  bool // a suite failed
	ends       []event
}

// oneTest is what was said of a test.
type oneTest struct {
	started int
	ends    []testEvent
}

// suite counts tests by how they ended.
type suite struct{ passed, failed, ignored int }

// log is a report of what ran.
type log struct {
	runs map[int]*run
	list []*run
	done bool
	all  int // runs, by the report's last line
	// stray: an event was of no program
	stray bool
}

func readLog(d *report.Doubts, step *replay.StepResult, data []byte) *log {
	l := &log{runs: map[int]*run{}}
	report.Events(d, step, data, func(e event) {
		l.event(e)
		d.Add(l.stray, "the report has an event of no program")
	})
	return l
}

func (l *log) event(e event) {
	r := l.runs[e.Run]
	switch {
	case e.E == "begin" && r == nil:
		r = &run{scope: strings.ToValidUTF8(e.Scope, "\uFFFD"), how: e.How, listed: e.List, tests: map[string]*oneTest{}}
		l.runs[e.Run] = r
		l.list = append(l.list, r)
	case e.E == "done":
		l.done, l.all = true, e.Runs
	case r == nil:
		l.stray = true
	case e.E == "out":
		r.line(e.Line)
	case e.E == "end":
		r.ends = append(r.ends, e)
	}
}

// line reads a line that may be an event. What tests print is none.
func (r *run) line(text string) {
	var t testEvent
	if json.Unmarshal([]byte(text), &t) != nil {
		return
	}
	switch t.Type {
	case "test":
		one := r.tests[t.Name]
		if one == nil {
			one = &oneTest{}
			r.tests[t.Name] = one
			r.names = append(r.names, t.Name)
		}
		switch t.Event {
		case "started":
			one.started++
		case "ok", "failed", "ignored", "allowed_failure":
			one.ends = append(one.ends, t)
		}
	case "bench": // measured: it ran
		r.names = append(r.names, t.Name)
		r.tests[t.Name] = &oneTest{ends: []testEvent{{Event: "ok", Name: t.Name}}}
	case "suite":
		if t.Event == "started" {
			return
		}
		r.suites++
		r.failedAny = r.failedAny || t.Event == "failed"
		r.said.passed += t.Passed
		r.said.failed += t.Failed
		r.said.ignored += t.Ignored
	}
}

// first is the end of the whole program; ok is false if it has none.
func (r *run) first() (event, bool) {
	for _, e := range r.ends {
		if e.Alone == "" {
			return e, true
		}
	}
	return event{}, false
}

// alone is the end of a program that ran one test only.
func (r *run) alone(name string) (event, bool) {
	for _, e := range r.ends {
		if e.Alone == name && name != "" {
			return e, true
		}
	}
	return event{}, false
}

// crashed says that a program did not come to an end of its own.
func (e event) crashed() bool { return e.Signal != 0 || e.Exit != 0 && e.Exit != 101 }

func cut(res *replay.StepResult) bool { return res.Stop != replay.Exited }
