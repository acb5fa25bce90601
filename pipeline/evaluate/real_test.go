package evaluate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
)

// bare runs steps on this machine with no isolation at all. It is for the projects of these tests, which are our own.
type bare struct{ t *testing.T }

func (b bare) Name() string { return "bare" }

func (b bare) Prepare(_ context.Context, r replay.Recipe, _ replay.Tree) (replay.Env, error) {
	return replay.Env{Recipe: r, Sandbox: "bare"}, nil
}

func (b bare) Close() error { return nil }

func (b bare) Run(ctx context.Context, j replay.Job) (replay.Result, error) {
	tree, out := b.t.TempDir(), b.t.TempDir()
	if err := j.Tree.Each(ctx, func(f replay.File) error { return writeFile(tree, f) }); err != nil {
		return replay.Result{}, err
	}
	for _, o := range j.Overlays {
		for _, p := range o.Remove {
			if err := os.RemoveAll(filepath.Join(tree, p)); err != nil {
				return replay.Result{}, err
			}
		}
		for _, f := range o.Files {
			if err := os.RemoveAll(filepath.Join(tree, f.Path)); err != nil {
				return replay.Result{}, err
			}
			if err := writeFile(tree, f); err != nil {
				return replay.Result{}, err
			}
		}
	}
	res := replay.Result{Files: map[string][]byte{}}
	for _, s := range j.Steps {
		if s.IfFailed != "" && (res.Step(s.IfFailed) == nil || res.Step(s.IfFailed).ExitCode == 0) {
			continue
		}
		res.Steps = append(res.Steps, b.step(ctx, s, strings.NewReplacer("{tree}", tree, "{out}", out), tree))
	}
	return res, filepath.WalkDir(out, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		res.Files[filepath.Base(p)] = data
		return err
	})
}

func (b bare) step(ctx context.Context, s replay.Step, vars *strings.Replacer, tree string) replay.StepResult {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = vars.Replace(a)
	}
	cmd := exec.CommandContext(ctx, program(args[0]), args[1:]...)
	cmd.Dir = filepath.Join(tree, s.Dir)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "PYTHONDONTWRITEBYTECODE=1")
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+vars.Replace(v))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := replay.StepResult{Name: s.Name, Stop: replay.Exited, Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.ExitCode = exit.ExitCode()
	} else if err != nil {
		b.t.Errorf("step %s: %v", s.Name, err)
	}
	return r
}

// program is what a step's program is called on this machine: Debian's Python has no name without a number.
func program(name string) string {
	if _, err := exec.LookPath(name); err != nil && name == "python" {
		return "python3"
	}
	return name
}

// needs skips a test where Python does not run with the arguments; in CI it must.
func needs(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command(program("python"), args...).CombinedOutput()
	if err != nil && os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatalf("SLUICE_REQUIRE_SANDBOX is set, and python %v: %v: %s", args, err, out)
	}
	if err != nil {
		t.Skipf("python %v: %v: %s", args, err, out)
	}
}

// realOptions evaluates one instance of a real project.
func realOptions(t *testing.T, base files, inst pipeline.Instance) Options {
	o, _ := fixture(t, inst)
	o.Sandbox, o.Runner, o.Clock = bare{t}, tools.For, time.Now
	o.Tree = func(context.Context, string, string) (replay.Tree, error) { return base, nil }
	return o
}

// change makes the patch from base to base with other files.
func change(t *testing.T, base files, to files) []byte {
	t.Helper()
	after := files{}
	for _, f := range []files{base, to} {
		for k, v := range f {
			after[k] = v
		}
	}
	return diff(t, base, after)
}

type realCase struct {
	name string
	to   files
	want State
	full bool
}

func runReal(t *testing.T, base files, inst pipeline.Instance, cases []realCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := realOptions(t, base, inst)
			got := one(t, o, change(t, base, tt.to))
			if got.State != tt.want || got.Full() != tt.full {
				t.Errorf("state %s (full %v): %s, want %s (full %v)", got.State, got.Full(), got.Why, tt.want, tt.full)
				for _, c := range got.Checks {
					log, _ := os.ReadFile(filepath.Join(o.Out, c.Log))
					t.Logf("%s", log)
				}
			}
		})
	}
}

