package tools

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/node"
)

// said is what consoles said where reading them gave a wrong result, with the thread that tells of it.
var said = map[string]string{
	"a name with spaces, github.com/SWE-bench/SWE-bench/issues/43":                 `PASSED a.py::t[x-Unit 'deg' \(angle\) could not ... 'distance'. ]` + "\n",
	"a name before its status, github.com/SWE-bench/SWE-bench/issues/337":          "PASSED tests/test_a.py::test_assert\ntests/test_a.py::test_assert PASSED\ntests/test_a.py::test_ok FAILED\nFAILED tests/test_a.py::test_ok\n",
	"a status without a name, github.com/SWE-bench/SWE-bench/issues/611":           "PASSED\nFAILED\nok\nnot ok\n",
	"a status on the next line, github.com/SWE-bench/SWE-bench/issues/167":         "test_x (m.C) ... System check identified no issues (0 silenced).\nok\n",
	"a docstring for a name, github.com/SWE-bench/SWE-bench/issues/275":            "test_x (m.C)\nIt adds,\nand more. ... ok\nIt subtracts. ... FAIL\n",
	"a machine's words, github.com/multi-swe-bench/multi-swe-bench/issues/52":      "... PASSEDPicked up JAVA_TOOL_OPTIONS: ...\na.ATest > one PASSEDPicked up JAVA_TOOL_OPTIONS: -Xmx1g\nOpenJDK 64-Bit Server VM warning: x\n",
	"lines of two at once, github.com/SWE-bench/SWE-bench/issues/506":              "[INFO] Tests run: 3, Fail[INFO] Tests run: 2, Failures: 0\nures: 9, Errors: 9\n[ERROR] a.ATest.one:3\n",
	"bytes that are no text, github.com/SWE-bench/SWE-bench/commit/ec9181d":        "caf\xe9 \xff\xfe\x00\n",
	"marks the wrong way round, github.com/SWE-bench/SWE-bench/issues/402":         "+ : '>>>>> End Test Output'\n+ : '>>>>> Start Test Output'\n",
	"a duration in a name, github.com/SWE-bench/SWE-bench/issues/616":              "  ✓ adds (12 ms)\n  ✓ adds \n  ✕ adds (3 ms)\n",
	"nothing was executed, github.com/SWE-bench/SWE-bench/commit/395389c":          "Executed 0 of 0 SUCCESS\n",
	"nothing was executed by mocha, github.com/SWE-bench/SWE-bench/commit/ca6e4e0": "0 passing\n  0 passing (1ms)\n",
	"nothing was executed by jest, github.com/SWE-bench/SWE-bench/commit/ca6e4e0":  "Tests: 0 total\nTests:       0 total\n",
}

// left is what one version of each tool left of a project with failing tests.
var left = map[string]struct {
	from string            // folder, or a single file
	as   map[string]string // by a file's name there, the report's; others keep theirs
	exit int
}{
	"gotest":   {"gotest/testdata/go1.26/a.json", map[string]string{"a.json": "-"}, 1},
	"pytest":   {"pytest/testdata/pytest9/all.*", map[string]string{"all.xml": "junit.xml", "all.out": "-"}, 1},
	"unittest": {"unittest/testdata/python3.11/all.jsonl", map[string]string{"all.jsonl": "unittest.jsonl"}, 1},
	"vitest":   {"vitest/testdata/vitest4/all.jsonl", map[string]string{"all.jsonl": "vitest.jsonl"}, 1},
	"jest":     {"jest/testdata/jest29/all.jsonl", map[string]string{"all.jsonl": "jest.jsonl"}, 1},
	"ava":      {"ava/testdata/ava6/all.jsonl", map[string]string{"all.jsonl": "ava.jsonl"}, 1},
	"mocha":    {"mocha/testdata/mocha11/all.jsonl", map[string]string{"all.jsonl": "mocha.jsonl"}, 1},
	"nodetest": {"nodetest/testdata/node22/all.jsonl", map[string]string{"all.jsonl": "nodetest.jsonl"}, 1},
	"maven":    {"maven/testdata/3.5.2/*", nil, 1},
	"gradle":   {"gradle/testdata/4.4.1/*", map[string]string{"stderr": "!"}, 1},
	"ctest":    {"ctest/testdata/cmake4.1/*", nil, 8},
	"meson":    {"meson/testdata/meson1.9/*", nil, 11},
	"cargo":    {"cargo/testdata/1.95/*", nil, 1},
}

