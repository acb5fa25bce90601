package unittest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/report"
	"sluice/replay/tools/tooltest"
)

// run is a result with a report.
func run(data []byte, stop replay.Stop, exit int) replay.Result {
	res := replay.Result{Steps: []replay.StepResult{{Name: report.StepTest, Stop: stop, ExitCode: exit}}}
	if data != nil {
		res.Files = map[string][]byte{reportFile: data}
	}
	return res
}

const all = `
	other/test_same.py::T::test_x pass
	plain/test_same.py::T::test_x pass
	rel/test_rel.py::T::test_x pass
	tests/test_a.py::TestBase::test_value pass
	tests/test_a.py::TestC::test_error error exception
	tests/test_a.py::TestC::test_exit error exception
	tests/test_a.py::TestC::test_fail fail assertion
	tests/test_a.py::TestC::test_ok pass
	tests/test_a.py::TestC::test_skip skip
	tests/test_a.py::TestC::test_sub fail assertion
	tests/test_a.py::TestC::test_sub_error error exception
	tests/test_a.py::TestC::test_sub_ok pass
	tests/test_a.py::TestC::test_unbound error exception
	tests/test_a.py::TestC::test_xfail skip
	tests/test_a.py::TestC::test_xpass fail assertion
	tests/test_a.py::TestC::test_ünï pass
	tests/test_a.py::TestChild::test_value fail assertion
	tests/test_a.py::TestClassSetUp::test_x error exception
	tests/test_a.py::TestClassSetUp::test_y error exception
	tests/test_a.py::TestClassSkip::test_x skip
	tests/test_a.py::TestClassTearDown::test_a pass
	tests/test_a.py::TestClassTearDown::test_b error exception
	tests/test_a.py::TestSetUp::test_x error exception
	tests/test_a.py::TestSkipped::test_x skip
	tests/test_a.py::TestTearDown::test_x error exception
	tests/test_a.py::TestTearDown::test_y fail assertion
	tests/test_load.py::<lambda> pass
	tests/test_load.py::T::test_x pass
	tests/test_load.py::T::test_x#2 pass
	tests/test_load.py::TestBase::test_value pass
	tests/test_load.py::tests.test_load.f fail assertion
	tests/test_module.py::T::test_x error exception
	`

func TestCaptured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, name string
		exit          int
		want          tooltest.View
	}{
		{"python3.6", "all", 1, tooltest.View{Phases: "ok failed ok", Tests: all, Broken: "tests/test_bad.py tests/test_skipmod.py tests/test_syntax.py"}},
		{"python3.11", "all", 1, tooltest.View{Phases: "ok failed ok", Tests: all, Broken: "tests/test_bad.py tests/test_skipmod.py tests/test_syntax.py"}},
		{"python3.12", "all", 1, tooltest.View{Phases: "ok failed ok", Tests: all, Broken: "tests/test_bad.py tests/test_skipmod.py tests/test_syntax.py"}},
		{"python3.11", "bad", 1, tooltest.View{Phases: "ok failed not-run", Broken: "tests/none.py tests/test_bad.py"}},
		{"python3.11", "skipmod", 5, tooltest.View{Phases: "ok ok not-run", Broken: "tests/test_skipmod.py"}},
		{"python3.11", "none", 5, tooltest.View{Phases: "ok unknown unknown", Doubt: "no test ran"}},
		{"python3.11", "exit", 3, tooltest.View{Phases: "ok ok failed", Tests: "test_exit.py::T::test_a pass\ntest_exit.py::T::test_b error crash\n"}},
	} {
		t.Run(c.version+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			data := tooltest.Captured(t, c.version, c.name+".jsonl")
			tooltest.Diff(t, Tool{}.Parse(replay.Recipe{}, replay.Target{}, run(data, replay.Exited, c.exit)), c.want)
		})
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	r := Tool{}.Parse(replay.Recipe{Root: "py"}, replay.Target{}, run(tooltest.Captured(t, "python3.11", "all.jsonl"), replay.Exited, 1))
	for id, want := range map[string]string{
		"py/tests/test_a.py::TestC::test_sub":           "AssertionError: 1 == 1\n(i=1)",
		"py/tests/test_a.py::TestC::test_unbound":       "AttributeError: module 'mod' has no attribute 'later'",
		"py/tests/test_a.py::TestClassSetUp::test_x":    "setUpClass: RuntimeError: class",
		"py/tests/test_a.py::TestClassTearDown::test_b": "tearDownClass: RuntimeError: late",
		"py/tests/test_a.py::TestC::test_xfail":         "expected failure: AssertionError: known",
		"py/tests/test_module.py::T::test_x":            "setUpModule: RuntimeError: module",
		"py/tests/test_a.py::TestClassSkip::test_x":     "setUpClass: no database",
		"py/tests/test_a.py::TestC::test_xpass":         "unexpected success",
	} {
		if got := tooltest.Find(t, r, id).Message; got != want {
			t.Errorf("%s says %q, want %q", id, got, want)
		}
	}
	if !(Tool{}).Unbound(tooltest.Find(t, r, "py/tests/test_a.py::TestC::test_unbound")) {
		t.Error("a name that is not there is not seen as such")
	}
	if words := r.Broken["py/tests/test_bad.py"]; !strings.Contains(words, "cannot import name 'later'") || strings.Contains(words, "importlib") {
		t.Errorf("the broken module says %q", words)
	}
}

