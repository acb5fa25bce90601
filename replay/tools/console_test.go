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

// script is what a tool of JavaScript's leaves of one test that passed.
const script = `{"e":"begin"}
{"e":"start","file":"a.test.js","path":["one"]}
{"e":"end","file":"a.test.js","path":["one"],"o":"pass","k":"","m":"","late":false}
{"e":"done","tests":1,"bad":0}
`

// passed is what each tool leaves of one test that passed; "-" is printed on stdout.
var passed = map[string]map[string]string{
	"gotest":   {"-": `{"Action":"run","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"},
	"pytest":   {"junit.xml": `<testsuites><testsuite><testcase classname="a" name="x" file="a.py"/></testsuite></testsuites>`},
	"unittest": {"unittest.jsonl": `{"e": "start", "id": "t.py::T::x"}` + "\n" + `{"e": "end", "id": "t.py::T::x", "o": "pass"}` + "\n" + `{"e": "done", "tests": 1}` + "\n"},
	"vitest":   {"vitest.jsonl": script}, "jest": {"jest.jsonl": script}, "mocha": {"mocha.jsonl": script}, "ava": {"ava.jsonl": script}, "nodetest": {"nodetest.jsonl": script},
	"maven": {"reports/1.0/TEST-a.ATest.xml": `<testsuite><testcase classname="a.ATest" name="one"/></testsuite>`, "maven.jsonl": `{"e":"module","n":"1","dir":"","name":"a"}
{"e":"goal","dir":"","goal":"maven-surefire-plugin:test","phase":"test","state":"ok"}
{"e":"end","message":""}
`},
	"gradle": {"gradle.jsonl": `{"e":"top","dir":"/testbed"}
{"e":"tests","task":":a:test","dir":"a"}
{"e":"source","task":":a:test","file":"a/src/test/java/x/ATest.java","package":"x"}
{"e":"start","task":":a:test","class":"x.ATest","name":"one"}
{"e":"end","task":":a:test","class":"x.ATest","name":"one","state":"SUCCESS"}
{"e":"task","task":":a:test","kind":"run","state":"ok"}
{"e":"done","message":""}
`},
	"ctest": {
		"build.json": `{"exit":0,"failed":[]}`, "ctest-0.xml": `<testsuite><testcase name="t" status="run"/></testsuite>`,
		"index.json": `{"exit":0,"tests":[{"name":"t","id":"t::t","target":"t"}],"runs":[{"report":"ctest-0.xml","exit":0}]}`,
	},
	"meson": {
		"build.json": `{"exit":0,"failed":[]}`, "meson.jsonl": `{"name":"p / t","stdout":"","result":"OK","returncode":0,"command":["/w/t"]}` + "\n",
		"meson.xml": `<testsuites><testsuite name="p"><testcase name="t" classname="p"/></testsuite></testsuites>`,
		"index.json": `{"exit":0,"tests":[{"name":"t","id":"t::t","target":"t","command":["/w/t"],"asked":true,"protocol":"exitcode","project":"p"}],
"runs":[{"report":"meson.jsonl","cases":"meson.xml","exit":0}]}`,
	},
	"cargo": {"cargo-made.jsonl": `{"e":"chosen","scopes":["c"],"paths":{},"all":true}` + "\n", "cargo.jsonl": `{"e":"begin","run":1,"scope":"c","how":"harness","list":["x"]}
{"e":"out","run":1,"line":"{ \"type\": \"test\", \"name\": \"x\", \"event\": \"ok\" }"}
{"e":"out","run":1,"line":"{ \"type\": \"suite\", \"event\": \"ok\", \"passed\": 1, \"failed\": 0, \"ignored\": 0 }"}
{"e":"end","run":1,"exit":0,"signal":0,"late":false,"words":""}
{"e":"done","runs":1}
`},
}

// good is what a tool left of a test that passed, as a result.
func good(tool Tool) replay.Result {
	res := replay.Result{Files: map[string][]byte{}, Steps: []replay.StepResult{{Name: StepTest, Stop: replay.Exited}}}
	for name, text := range passed[tool.Name()] {
		if name == "-" {
			res.Steps[0].Stdout = []byte(text)
			continue
		}
		res.Files[name] = []byte(text)
	}
	return seal(tool, res)
}

// seal adds the line that the programs of JavaScript's tools print of their reports.
func seal(tool Tool, res replay.Result) replay.Result {
	if tool.Language().Name == "JavaScript" {
		res.Steps[0].Stdout = node.Seal(res.Files[tool.Name()+".jsonl"])
	}
	return res
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
	res.Steps = []replay.StepResult{step}
	return seal(tool, res)
}

// TestConsoleChangesNothing: what is printed beside a report, wherever it stands, gives no test another name or end.
func TestConsoleChangesNothing(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		for kind, whole := range map[string]replay.Result{"failures": run(t, tool), "a pass": good(tool)} {
			want := tool.Parse(replay.Recipe{}, replay.Target{}, whole)
			if want.Inconsistent != "" || len(want.Tests) == 0 {
				t.Errorf("%s: the run with %s has %d tests, and is doubted: %q", tool.Name(), kind, len(want.Tests), want.Inconsistent)
			}
			for name, words := range said {
				for where, res := range beside(whole, words) {
					if d := cmp.Diff(want, tool.Parse(replay.Recipe{}, replay.Target{}, res)); d != "" {
						t.Errorf("%s with %s: %s, %s (-without +with):\n%s", tool.Name(), kind, name, where, d)
					}
				}
			}
		}
	}
}

// beside prints words beside what a run printed.
func beside(whole replay.Result, words string) map[string]replay.Result {
	out, err := string(whole.Steps[0].Stdout), string(whole.Steps[0].Stderr)
	first, rest, cut := strings.Cut(out, "\n")
	if cut {
		first += "\n"
	}
	all := map[string]replay.Result{}
	for where, streams := range map[string][2]string{
		"first on stdout": {words + out, err}, "on stderr": {out, err + words}, "in the middle of both": {first + words + rest, words + err + words},
	} {
		res := whole
		res.Steps = []replay.StepResult{whole.Steps[0]}
		res.Steps[0].Stdout, res.Steps[0].Stderr = []byte(streams[0]), []byte(streams[1])
		all[where] = res
	}
	return all
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
