//go:build linux

package pytest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

// compiledTree is a project with an extension in C, tests that look at what it answers, one that is retried by its mark, and a requirement
// that no index has among those for development.
func compiledTree(answer string) tooltest.Tree {
	return tooltest.Tree{
		"setup.py":   "from setuptools import Extension, setup\nsetup(name='p', version='1', packages=['p'], ext_modules=[Extension('p.ext', ['p/ext.c'])])\n",
		"pytest.ini": "[pytest]\naddopts = --strict-markers --reruns 2 --doctest-glob=*.rst\nfilterwarnings = error\n",
		"requirements-test.txt": "pytest==8.3.4\npytest-rerunfailures==15.0\n" +
			"sluice-has-no-such-distribution==1\n",
		"p/__init__.py": "",
		"p/ext.c": `#include <Python.h>
static PyObject *answer(PyObject *s, PyObject *a) { return PyLong_FromLong(` + answer + `); }
static PyMethodDef m[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef d = {PyModuleDef_HEAD_INIT, "ext", NULL, -1, m};
PyMODINIT_FUNC PyInit_ext(void) { return PyModule_Create(&d); }
`,
		"doc.rst":             ">>> from p import ext\n>>> ext.answer() > 0\nTrue\n",
		"tests/test_ext.py":   "from p import ext\ndef test_answer():\n    assert ext.answer() == 1\n",
		"tests/test_flaky.py": "import pytest\nruns = []\n@pytest.mark.flaky(reruns=3)\ndef test_flaky():\n    runs.append(1)\n    assert len(runs) > 1\n",
	}
}

// TestCompiled: two states in one environment, each with its own extension built; as of a date, too.
func TestCompiled(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from the index")
	}
	for _, program := range []string{"python3", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			skip(t, err)
		}
	}
	if err := exec.Command("python3", "-c", "import ensurepip, sysconfig, os; assert os.path.exists(sysconfig.get_paths()['include'] + '/Python.h')").Run(); err != nil {
		skip(t, "python3 has no headers, or cannot make virtual environments")
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if !box.Capabilities().Overlay {
		skip(t, "without overlays nobody can write to an environment")
	}
	ids := map[string]bool{}
	for answer, want := range map[string]string{"1": "pass", "2": "fail assertion"} {
		tree := compiledTree(answer)
		r := detect(t, tree)
		env, err := box.Prepare(t.Context(), r, tree)
		if err != nil {
			t.Fatal(err)
		}
		ids[env.ID] = true
		for _, says := range []string{"left out, as it does not install: sluice-has-no-such-distribution==1", "pytest==8.3.4\n"} {
			if !strings.Contains(env.Log, says) {
				t.Errorf("the log does not say %q:\n%s", says, env.Log)
			}
		}
		tooltest.Diff(t, run(t, box, r, env, tree), tooltest.View{Phases: "ok ok ok", Tests: `
			doc.rst::doc.rst pass
			tests/test_ext.py::test_answer ` + want + `
			tests/test_flaky.py::test_flaky fail assertion
			`})
	}
	if len(ids) != 1 {
		t.Errorf("states that differ in sources only have %d environments", len(ids))
	}
}

// TestAsOf: what the index had at a time is what is installed.
func TestAsOf(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from the index")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		skip(t, err)
	}
	tree := tooltest.Tree{"requirements.txt": "six\n", ".python-version": "3.11\n", "test_x.py": "import six\ndef test_x():\n    assert six.__version__ == '1.16.0'\n"}
	r, ok := tools.Dated(detect(t, tree), time.Date(2023, 5, 1, 0, 0, 0, 0, time.UTC))
	if !ok {
		t.Fatal("there is no recipe as of a day")
	}
	r, err := tools.Seal(t.Context(), tree, r)
	if err != nil {
		t.Fatal(err)
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	env, err := box.Prepare(t.Context(), r, tree)
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Diff(t, run(t, box, r, env, tree), tooltest.View{Phases: "ok ok ok", Tests: "test_x.py::test_x pass\n"})
}

func run(t *testing.T, box replay.Sandbox, r replay.Recipe, env replay.Env, tree replay.Tree) replay.Report {
	t.Helper()
	tool, err := tools.For(r.Runner)
	if err != nil {
		t.Fatal(err)
	}
	res, err := box.Run(t.Context(), replay.Job{Name: t.Name(), Tree: tree, Env: env, Steps: tool.Steps(r, replay.Target{})})
	if err != nil {
		t.Fatal(err)
	}
	return tool.Parse(r, replay.Target{}, res)
}

// skip says what this machine lacks; where all must be there, it is a failure.
func skip(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