const (
	startX  = `{"e": "start", "id": "t.py::T::x"}` + "\n"
	passX   = `{"e": "end", "id": "t.py::T::x", "o": "pass"}` + "\n"
	failX   = `{"e": "end", "id": "t.py::T::x", "o": "fail", "k": "assertion"}` + "\n"
	lateX   = `{"e": "end", "id": "t.py::T::x", "o": "error", "k": "exception", "late": true}` + "\n"
	doneOne = `{"e": "done", "tests": 1}` + "\n"
)

func TestDoubts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data   string
		stop         replay.Stop
		exit         int
		doubt, tests string
	}{
		{"all is well", startX + passX + doneOne, replay.Exited, 0, "", "t.py::T::x pass\n"},
		{"exit code alone tells of a failure", startX + passX + doneOne, replay.Exited, 1, "python exited 1 without a failure", "t.py::T::x pass\n"},
		{"failure and exit 0", startX + failX + doneOne, replay.Exited, 0, "python exited 0 in spite", "t.py::T::x fail assertion\n"},
		{"two fates", startX + failX + passX + doneOne, replay.Exited, 1, "test t.py::T::x passed and had", "t.py::T::x fail assertion\n"},
		{"its class failed later", startX + passX + lateX + doneOne, replay.Exited, 1, "", "t.py::T::x error exception\n"},
		{"started twice", startX + passX + startX + doneOne, replay.Exited, 0, "test t.py::T::x was started more", "t.py::T::x pass\n"},
		{"no end of the report", startX + passX, replay.Exited, 0, "python exited 0 before", "t.py::T::x pass\n"},
		{"ended in a test, and well", startX, replay.Exited, 0, "python exited 0 in spite", "t.py::T::x error crash\n"},
		{"a crash", startX, replay.Signal, -1, "", "t.py::T::x error crash\n"},
		{"a crash between tests", startX + passX, replay.Signal, -1, "python was killed", "t.py::T::x pass\n"},
		{"out of time", startX, replay.Timeout, -1, "", "t.py::T::x timeout\n"},
		{"out of time while writing", startX + passX + `{"e": "sta`, replay.Timeout, -1, "", "t.py::T::x pass\n"},
		{"cut", startX + passX + `{"e": "sta`, replay.Exited, 0, "a line of the report", "t.py::T::x pass\n"},
		{"no outcome", startX + doneOne, replay.Exited, 0, "", "t.py::T::x missing\n"},
		{"behind the end", doneOne + startX + passX, replay.Exited, 0, "the report goes on", "t.py::T::x pass\n"},
		{"other counts", startX + passX + `{"e": "done", "tests": 2}` + "\n", replay.Exited, 0, "the report counts", "t.py::T::x pass\n"},
		{"an unknown outcome", `{"e": "end", "id": "t.py::T::x", "o": "fine"}` + "\n" + doneOne, replay.Exited, 0, "test t.py::T::x has the unknown", ""},
		{"no id", `{"e": "end", "id": "x", "o": "pass"}` + "\n" + doneOne, replay.Exited, 0, "the report names a test", ""},
		{"an unknown code", startX + passX + doneOne, replay.Exited, 77, "python exited 77", "t.py::T::x pass\n"},
		{"no tests, and one", startX + passX + doneOne, replay.Exited, 5, "python exited 5", "t.py::T::x pass\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := tooltest.ViewOf(Tool{}.Parse(replay.Recipe{}, replay.Target{}, run([]byte(c.data), c.stop, c.exit)))
			if v.Tests != c.tests {
				t.Errorf("tests:\n%swant:\n%s", v.Tests, c.tests)
			}
			if (c.doubt == "") != (v.Doubt == "") || !strings.HasPrefix(v.Doubt, c.doubt) {
				t.Errorf("doubt %q, want %q", v.Doubt, c.doubt)
			}
		})
	}
}

