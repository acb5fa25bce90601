package ava

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/tooltest"
)

// TestParse reads what two versions left of the same files, which were run one after the other.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"ava3", "ava6"} {
		data := tooltest.Captured(t, v, "all.jsonl")
		got := tooltest.Parse(t, Tool{}, tooltest.Left{Files: map[string][]byte{reportFile: data}, Stdout: node.Seal(data), Exit: 1})
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Broken: "av/broken.test.js av/exit.test.js av/hook.test.js", Tests: `
			av/a.test.js::adds (1 + 1) "quoted" ünï pass
			av/a.test.js::differs fail assertion
			av/a.test.js::known pass
			av/a.test.js::names nothing error exception
			av/a.test.js::no assertion fail assertion
			av/a.test.js::skipped skip
			av/a.test.js::throws error exception
			av/a.test.js::todo skip
			av/b.test.js::alone pass
			`})
		if words := got.Broken["av/hook.test.js"]; !strings.Contains(words, "setup") {
			t.Errorf("%s: a broken file says %q", v, words)
		}
		if !(Tool{}).Unbound(tooltest.Find(t, got, "av/a.test.js::names nothing")) {
			t.Errorf("%s: an unbound name is not seen", v)
		}
	}
}

// TestSteps: without a target, patterns are given that the program expands.
func TestSteps(t *testing.T) {
	t.Parallel()
	steps := Tool{}.Steps(replay.Recipe{}, replay.Target{Paths: []string{"README.md"}})
	text := strings.Join(steps[len(steps)-1].Args, " ")
	if !strings.Contains(text, `"**/test-*.{js,cjs,mjs,ts}"`) || !strings.HasSuffix(text, " --tap") {
		t.Error("a run of everything names no patterns")
	}
}