func TestRealGo(t *testing.T) {
	t.Parallel()
	base := files{
		"go.mod": "module example.com/m\n\ngo 1.22\n", "div.go": "package m\n\nfunc Div(a, b int) int { return 0 }\n",
		"div_test.go": "package m\n", "other/o.go": "package other\n", "other/o_test.go": "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n",
	}
	sealed := func(body string) []pipeline.OverlayFile {
		return []pipeline.OverlayFile{{Path: "div_test.go", Mode: "100644", Data: pipeline.Text("package m_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m\"\n)\n\n" + body)}}
	}
	inst := instance("o__r-1")
	inst.Recipe = replay.Recipe{Runner: "gotest", Module: "example.com/m", Fingerprint: "go"}
	inst.Checks = []pipeline.Check{
		{
			Name: "task", Resolves: true, // no target: everything runs
			Files:      sealed("func TestDiv(t *testing.T) {\n\tif m.Div(6, 3) != 2 {\n\t\tt.Fatal()\n\t}\n}\n"),
			FailToPass: []string{"example.com/m::TestDiv"}, PassToPass: []string{"example.com/m/other::TestOther"},
		},
		{
			Name: "anticipation", Target: []string{"div_test.go"},
			Files:      sealed("func TestZero(t *testing.T) {\n\tif m.Div(6, 0) != 0 {\n\t\tt.Fatal()\n\t}\n}\n"),
			FailToPass: []string{"example.com/m::TestZero"},
		},
	}
	src := func(s string) files { return files{"div.go": "package m\n\n" + s} }
	runReal(t, base, inst, []realCase{
		{"everything", src("func Div(a, b int) int {\n\tif b == 0 {\n\t\treturn 0\n\t}\n\treturn a / b\n}\n"), Resolved, true},
		{"task only", src("func Div(a, b int) int { return a / b }\n"), Resolved, false},
		{"wrong", src("func Div(a, b int) int { return b }\n"), Unresolved, false},
		{"does not build", src("func Div(a, b int) int { return x }\n"), BuildFailed, false},
		{"other interface", src("func Divide(a, b int) int { return a / b }\n"), Unresolved, false}, // the other package ran
		{"exits before the tests", src("import \"os\"\n\nfunc init() { os.Exit(0) }\n\nfunc Div(a, b int) int { return 0 }\n"), Unresolved, false},
		{"prints passes and exits", src("import (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc init() {\n\tfmt.Print(\"=== RUN   TestDiv\\n--- PASS: TestDiv (0.00s)\\n=== RUN   TestZero\\n--- PASS: TestZero (0.00s)\\nPASS\\n\")\n\tos.Exit(0)\n}\n\nfunc Div(a, b int) int { return 0 }\n"), Tampered, false},
		{"replaces the tests", files{"div_test.go": "package m_test\n", "x_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(*testing.M) { os.Exit(0) }\n", "y.go": "package m\n"}, Unresolved, false},
	})
}

