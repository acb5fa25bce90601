package jest

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func parse(t *testing.T, version, name string, exit int) replay.Report {
	t.Helper()
	data := tooltest.Captured(t, version, name+".jsonl")
	return tooltest.Parse(t, Tool{}, tooltest.Left{Files: map[string][]byte{reportFile: data}, Stdout: node.Seal(data), Exit: exit})
}

const all = `
	jt/a.test.js::after all > z AFTER
	jt/a.test.js::before all > x error exception
	jt/a.test.js::before all > y error exception
	jt/a.test.js::math > adds (1 + 1) "quoted" ünï pass
	jt/a.test.js::math > asserts fail assertion
	jt/a.test.js::math > differs fail assertion
	jt/a.test.js::math > each 1 2 fail assertion
	jt/a.test.js::math > each 2 2 pass
	jt/a.test.js::math > names nothing error exception
	jt/a.test.js::math > skipped skip
	jt/a.test.js::math > snapshot fail assertion
	jt/a.test.js::math > throws error exception
	jt/a.test.js::math > times out timeout
	jt/a.test.js::math > twice pass
	jt/a.test.js::math > twice#2 fail assertion
	jt/b.test.js::alone pass
	`

func TestParse(t *testing.T) {
	t.Parallel()
	// Version 24 with its old engine says nothing of what fails after the tests.
	for v, after := range map[string]string{"jest24": "pass", "jest29": "error exception"} {
		got := parse(t, v, "all", 1)
		want := tooltest.View{Phases: "ok failed ok", Tests: strings.Replace(all, "AFTER", after, 1), Broken: "jt/broken.test.js jt/syntax.test.js"}
		tooltest.Diff(t, got, want)
		if words := got.Broken["jt/broken.test.js"]; !strings.Contains(words, "Cannot find module './missing'") {
			t.Errorf("%s: broken says %q", v, words)
		}
		if !(Tool{}).Unbound(tooltest.Find(t, got, "jt/a.test.js::math > names nothing")) {
			t.Errorf("%s: an unbound name is not seen", v)
		}
		tooltest.Diff(t, parse(t, v, "only", 1), tooltest.View{Phases: "ok failed not-run", Broken: "jt/broken.test.js"})
	}
}

// TestExit: the engine of version 29 says which test was running; that of 24 does not, so that its report is worth nothing.
func TestExit(t *testing.T) {
	t.Parallel()
	tooltest.Diff(t, parse(t, "jest29", "exit", 3), tooltest.View{Phases: "ok ok failed", Tests: "jt/exit.test.js::exits error crash\n"})
	if got := parse(t, "jest24", "exit", 3); got.Inconsistent == "" || len(got.Tests) > 0 {
		t.Errorf("a report without its end is believed: %+v", got)
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	p, err := project.Scan(t.Context(), tooltest.Tree{
		"package.json": `{"devDependencies": {"jest": "1"}, "scripts": {"test": "node --experimental-vm-modules node_modules/jest/bin/jest.js --config jest.unit.js --coverage -t slow"}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Tool{}.Recipe(p, "")
	if err != nil {
		t.Fatal(err)
	}
	steps := Tool{}.Steps(r, replay.Target{Paths: []string{"src/a.test.ts", "src/__snapshots__/a.test.ts.snap", "src/helper.ts"}})
	args := steps[len(steps)-1].Args
	if text := strings.Join(args[11:], " "); !strings.HasPrefix(text, "--config jest.unit.js --ci --runInBand") || !strings.HasSuffix(text, "--runTestsByPath") {
		t.Errorf("the arguments are %q", text)
	}
	if config := args[10]; !strings.Contains(config, `"node":["--experimental-vm-modules"]`) || !strings.Contains(config, `"files":["src/a.test.ts"]`) {
		t.Errorf("the run is %.300s", config)
	}
}
