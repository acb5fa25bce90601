package nodetest

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

const all = `
	nt/a.test.js::after all > z fail assertion
	nt/a.test.js::before all > x error exception
	nt/a.test.js::before all > y error exception
	nt/a.test.js::math > adds (1 + 1) "quoted" ünï pass
	nt/a.test.js::math > differs fail assertion
	nt/a.test.js::math > inner > deep pass
	nt/a.test.js::math > names nothing error exception
	nt/a.test.js::math > skipped skip
	nt/a.test.js::math > throws error exception
	nt/a.test.js::math > times out timeout
	nt/a.test.js::math > todo skip
	nt/a.test.js::math > twice pass
	nt/a.test.js::math > twice#2 fail assertion
	nt/a.test.js::parent fail exception
	nt/a.test.js::parent > bad child fail assertion
	nt/a.test.js::parent > child pass
	nt/b.test.js::alone pass
	nt/plain.test.js::(file) pass
	`

// TestParse reads what two versions of node left of the same files. A file that ends its process says nothing of its tests.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"node20", "node22"} {
		data := tooltest.Captured(t, v, "all.jsonl")
		got := tooltest.Parse(t, Tool{}, tooltest.Left{Files: map[string][]byte{reportFile: data}, Stdout: node.Seal(data), Exit: 1})
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Tests: all, Broken: "nt/broken.test.js nt/exit.test.js"})
		if words := got.Broken["nt/broken.test.js"]; !strings.Contains(words, "Cannot find module './missing'") {
			t.Errorf("%s: broken says %q", v, words)
		}
		if !(Tool{}).Unbound(tooltest.Find(t, got, "nt/a.test.js::math > names nothing")) {
			t.Errorf("%s: an unbound name is not seen", v)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"node --test --import tsx --test-reporter spec 'test/**/*.test.ts'": `--import tsx --test --test-reporter=@reporter@ --test-reporter-destination=stdout|"files":["test/**/*.test.ts"]`,
		"borp --timeout 180000 --expose-gc -p 'test/*.js'":                  `--expose-gc --test --test-reporter=@reporter@ --test-reporter-destination=stdout|"files":["test/*.js"]`,
	} {
		p, err := project.Scan(t.Context(), tooltest.Tree{"package.json": `{"scripts": {"test": "` + script + `"}}`})
		if err != nil {
			t.Fatal(err)
		}
		root, err := Tool{}.Find(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Tool{}.Recipe(p, root)
		if err != nil {
			t.Fatal(err)
		}
		steps := Tool{}.Steps(r, replay.Target{})
		args := steps[len(steps)-1].Args
		i := len(args) - strings.Count(want[:strings.Index(want, "|")], " ") - 1
		wantArgs, files, _ := strings.Cut(want, "|")
		if got := strings.Join(args[i:], " "); got != wantArgs || !strings.Contains(args[i-1], files) {
			t.Errorf("%s: the arguments are %q, want %q; the files %s", script, got, wantArgs, files)
		}
	}
}