func TestRealPytest(t *testing.T) {
	t.Parallel()
	needs(t, "-m", "pytest", "--version")
	base := files{"div.py": "def div(a, b):\n    return 0\n", "tests/test_old.py": "def test_old():\n    pass\n"}
	sealed := func(body string) []pipeline.OverlayFile {
		return []pipeline.OverlayFile{{Path: "tests/test_div.py", Mode: "100644", Data: pipeline.Text("import div\n\n" + body)}}
	}
	inst := instance("o__r-1")
	inst.Recipe = replay.Recipe{Runner: "pytest", Fingerprint: "py"}
	inst.Checks = []pipeline.Check{
		{
			Name: "task", Resolves: true, Files: sealed("def test_div():\n    assert div.div(6, 3) == 2\n"),
			FailToPass: []string{"tests/test_div.py::test_div"}, PassToPass: []string{"tests/test_old.py::test_old"},
		},
		{
			Name: "anticipation", Target: []string{"tests/test_div.py"}, Files: sealed("def test_zero():\n    assert div.div(6, 0) is None\n"),
			FailToPass: []string{"tests/test_div.py::test_zero"},
		},
	}
	forge := "import pytest, _pytest.runner\n\n" +
		"def forged(item, call, _make=_pytest.runner.TestReport.from_item_and_call):\n    r = _make(item, call)\n    r.outcome, r.longrepr = 'passed', None\n    return r\n\n" +
		"_pytest.runner.TestReport.from_item_and_call = forged\n\ndef div(a, b):\n    return 0\n"
	runReal(t, base, inst, []realCase{
		{"everything", files{"div.py": "def div(a, b):\n    return a // b if b else None\n"}, Resolved, true},
		{"task only", files{"div.py": "def div(a, b):\n    return a // b\n"}, Resolved, false},
		{"wrong", files{"div.py": "def div(a, b):\n    return b\n"}, Unresolved, false},
		{"cannot be imported", files{"div.py": "def div(a, b:\n"}, Unresolved, false},
		{"forges reports", files{"div.py": forge}, Tampered, false},
		{"conftest that passes everything", files{
			"conftest.py": "import pytest\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    o.get_result().outcome = 'passed'\n",
			"div.py":      "def div(a, b):\n    return 1\n",
		}, Unresolved, false},
		{"shadows pytest", files{"pytest.py": "print('ok')\n", "div.py": "def div(a, b):\n    return 1\n"}, Unresolved, false},
	})
}

func TestRealUnittest(t *testing.T) {
	t.Parallel()
	needs(t, "--version")
	const head = "import unittest\n\nimport div\n\n\nclass T(unittest.TestCase):\n"
	base := files{"div.py": "def div(a, b):\n    return 0\n", "tests/test_old.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_old(self):\n        pass\n"}
	sealed := func(body string) []pipeline.OverlayFile {
		return []pipeline.OverlayFile{{Path: "tests/test_div.py", Mode: "100644", Data: pipeline.Text(head + body)}}
	}
	inst := instance("o__u-1")
	inst.Recipe = replay.Recipe{Runner: "unittest", Fingerprint: "unit"}
	inst.Checks = []pipeline.Check{
		{
			Name: "task", Resolves: true, Files: sealed("    def test_div(self):\n        self.assertEqual(div.div(6, 3), 2)\n"),
			FailToPass: []string{"tests/test_div.py::T::test_div"}, PassToPass: []string{"tests/test_old.py::T::test_old"},
		},
		{
			Name: "anticipation", Target: []string{"tests/test_div.py"}, Files: sealed("    def test_zero(self):\n        self.assertIsNone(div.div(6, 0))\n"),
			FailToPass: []string{"tests/test_div.py::T::test_zero"},
		},
	}
	forge := "import unittest\n\nunittest.TestCase._callTestMethod = lambda self, method: None\n\n\ndef div(a, b):\n    return 0\n"
	runReal(t, base, inst, []realCase{
		{"everything", files{"div.py": "def div(a, b):\n    return a // b if b else None\n"}, Resolved, true},
		{"task only", files{"div.py": "def div(a, b):\n    return a // b\n"}, Resolved, false},
		{"wrong", files{"div.py": "def div(a, b):\n    return b\n"}, Unresolved, false},
		{"cannot be imported", files{"div.py": "def div(a, b:\n"}, Unresolved, false},
		{"leaves early", files{"div.py": "import os\n\n\ndef div(a, b):\n    os._exit(0)\n"}, Invalid, false},
		{"runs no test", files{"div.py": forge}, Tampered, false},
		{"shadows unittest", files{"unittest.py": "raise SystemExit(0)\n", "div.py": "def div(a, b):\n    return 1\n"}, Unresolved, false},
	})
}