// run is what a tool left, as a result. What a report calls "-" and "!" was printed on stdout and stderr.
func run(t *testing.T, tool Tool) replay.Result {
	t.Helper()
	l := left[tool.Name()]
	names, err := filepath.Glob(l.from)
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing was captured of %s: %v", tool.Name(), err)
	}
	step := replay.StepResult{Name: StepTest, Stop: replay.Exited, ExitCode: l.exit}
	res := replay.Result{Files: map[string][]byte{}}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		as := strings.ReplaceAll(path.Base(name), "+", "/")
		if other, ok := l.as[as]; ok {
			as = other
		}
		switch as {
		case "-":
			step.Stdout = data
		case "!":
			step.Stderr = data
		default:
			res.Files[as] = data
		}
	}
	if tool.Language().Name == "JavaScript" {
		step.Stdout = node.Seal(res.Files[tool.Name()+".jsonl"])
	}
	res.Steps = []replay.StepResult{step}
	return res
}

// TestConsoleChangesNothing: what is printed beside a report, wherever it stands, gives no test another name or end.
func TestConsoleChangesNothing(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		whole := run(t, tool)
		want := tool.Parse(replay.Recipe{}, replay.Target{}, whole)
		if want.Inconsistent != "" || len(want.Tests) < 3 {
			t.Fatalf("%s: the captured run has %d tests, and is doubted: %q", tool.Name(), len(want.Tests), want.Inconsistent)
		}
		for name, words := range said {
			out, err := whole.Steps[0].Stdout, whole.Steps[0].Stderr
			first, rest, _ := strings.Cut(string(out), "\n")
			if len(rest) > 0 {
				first += "\n"
			}
			for where, streams := range map[string][2]string{
				"first on stdout": {words + string(out), string(err)}, "on stderr": {string(out), string(err) + words},
				"in the middle of both": {first + words + rest, words + string(err) + words},
			} {
				res := whole
				res.Steps = []replay.StepResult{whole.Steps[0]}
				res.Steps[0].Stdout, res.Steps[0].Stderr = []byte(streams[0]), []byte(streams[1])
				if d := cmp.Diff(want, tool.Parse(replay.Recipe{}, replay.Target{}, res)); d != "" {
					t.Errorf("%s: %s, %s (-without +with):\n%s", tool.Name(), name, where, d)
				}
			}
		}
	}
}

// TestConsoleProvesNothing: without a report, or with an empty one, no console makes a test that ran: a suite that never started
// had passed with all its tests in github.com/SWE-bench/SWE-bench/commit/395389c.
func TestConsoleProvesNothing(t *testing.T) {
	t.Parallel()
	logs := map[string]string{"an empty log": "", "all of them": ""}
	for name, words := range said {
		logs[name] = words
		logs["all of them"] += words
	}
	for _, tool := range table {
		for name, words := range logs {
			for _, exit := range []int{0, 1} {
				for _, files := range []map[string][]byte{nil, leave(tool, nil)} {
					step := replay.StepResult{Name: StepTest, Stop: replay.Exited, ExitCode: exit, Stdout: []byte(words), Stderr: []byte(words)}
					r := tool.Parse(replay.Recipe{}, replay.Target{}, replay.Result{Files: files, Steps: []replay.StepResult{step}})
					if r.Inconsistent == "" || len(r.Tests) > 0 || r.RunTests == replay.OK {
						t.Errorf("%s, %s, exit %d: %+v", tool.Name(), name, exit, r)
					}
				}
			}
		}
	}
}
