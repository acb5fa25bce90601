package tools

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/tooltest"
)

// besides has a project for each tool that writes tests of ours, with a file beside which it does.
var besides = map[string]struct {
	tree tooltest.Tree
	file string
}{
	"gotest":   {tooltest.Tree{"go.mod": "module m\n", "a/a_test.go": "package a_test\n", "b/go.mod": "module b\n", "b/b_test.go": "package b\n", "a/_x_test.go": ""}, "a/a_test.go"},
	"pytest":   {tooltest.Tree{"pytest.ini": "[pytest]\n", "tests/test_a.py": "def test_a(): pass\n"}, "tests/test_a.py"},
	"unittest": {tooltest.Tree{"setup.py": "", "tests/test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"}, "tests/test_a.py"},
	"vitest":   {tooltest.Tree{"package.json": `{"devDependencies": {"vitest": "1"}}`, "src/a.test.ts": "import { it } from 'vitest'\nit('a', () => {})\n"}, "src/a.test.ts"},
	"jest":     {tooltest.Tree{"package.json": `{"devDependencies": {"jest": "29"}}`, "src/a.test.js": "test('a', () => {})\n"}, "src/a.test.js"},
	"ava":      {tooltest.Tree{"package.json": `{"devDependencies": {"ava": "6"}}`, "test/a.js": "import test from 'ava'\ntest('a', t => t.pass())\n"}, "test/a.js"},
	"mocha":    {tooltest.Tree{"package.json": `{"devDependencies": {"mocha": "10"}}`, "test/a.js": "describe('a', () => {\n  it('b', () => {})\n})\n"}, "test/a.js"},
	"nodetest": {tooltest.Tree{"package.json": `{"scripts": {"test": "node --test"}}`, "test/a.mjs": "import test from 'node:test'\ntest('a', () => {})\n"}, "test/a.mjs"},
	"maven":    {tooltest.Tree{"pom.xml": "<project/>", "m/src/test/java/a/ATest.java": "package a;\nimport org.junit.Test;\n"}, "m/src/test/java/a/ATest.java"},
	"gradle":   {tooltest.Tree{"build.gradle": "", "src/test/kotlin/ATest.kt": "import org.junit.jupiter.api.Test\n"}, "src/test/kotlin/ATest.kt"},
	"cargo":    {tooltest.Tree{"Cargo.toml": "[package]\nname = \"a\"\n", "tests/a.rs": "#[test]\nfn a() {}\n"}, "tests/a.rs"},
}

var digits = regexp.MustCompile(`\d+`)

// TestCanaries: of every tool that writes tests of ours, how a test ends is told by nothing but a number, ids begin where those beside it do, and
// what cannot be loaded says the word. C's and C++'s write none: their builds name every file.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		writer, ok := tool.(Canarier)
		if want := tool.Language().Name != "C and C++"; ok != want {
			t.Errorf("%s writes tests of ours: %v", tool.Name(), ok)
		}
		if !ok {
			continue
		}
		b := besides[tool.Name()]
		r := replay.Recipe{Runner: tool.Name(), Module: "m"}
		files, err := Neighbours(t.Context(), b.tree, r)
		if err != nil || len(files) != 1 || files[0].Path != b.file {
			t.Errorf("%s: beside %v, %v; want %s", tool.Name(), files, err, b.file)
			continue
		}
		of := func(fails bool, target ...string) canary.File {
			laid := writer.Canaries(canary.Request{Recipe: r, Word: "w0rd", Tests: []canary.Test{{Fails: fails}}, Files: files, Target: target})
			if len(laid) != 1 {
				t.Fatalf("%s: %d files", tool.Name(), len(laid))
			}
			return laid[0]
		}
		pass, fail, named := of(false), of(true), of(true, b.file)
		words := func(f canary.File) string { return digits.ReplaceAllString(string(f.Data), "0") }
		if words(pass) != words(fail) || string(pass.Data) == string(fail.Data) || string(named.Data) != string(fail.Data) {
			t.Errorf("%s: a test tells how it ends:\n%s\n%s", tool.Name(), pass.Data, fail.Data)
		}
		if len(fail.Ends) != 1 || !strings.HasSuffix(fail.Ends[0], fail.Names[0]) || !strings.Contains(fail.Names[0], "w0rd") || fail.Target != "" {
			t.Errorf("%s: %+v", tool.Name(), fail)
		}
		if named.Path != b.file && named.Target == "" {
			t.Errorf("%s: a run of %s would not have %s", tool.Name(), b.file, named.Path)
		}
		if broken := fmt.Sprintf("%s", fail.Broken.Data); !strings.Contains(broken, "w0rd") || fail.Only == "" {
			t.Errorf("%s: %q cannot be loaded, in %q", tool.Name(), broken, fail.Only)
		}
		if none := writer.Unloadable("shop", "w0rd"); none.Path != "" && !strings.Contains(string(none.Data), "w0rd") {
			t.Errorf("%s: %+v", tool.Name(), none)
		}
	}
}
