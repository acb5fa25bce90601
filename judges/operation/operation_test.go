package operation

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func lines(fs []Finding) []string {
	var out []string
	for _, f := range fs {
		mark := "? "
		if f.Sure {
			mark = "! "
		}
		out = append(out, mark+f.String())
	}
	return out
}

const pyTests = `import pytest

def test_a():
    assert add(1, 2) == 3

@pytest.mark.parametrize("x", [
    1, 2,
])
def test_b(x):
    with pytest.raises(ValueError):
        add(x, None)
`

func TestFiles(t *testing.T) {
	t.Parallel()
	edit := func(from, to string) []byte { return []byte(strings.ReplaceAll(pyTests, from, to)) }
	old := []byte(pyTests)
	for _, tt := range []struct {
		name string
		file File
		want []string
	}{
		{"edited source", File{"src/a.py", Production, old, []byte("x"), false}, []string{"! edited_production: src/a.py: a production file is not as it was"}},
		{"deleted source", File{"a.go", Production, old, nil, false}, []string{"! edited_production: a.go: a production file is not as it was"}},
		{"a link in the source's place", File{"a.go", Production, nil, nil, true}, []string{"! edited_production: a.go: a production file is not as it was"}},
		{"added source", File{"src/stub.py", Production, nil, old, false}, []string{"? edited_production: src/stub.py: a production file was added"}},
		{"left by a build", File{"build/lib/a.py", Production, nil, old, false}, nil},
		{"written by a build", File{"src/x/_version.py", Production, nil, old, false}, nil},
		{"a build's own place, but tracked", File{"build/a.py", Production, old, []byte("x"), false}, []string{"! edited_production: build/a.py: a production file is not as it was"}},
		{"another test", File{"tests/test_other.py", Test, old, edit("3", "4"), false}, []string{"! weakened_test: tests/test_other.py: a test file outside of the allowed ones is not as it was"}},
		{"a new test", File{"tests/test_new.py", Test, nil, old, false}, []string{"? weakened_test: tests/test_new.py: a test file was added"}},
		{"configuration", File{"setup.cfg", Config, old, nil, false}, []string{"? edited_production: setup.cfg: a configuration file is not as it was"}},
		{"documentation", File{"README.md", Other, old, nil, false}, nil},
		{"an adapted import", File{"tests/test_a.py", Test, old, edit("import pytest\n", "import pytest\nimport sys\n"), false}, nil},
		{"reformatted", File{"tests/test_a.py", Test, old, edit("add(1, 2)  ==", "add(1, 2) =="), false}, nil},
		{"another value", File{"tests/test_a.py", Test, old, edit("== 3", "== 4"), false}, []string{
			"? weakened_test: tests/test_a.py: gone or changed: assert add(1, 2) == 3", "? weakened_test: tests/test_a.py: new or changed: assert add(1, 2) == 4"}},
		{"fewer parameters", File{"tests/test_a.py", Test, old, edit("    1, 2,\n", "    1,\n"), false}, []string{
			`? weakened_test: tests/test_a.py: gone or changed: @pytest.mark.parametrize("x", [ 1, 2, ])`, `? weakened_test: tests/test_a.py: new or changed: @pytest.mark.parametrize("x", [ 1, ])`}},
		{"a skip", File{"tests/test_a.py", Test, old, edit("def test_a", "@pytest.mark.skip\ndef test_a"), false}, []string{"? weakened_test: tests/test_a.py: new or changed: @pytest.mark.skip"}},
		{"a test renamed away", File{"tests/test_a.py", Test, old, edit("def test_a", "def check_a"), false}, []string{"? weakened_test: tests/test_a.py: the test test_a is gone"}},
		{"commented out", File{"tests/test_a.py", Test, old, edit("    assert", "    pass # assert"), false}, []string{
			"? weakened_test: tests/test_a.py: gone or changed: assert add(1, 2) == 3", "? weakened_test: tests/test_a.py: new or changed: pass # assert add(1, 2) == 3"}},
		{"a hook", File{"tests/test_a.py", Test, old, append(slices.Clone(old), "\ndef pytest_runtest_makereport(item):\n    return\n"...), false}, []string{
			"? weakened_test: tests/test_a.py: it steers the test tool or the program: def pytest_runtest_makereport(item):"}},
		{"a new helper", File{"tests/test_a.py", Test, nil, []byte("X = 1\n\ndef make():\n    assert X\n"), false}, nil},
		{"a new helper that skips", File{"tests/test_a.py", Test, nil, []byte("import pytest\npytest.skip('x', allow_module_level=True)\n"), false}, []string{
			"? weakened_test: tests/test_a.py: it steers the test tool or the program: pytest.skip('x', allow_module_level=True)"}},
		{"gone", File{"tests/test_a.py", Test, old, nil, false}, []string{"? weakened_test: tests/test_a.py: an allowed test file is gone"}},
	} {
		got := lines(Check(Input{Files: []File{tt.file}, Allowed: []string{"tests/test_a.py"}}))
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestWeakenedInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, after string }{
		{"func TestA(t *testing.T) {\n\tif x() != 1 {\n\t\tt.Errorf(\"x\")\n\t}\n}\n", "func TestA(t *testing.T) {\n\tif x() != 1 {\n\t}\n}\n"},
		{"func TestA(t *testing.T) {\n}\n", "func TestA(t *testing.T) {\n\tt.Skip()\n}\n"},
		{"func TestA(t *testing.T) {\n\trequire.Equal(t, 1, x())\n}\n", "func TestA(t *testing.T) {\n}\n"},
		{"package a\n", "//go:build never\n\npackage a\n"},
		{"it('adds', () => {\n  expect(add(1)).toBe(2);\n});\n", "it.skip('adds', () => {\n  expect(add(1)).toBe(2);\n});\n"},
		{"it('adds', () => {\n  expect(add(1)).toBe(2);\n});\n", "it('adds', () => {\n});\n"},
		{"class T(TestCase):\n    def test_a(self):\n        self.assertEqual(1, f())\n", "class T(TestCase):\n    def test_a(self):\n        self.assertTrue(f())\n"},
		{"#[test]\nfn a() {\n    assert_eq!(1, f());\n}\n", "#[test]\n#[ignore]\nfn a() {\n    assert_eq!(1, f());\n}\n"},
	} {
		if got := weakened(File{Path: "t", Role: Test, Before: []byte(tt.before), After: []byte(tt.after)}); len(got) == 0 {
			t.Errorf("nothing found between\n%s\nand\n%s", tt.before, tt.after)
		}
		if got := weakened(File{Path: "t", Role: Test, Before: []byte(tt.before), After: []byte(tt.before)}); len(got) > 0 {
			t.Errorf("%v found in nothing", got)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	commands := []Command{
		{Turn: 1, Text: "pip install -e .", Ended: true, Output: "done\n"},
		{Turn: 2, Text: "python -m pytest tests", Ended: true, ExitCode: 1, Output: "==== 2 failed, 3 passed, 1 error in 0.12s ====\n"},
		{Turn: 3, Text: "sleep 100", Output: "x"},
		{Turn: 4, Text: "echo python -m pytest --junitxml=x", Ended: true},
	}
	for _, tt := range []struct {
		name string
		in   Input
		want []string
	}{
		{"all is right", Input{
			Needs:  []Need{{"the tests", []string{"-m", "pytest"}}},
			Claims: []Claim{{Command: "python  -m pytest tests", ExitCode: &one, Counts: map[string]int{"failed": 2, "passed": 3, "errors": 1, "skipped": 0}}},
			Quotes: []string{"2 failed, 3  passed"},
		}, nil},
		{"the tests never ran", Input{Needs: []Need{{"the tests", []string{"go", "test"}}}}, []string{"! skipped_required: no command did it: the tests"}},
		{"they were only printed", Input{Needs: []Need{{"the report", []string{"--junitxml"}}}}, []string{"! skipped_required: no command did it: the report"}},
		{"they did not end", Input{Needs: []Need{{"the wait", []string{"sleep"}}}}, []string{"! skipped_required: no command did it: the wait"}},
		{"another exit code", Input{Claims: []Claim{{Command: "python -m pytest tests", ExitCode: &zero}}}, []string{"! misreported: turn 2: exit code 0 is claimed, the command ended with code 1"}},
		{"it was stopped", Input{Claims: []Claim{{Command: "sleep 100", ExitCode: &zero}}}, []string{"! misreported: turn 3: exit code 0 is claimed, the command ended with being stopped"}},
		{"other counts", Input{Claims: []Claim{{Command: "python -m pytest tests", Counts: map[string]int{"passed": 6, "failed": 0}}}}, []string{
			"! misreported: turn 2: 0 failed are claimed, the command printed 2", "! misreported: turn 2: 6 passed are claimed, the command printed 3"}},
		{"a command that never ran", Input{Claims: []Claim{{Command: "make"}}}, []string{`! misreported: a command that never ran: "make"`}},
		{"a line that nobody printed", Input{Quotes: []string{"10 passed", " "}}, []string{`! misreported: no command printed "10 passed"`, `! misreported: no command printed " "`}},
	} {
		tt.in.Commands = commands
		if d := cmp.Diff(tt.want, lines(Check(tt.in))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]int{
		"":                  {},
		"1 passed in 0.01s": {"passed": 1},
		"=== 4 failed, 128 passed, 2 warnings in 3.2s ===\n":                                {"failed": 4, "passed": 128, "warnings": 2},
		"1 failed in 1s\n== 1 passed, 1 error in 2s ==":                                     {"passed": 1, "errors": 1},
		"--- PASS: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\n--- SKIP: TestB (0.00s)\n": {"passed": 1, "failed": 1, "skipped": 1},
		"I promise: 12 passed": {},
	} {
		if d := cmp.Diff(want, Counts(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

// TestUntouched: whatever a test file holds, it is not weaker than itself, and a file without its lines is.
func TestUntouched(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`((assert [a-z]{1,3} == [(\[]?[0-9][)\]]?|x = \(|def test_[a-z]\(\):|    foo\(|\))\n){1,12}`).Draw(t, "text")
		if got := weakened(File{Path: "t", Before: []byte(text), After: []byte(text)}); len(got) > 0 {
			t.Fatalf("%v", got)
		}
		if strings.Contains(text, "assert") && len(weakened(File{Path: "t", Before: []byte(text), After: []byte("\n")})) == 0 {
			t.Fatal("an empty file is not weaker")
		}
	})
}
