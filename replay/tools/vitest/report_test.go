package vitest

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

// versions are those whose outputs were captured.
var versions = []string{"vitest1", "vitest4"}

func parse(t *testing.T, version, name string, exit int) replay.Report {
	t.Helper()
	data := tooltest.Captured(t, version, name+".jsonl")
	return tooltest.Parse(t, Tool{}, tooltest.Left{Files: map[string][]byte{reportFile: data}, Stdout: node.Seal(data), Exit: exit})
}

const all = `
	vt/a.test.js::after all > z error exception
	vt/a.test.js::before all > x error exception
	vt/a.test.js::before all > y error exception
	vt/a.test.js::math > adds (1 + 1) "quoted" ünï pass
	vt/a.test.js::math > asserts fail assertion
	vt/a.test.js::math > differs fail assertion
	vt/a.test.js::math > each 1 2 fail assertion
	vt/a.test.js::math > each 2 2 pass
	vt/a.test.js::math > names nothing error exception
	vt/a.test.js::math > skipped skip
	vt/a.test.js::math > snapshot fail assertion
	vt/a.test.js::math > throws error exception
	vt/a.test.js::math > times out timeout
	vt/a.test.js::math > twice pass
	vt/a.test.js::math > twice#2 fail assertion
	vt/b.test.js::alone pass
	`

func TestParse(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		got := parse(t, v, "all", 1)
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Tests: all, Broken: "vt/broken.test.js vt/syntax.test.js"})
		if !(Tool{}).Unbound(tooltest.Find(t, got, "vt/a.test.js::math > names nothing")) {
			t.Errorf("%s: an unbound name is not seen", v)
		}
		tooltest.Diff(t, parse(t, v, "only", 1), tooltest.View{Phases: "ok failed not-run", Broken: "vt/broken.test.js"})
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"package.json":            `{"workspaces": ["packages/*"], "scripts": {"test": "vitest --coverage --pool=forks -t slow"}, "devDependencies": {"vitest": "1"}}`,
		"vitest.config.ts":        "export default { test: { projects: ['packages/*'] } }",
		"packages/a/package.json": `{"name": "a", "scripts": {"test": "vitest"}}`, "packages/a/x.test.ts": "import 'vitest'",
	}
	p, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	root, err := Tool{}.Find(p, []string{"packages/a/x.test.ts"})
	if err != nil || root != "" {
		t.Fatalf("a workspace whose settings name its projects runs in %q, %v", root, err)
	}
	r, err := Tool{}.Recipe(p, root)
	if err != nil {
		t.Fatal(err)
	}
	steps := Tool{}.Steps(r, replay.Target{Paths: []string{"packages/a/x.test.ts"}})
	args := steps[len(steps)-1].Args
	if got, want := strings.Join(args[11:], " "), "run --no-color --reporter=@reporter@ --coverage.enabled=false --pool=forks"; got != want {
		t.Errorf("the arguments are %q, want %q", got, want)
	}
}
