//go:build linux

package node_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

// workspaceTree is a workspace of two packages, of which one uses the other. Its tests look at what they have and spoil it.
func workspaceTree(t *testing.T, answer string) tooltest.Tree {
	t.Helper()
	manifest, err := json.Marshal(map[string]any{
		"private": true, "workspaces": []string{"packages/*"},
		"scripts":         map[string]string{"prepare": "exit 7"}, // it needs what Install does not see
		"devDependencies": map[string]string{"mocha": "10.8.2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tooltest.Tree{
		"package.json":            string(manifest),
		"packages/a/package.json": `{"name": "@scope/a", "version": "1.0.0", "dependencies": {"b": "*"}, "scripts": {"test": "mocha test"}}`,
		"packages/b/package.json": `{"name": "b", "version": "1.0.0", "main": "lib/b.js"}`,
		"packages/b/lib/b.js":     "module.exports = " + answer,
		"packages/a/test/a.js": `const fs = require('fs'), path = require('path'), assert = require('assert')
			const dir = path.dirname(require.resolve('mocha/package.json'))
			it('uses the state of the other package', () => assert.strictEqual(require('b'), 1))
			it('finds what was installed', () => assert.ok(!fs.existsSync(path.join(dir, 'spoilt'))))
			after(() => fs.writeFileSync(path.join(dir, 'spoilt'), ''))`,
	}
}

// skip says what this machine lacks; where all must be there, it is a failure.
func skip(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// sandbox is a local one whose environments nobody can write to.
func sandbox(t *testing.T) tooltest.Box {
	t.Helper()
	if testing.Short() {
		t.Skip("it installs from the registry")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			skip(t, err)
		}
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	if !box.Capabilities().Overlay {
		skip(t, "without overlays nobody can write to an environment")
	}
	return tooltest.Box{Sandbox: box, Made: map[string]bool{}}
}

// TestOldNode: tests and scripts of a state that is for an old node run on it, under a manager that could not.
func TestOldNode(t *testing.T) {
	b := sandbox(t)
	tree := tooltest.Tree{
		"package.json": `{"engines": {"node": "0.10 || 6"}, "devDependencies": {"mocha": "5.2.0"},
			"scripts": {"pretest": "npm run build", "build": "node -p process.version > built", "test": "mocha"}}`,
		"test/a.js": `const fs = require('fs'), assert = require('assert')
			it('tests', () => assert.strictEqual(process.version, 'v6.17.1'))
			it('scripts', () => assert.strictEqual(fs.readFileSync('built', 'utf8'), 'v6.17.1\n'))`,
	}
	r, err := tools.Detect(t.Context(), tree, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := tools.For(r.Runner)
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Diff(t, b.Report(t, run, r, tree, replay.Target{}), tooltest.View{Phases: "ok ok ok", Tests: `
		test/a.js::scripts pass
		test/a.js::tests pass
		`})
}

// TestWorkspace installs from the registry, and runs two states in one environment.
func TestWorkspace(t *testing.T) {
	b := sandbox(t)
	for range 2 { // what the first round spoils, the second does not see
		for answer, want := range map[string]string{"1": "pass", "2": "fail assertion"} {
			tree := workspaceTree(t, answer)
			r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: []string{"packages/a/test/a.js"}})
			if err != nil {
				t.Fatal(err)
			}
			run, err := tools.For(r.Runner)
			if err != nil {
				t.Fatal(err)
			}
			tooltest.Diff(t, b.Report(t, run, r, tree, replay.Target{}), tooltest.View{Phases: "ok ok ok", Tests: `
				packages/a/test/a.js::finds what was installed pass
				packages/a/test/a.js::uses the state of the other package ` + want + "\n"})
		}
	}
	if len(b.Made) != 1 {
		t.Errorf("states that differ in sources only have %d environments", len(b.Made))
	}
}