func TestCutShort(t *testing.T) {
	t.Parallel()
	r := Tool{}.Parse(replay.Recipe{}, replay.Target{}, run(tooltest.Captured(t, "python3.11", "exit.jsonl"), replay.Exited, 3))
	if d := cmp.Diff([]string{""}, Tool{}.CutShort(r.Tests)); d != "" {
		t.Error(d)
	}
	if got := (Tool{}).CutShort([]replay.Test{{ID: "a", Kind: replay.Exception, Outcome: replay.Error}}); got != nil {
		t.Errorf("an exception ends one test only, got %v", got)
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{Root: "py", Env: map[string]string{"VIRTUAL_ENV": "{env}/venv"}, Build: []replay.Step{{Name: "install"}}}
	target := replay.Target{Paths: []string{"py/tests/test_b.py", "py/tests/helper.py", "py/tests/a_test.py", "tests/test_other.py", "py/tests/test_b.py"}}
	steps := Tool{}.Steps(r, target)
	if len(steps) != 2 || steps[0].Name != "install" || steps[1].Dir != "py" {
		t.Fatalf("steps are %+v", steps)
	}
	args := steps[1].Args
	if d := cmp.Diff([]string{"{out}/unittest.jsonl", "tests/a_test.py", "tests/test_b.py"}, args[len(args)-3:]); d != "" {
		t.Error(d)
	}
	for _, token := range []string{"{tree}", "{env}", "{out}"} {
		if strings.Contains(program, token) {
			t.Errorf("the program holds %s, which a sandbox would replace", token)
		}
	}
	if plain := (Tool{}).StepsByHand(r, target); strings.Contains(strings.Join(plain[1].Args, " "), "import") {
		t.Errorf("the plain command is %q", plain[1].Args)
	}
}

// TestProgram runs the program with this machine's Python over a small project, if there is one.
func TestProgram(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	tree := tooltest.Tree{
		"unittest.py":       "raise SystemExit('the project stands in for a module')\n",
		"tests/__init__.py": "",
		"tests/test_a.py":   "import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        self.assertIn('T', repr(self))\n\n    def test_y(self):\n        self.fail('f')\n",
		"tests/test_b.py":   "import os\nimport unittest\nimport json\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        os.write = json.dumps = None\n        os.chdir('/')\n",
		"flat/test_a.py":    "import helper\nimport unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        self.assertEqual(helper.X, 1)\n",
		"flat/helper.py":    "X = 1\n",
		// Django's runner prints a docstring for a name, and its own words between a name and its end: github.com/SWE-bench/SWE-bench/issues/275
		// and issues/167.
		"tests/test_words.py": `import sys
import unittest

class T(unittest.TestCase):
    def test_told(self):
        """It adds,
        and more ... FAIL"""
        sys.stderr.write("System check identified no issues (0 silenced).\\nok\\n")

    def test_same(self):
        """It adds."""

    def test_same_words(self):
        """It adds."""
        self.fail()
`,
		"tests/test_broken.py": "from nothing import x\n\nclass T: pass\n",
		"tests/notes.txt":      "",
	}
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "r.jsonl")
	tooltest.Write(t, dir, tree)
	cmd := exec.Command(python, "-c", program, out)
	cmd.Dir = dir
	words, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	data := tooltest.ReadFile(t, out)
	got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, run(data, replay.Exited, cmd.ProcessState.ExitCode()))
	tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Broken: "tests/test_broken.py", Tests: `
		flat/test_a.py::T::test_x pass
		tests/test_a.py::T::test_x pass
		tests/test_a.py::T::test_y fail assertion
		tests/test_b.py::T::test_x pass
		tests/test_words.py::T::test_same pass
		tests/test_words.py::T::test_same_words fail assertion
		tests/test_words.py::T::test_told pass
		`})
	if t.Failed() {
		t.Logf("%s\n%s", words, data)
	}
}
