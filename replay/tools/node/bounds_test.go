package node

import (
	"errors"
	"strings"
	"testing"

	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

// TestScriptsThatRunThemselves: of scripts that run each other many times, no more is read than a bound allows.
func TestScriptsThatRunThemselves(t *testing.T) {
	t.Parallel()
	m := &manifest{Scripts: map[string]string{
		"test": strings.Repeat("npm test; npm run unit; ", 500), "pretest": strings.Repeat("npm run unit; ", 500), "unit": strings.Repeat("npm run pretest; npm test; ", 500),
	}}
	n := 0
	for _, s := range m.chain("test") {
		n += len(s.flat())
	}
	if n == 0 || n > maxCommands {
		t.Errorf("%d commands are read", n)
	}
	x := traits("mocha")
	m.Scripts["test"] += "; mocha"
	if m.runsTool("test", x) {
		t.Error("what stands behind the bound is read")
	}
}

// TestManyPatterns: a workspace whose patterns are too many to be held against each package has no recipe.
func TestManyPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		n       int
		ok      bool
	}{
		{"packages/*", 3, true}, {"packages/*", maxPatterns, true}, {"packages/*", maxPatterns + 1, false}, {strings.Repeat("a", patternBytes+1), 1, false},
	} {
		tree, err := project.Scan(t.Context(), tooltest.Tree{"package.json": "{}", "pnpm-workspace.yaml": "packages:\n" + strings.Repeat("  - "+c.pattern+"\n", c.n)})
		if err != nil {
			t.Fatal(err)
		}
		globs, err := workspaces(tree, "")
		if none := (project.ErrNoRecipe{}); c.ok != (err == nil) || !c.ok && !errors.As(err, &none) || len(globs) > maxPatterns {
			t.Errorf("%d of %.20s: %d patterns, %v", c.n, c.pattern, len(globs), err)
		}
		if c.ok && (!globs.member("packages/a") || globs.member("other/a")) {
			t.Errorf("%d patterns: packages are mistaken", c.n)
		}
	}
}
