package mocha

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/tooltest"
)

// versions are those whose outputs were captured.
var versions = []string{"mocha5", "mocha11"}

func parse(t *testing.T, version, name string, exit int) replay.Report {
	t.Helper()
	data := tooltest.Captured(t, version, name+".jsonl")
	return tooltest.Parse(t, Tool{}, tooltest.Left{Recipe: replay.Recipe{Root: "pkg"}, Files: map[string][]byte{reportFile: data}, Stdout: node.Seal(data), Exit: exit})
}

const all = `
	pkg/test/a.js::flaky > again missing
	pkg/test/a.js::hooks > after all > z fail assertion
	pkg/test/a.js::hooks > before all > x error exception
	pkg/test/a.js::hooks > before all > y error exception
	pkg/test/a.js::hooks > before each > one pass
	pkg/test/a.js::hooks > before each > three error exception
	pkg/test/a.js::hooks > before each > two error exception
	pkg/test/a.js::math > adds (1 + 1) "quoted" ünï pass
	pkg/test/a.js::math > differs fail assertion
	pkg/test/a.js::math > inner > deep pass
	pkg/test/a.js::math > names nothing error exception
	pkg/test/a.js::math > pending skip
	pkg/test/a.js::math > skipped skip
	pkg/test/a.js::math > throws error exception
	pkg/test/a.js::math > times out timeout
	pkg/test/a.js::math > twice pass
	pkg/test/a.js::math > twice#2 fail assertion
	pkg/test/b.js::b > alone pass
	`

func TestParse(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		got := parse(t, v, "all", 8)
		want := tooltest.View{Phases: "ok ok ok", Tests: all}
		if got.Inconsistent != "" {
			t.Errorf("%s: %s", v, got.Inconsistent)
		}
		tooltest.Diff(t, got, want)
		named := tooltest.Find(t, got, "pkg/test/a.js::math > names nothing")
		if !(Tool{}).Unbound(named) || (Tool{}).Unbound(tooltest.Find(t, got, "pkg/test/a.js::math > throws")) {
			t.Errorf("%s: unbound names are mistaken: %+v", v, named)
		}
		hook := tooltest.Find(t, got, "pkg/test/a.js::hooks > before all > y")
		if !strings.Contains(hook.Message, `"before all" hook`) || !strings.Contains(hook.Message, "setup") {
			t.Errorf("%s: a hook's failure says %q", v, hook.Message)
		}
	}
}

// TestBroken: of several files one that cannot be loaded costs only itself.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		got := parse(t, v, "broken", 1)
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Tests: "pkg/test/b.js::b > alone pass\n", Broken: "pkg/test/broken.js"})
		if words := got.Broken["pkg/test/broken.js"]; !strings.Contains(words, "Cannot find module './missing'") {
			t.Errorf("%s: broken says %q", v, words)
		}
		tooltest.Diff(t, parse(t, v, "only", 1), tooltest.View{Phases: "ok failed not-run", Broken: "pkg/test/broken.js"})
	}
}

// TestExit: a test that ends the process is a crash, and what came after it did not run.
func TestExit(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		got := parse(t, v, "exit", 3)
		tooltest.Diff(t, got, tooltest.View{Phases: "ok ok failed", Tests: `
			pkg/test/exit.js::c > before pass
			pkg/test/exit.js::c > exits error crash
			`})
		if cut := (Tool{}).CutShort(got.Tests); len(cut) != 1 || cut[0] != "" {
			t.Errorf("%s: cut short is %q", v, cut)
		}
	}
}

// TestForged: a report that does not agree with the exit code is evidence of nothing.
func TestForged(t *testing.T) {
	t.Parallel()
	for name, exit := range map[string]int{"all": 0, "exit": 0} {
		if got := parse(t, "mocha11", name, exit); got.Inconsistent == "" {
			t.Errorf("%s with exit %d is believed", name, exit)
		}
	}
	whole := string(tooltest.Captured(t, "mocha11", "all.jsonl"))
	cut := whole[:strings.LastIndex(whole, `{"e":"done"`)]
	for name, data := range map[string]string{
		"without its end": cut, "a pass is added": cut + `{"e":"end","file":"a","path":["x"],"o":"pass"}` + "\n" + whole[len(cut):], "no JSON": whole + "PASSED\n",
	} {
		res := replay.Result{Files: map[string][]byte{reportFile: []byte(data)}, Steps: []replay.StepResult{{Name: "test", Stop: replay.Exited, ExitCode: 8}}}
		if got := (Tool{}).Parse(replay.Recipe{}, replay.Target{}, res); got.Inconsistent == "" {
			t.Errorf("a report %s is believed", name)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"package.json": `{"devDependencies": {"mocha": "1"}, "scripts": {
			"test": "cross-env A=b mocha --require test/support/env --reporter spec -j 4 --check-leaks test/ 'x y/*.js'"}}`,
	}
	p := scan(t, tree)
	r, err := Tool{}.Recipe(p, "")
	if err != nil {
		t.Fatal(err)
	}
	args, _ := node.Words(r)
	want := `--require|test/support/env|--check-leaks|test/|x y/*.js`
	if got := strings.Join(args, "|"); got != want || r.Env["A"] != "b" {
		t.Errorf("the script's words are %q, want %q; A is %q", got, want, r.Env["A"])
	}
	steps := Tool{}.Steps(r, replay.Target{Paths: []string{"test/a.js", "lib/x.js"}})
	last := steps[len(steps)-1]
	if text := strings.Join(last.Args, " "); !strings.Contains(text, `"files":["test/a.js"]`) || strings.Contains(text, "--reporter spec") {
		t.Error("the step runs other files than the target's, or keeps a reporter of the project's")
	}
}
