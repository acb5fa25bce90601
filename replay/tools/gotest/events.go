package gotest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"sluice/replay/tools/report"
)

// goEvent is one line of `go test -json`. Since Go 1.24 the compiler's words come as events too, named by ImportPath.
type goEvent struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

type goTestLog struct {
	started, paused bool
	ends            []string // terminal actions, in order
	output          capped
	panicked        bool
}

type goPackageLog struct {
	tests       map[string]*goTestLog
	names       []string // of tests, when first asked for
	end         string   // "pass", "fail", "skip" or ""
	broken      string   // "build failed" or "setup failed"
	failedBuild string
	output      capped
	panicked    bool
	timedOut    bool
	running     []string // what a binary that timed out says that it was running
}

type goLog struct {
	packages map[string]*goPackageLog
	builds   map[string]*capped // the compiler's words by the name behind "# "
	stray    capped             // lines that are no events
}

// capped is text of which only the beginning is kept.
type capped struct{ b []byte }

func (c *capped) add(s string) {
	if room := 2*report.BrokenBytes - len(c.b); room > 0 {
		c.b = append(c.b, s[:min(room, len(s))]...)
	}
}

func (c *capped) String() string {
	if c == nil {
		return ""
	}
	return string(c.b)
}

func readGoLog(stdout, stderr []byte) *goLog {
	l := &goLog{packages: map[string]*goPackageLog{}, builds: map[string]*capped{}}
	for line := range bytes.Lines(stdout) {
		var e goEvent
		if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &e) == nil && e.Action != "" {
			l.event(e)
		} else {
			l.plain(string(line))
		}
	}
	l.compiler(string(stderr))
	return l
}

func (l *goLog) event(e goEvent) {
	switch {
	case e.Action == "build-output":
		l.build(e.ImportPath).add(e.Output)
	case e.Package == "":
		// Nothing to hang it on: build-fail, or an event of a later Go.
	case e.Test == "":
		l.pkg(e.Package).event(e)
	default:
		p := l.pkg(e.Package)
		p.test(e.Test).event(e, p)
	}
}

func (l *goLog) pkg(name string) *goPackageLog {
	p := l.packages[name]
	if p == nil {
		p = &goPackageLog{tests: map[string]*goTestLog{}}
		l.packages[name] = p
	}
	return p
}

func (l *goLog) build(name string) *capped {
	if l.builds[name] == nil {
		l.builds[name] = &capped{}
	}
	return l.builds[name]
}

var goBroken = regexp.MustCompile(`^FAIL\s+(\S+) \[((?:build|setup) failed)\]`)

// plain reads a line that is no event: before Go 1.24 a package that does not build is announced by one.
func (l *goLog) plain(line string) {
	if m := goBroken.FindStringSubmatch(line); m != nil {
		p := l.pkg(m[1])
		p.end, p.broken = "fail", m[2]
		return
	}
	l.stray.add(line)
}

// compiler reads what the go command says on stderr before Go 1.24: sections headed "# import/path [variant]".
func (l *goLog) compiler(stderr string) {
	into := &l.stray
	for line := range strings.Lines(stderr) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			into = l.build(strings.TrimSpace(name))
		}
		into.add(line)
	}
}

func (p *goPackageLog) test(name string) *goTestLog {
	t := p.tests[name]
	if t == nil {
		t = &goTestLog{}
		p.tests[name] = t
	}
	return t
}

func (p *goPackageLog) event(e goEvent) {
	switch e.Action {
	case "output":
		if m := goBroken.FindStringSubmatch(e.Output); m != nil {
			p.broken = m[2]
		}
		p.output.add(e.Output)
		p.notice(e.Output)
	case "pass", "fail", "skip":
		p.end = e.Action
		p.failedBuild = e.FailedBuild
	}
}

var goRunning = regexp.MustCompile(`^\s+(\S+) \([0-9.hms]+\)\s*$`)

// notice looks for the end of the test binary in a line of output, whichever test the line was given to.
func (p *goPackageLog) notice(line string) (panicked bool) {
	trimmed := strings.TrimLeft(line, "\t ")
	switch {
	case strings.HasPrefix(trimmed, "panic: test timed out after "):
		p.timedOut = true
	case strings.HasPrefix(trimmed, "panic: "):
		p.panicked = true
		return true
	case p.timedOut:
		if m := goRunning.FindStringSubmatch(line); m != nil {
			p.running = append(p.running, m[1])
		}
	}
	return false
}

func (t *goTestLog) event(e goEvent, p *goPackageLog) {
	switch e.Action {
	case "run":
		t.started = true
	case "pause":
		t.paused = true
	case "cont":
		t.paused = false
	case "pass", "fail", "skip":
		t.ends = append(t.ends, e.Action)
	case "output":
		t.panicked = p.notice(e.Output) || t.panicked
		if !goFraming(e.Output) {
			t.output.add(e.Output)
		}
	}
}

// goFraming says that a line is the testing package's own and no part of a failure's message.
func goFraming(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	for _, p := range []string{"=== ", "--- PASS: ", "--- FAIL: ", "--- SKIP: "} {
		if strings.HasPrefix(trimmed, p) {
			return true
		}
	}
	return false
}
