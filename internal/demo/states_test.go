package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// outcomes maps the tests of a run to "pass", "fail" or "skip". A package that does not build has none.
type outcomes map[string]string

// run writes a tree to a folder and runs the tests of the packages that hold the given files.
func run(t *testing.T, tree files, testFiles files) outcomes {
	t.Helper()
	dir := t.TempDir()
	packages := map[string]bool{}
	for name, text := range tree {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range testFiles {
		packages["./"+path.Dir(name)] = true
	}
	args := []string{"test", "-json", "-count=1", "-vet=off", "-trimpath"} // states share what they compile
	for p := range packages {
		args = append(args, p)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	out, _ := cmd.Output() // failing tests are an answer; no output at all is met below
	return decode(t, out)
}

func decode(t *testing.T, out []byte) outcomes {
	t.Helper()
	if len(out) == 0 {
		t.Fatal("go test said nothing")
	}
	got := outcomes{}
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test string }
		if json.Unmarshal(line, &event) != nil {
			continue // the compiler's words
		}
		if event.Test != "" && slices.Contains([]string{"pass", "fail", "skip"}, event.Action) {
			got[event.Test] = event.Action
		}
	}
	return got
}

// failToPass returns the tests that pass in after and do not in before.
func failToPass(before, after outcomes) []string {
	var names []string
	for name, outcome := range after {
		if outcome == "pass" && before[name] != "pass" && name != "TestClock" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// split returns the step's edits of source files and the test files that it leaves.
func (c Landed) split() (source []edit, tests files) {
	tests = files{}
	for _, part := range c.commits {
		for _, e := range part.edits {
			if strings.HasSuffix(e.path, "_test.go") {
				tests[e.path] = c.after[e.path]
			} else {
				source = append(source, e)
			}
		}
	}
	return source, tests
}

func (t files) with(overlay files) files {
	out, _ := t.apply(nil) // a clone
	for name, text := range overlay {
		out[name] = text
	}
	return out
}

// without drops test functions from test files, as narrowing does.
func (t files) without(functions []string) files {
	out, _ := t.apply(nil)
	for _, f := range functions {
		whole := regexp.MustCompile(`(?s)\nfunc ` + f + `\(.*?\n}\n`)
		for name, text := range out {
			out[name] = whole.ReplaceAllString(text, "")
		}
	}
	return out
}

// pair is the runs of an introducing and a fixing step. Names are as in the family: state, then overlay.
type pair struct {
	fix, intro                 Landed
	b1T1, h1, b2T2, h2, h1T2   outcomes
	task, fixed, anticipations []string
}

func runPair(t *testing.T, intro, fix Landed) pair {
	t.Helper()
	_, t1 := intro.split()
	_, t2 := fix.split()
	p := pair{fix: fix, intro: intro}
	p.b1T1, p.h1 = run(t, intro.before.with(t1), t1), run(t, intro.after, t1)
	p.b2T2, p.h2 = run(t, fix.before.with(t2), t2), run(t, fix.after, t2)
	p.h1T2 = run(t, intro.after.with(t2.without(fix.Expect.Narrowed)), t2)
	p.task, p.fixed = failToPass(p.b1T1, p.h1), failToPass(p.b2T2, p.h2)
	for _, name := range p.fixed {
		if p.h1T2[name] == "fail" {
			p.anticipations = append(p.anticipations, name)
		}
	}
	return p
}

// problem says why the runs do not show what the code claims; "" if they do.
func (p pair) problem(code string) string {
	holds := map[string]bool{
		"":                              len(p.task) > 0 && len(p.anticipations) > 0,
		"not-anticipation":              len(p.fixed) > 0 && !slices.ContainsFunc(p.fixed, func(n string) bool { return p.h1T2[n] != "pass" }),
		"anticipation-not-executable":   len(p.fixed) > 0 && len(p.h1T2) == 0,
		"no-fail-to-pass":               len(p.h2) > 0 && len(p.fixed) == 0,
		"fix-does-not-build":            len(p.h2) == 0,
		"no-task-fail-to-pass":          len(p.anticipations) > 0 && len(p.h1) > 0 && len(p.task) == 0,
		"introducing-side-not-runnable": len(p.anticipations) > 0 && len(p.h1) == 0,
		"flaky-only":                    len(p.anticipations) == 0,
	}
	if ok, known := holds[code]; !known || !ok {
		return fmt.Sprintf("b1+T1 %v\nh1 %v\nb2+T2 %v\nh2 %v\nh1+T2 %v", p.b1T1, p.h1, p.b2T2, p.h2, p.h1T2)
	}
	return ""
}

// TestStatesBehave runs the states of every pair that reaches replay, so that what the history claims is so.
func TestStatesBehave(t *testing.T) {
	t.Parallel()
	r := mustAuthor(t)
	for _, fix := range r.Changes {
		intro, ok := r.Change(fix.Expect.Introducer)
		if !ok || strings.HasPrefix(first(fix.Expect.Codes), "introducer-") {
			continue
		}
		t.Run(fix.ID, func(t *testing.T) {
			t.Parallel()
			p := runPair(t, intro, fix)
			if problem := p.problem(first(fix.Expect.Codes)); problem != "" {
				t.Errorf("expected %v %v, but:\n%s", fix.Expect.State, fix.Expect.Codes, problem)
			}
			if fix.Expect.State == "admitted" {
				checkAchievable(t, p)
			}
		})
	}
}

// checkAchievable carries the fix onto the introducing state: the anticipation tests must pass, and T1 still.
func checkAchievable(t *testing.T, p pair) {
	t.Helper()
	source, t2 := p.fix.split()
	tree, err := p.intro.after.apply(source)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, tree.with(t2.without(p.fix.Expect.Narrowed)), t2)
	for _, name := range append(slices.Clone(p.anticipations), p.task...) {
		if got[name] != "pass" {
			t.Errorf("%s on the carried fix: %q", name, got[name])
		}
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
