package pytest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func TestPythonRequirements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		want []string
	}{
		{"PEP 621 with an extra", tooltest.Tree{"pyproject.toml": `
			[project]
			name = "My.Pkg"
			dependencies = ["six>=1.0", "x ; python_version < '3.8'"]
			[project.optional-dependencies]
			Test = ["my_pkg[more]", "pytest>7"]
			more = ["more"]
			docs = ["sphinx"]`},
			[]string{"six>=1.0", "x ; python_version < '3.8'", "pytest>7", "more"}},
		{"groups with includes and a cycle", tooltest.Tree{"pyproject.toml": `
			[project]
			name = "p"
			[dependency-groups]
			test = ["a", {include-group = "Base_Group"}]
			base-group = ["b", {include-group = "test"}]`},
			[]string{"a", "b", "pytest"}},
		{"development only if there are no tests", tooltest.Tree{"pyproject.toml": `
			[project]
			name = "p"
			[dependency-groups]
			dev = ["a", "mypy", "pytest-mock"]`},
			[]string{"a", "pytest-mock", "pytest"}},
		{"poetry", tooltest.Tree{"pyproject.toml": `
			[tool.poetry]
			name = "p"
			[tool.poetry.dependencies]
			python = "^3.8"
			six = "^1.2.3"
			opt = {version = "~2.1", optional = true}
			ex = {version = ">=1,<3", extras = ["y"], markers = "os_name == 'posix'"}
			git = {git = "https://example.org/x"}
			[tool.poetry.extras]
			test = ["opt"]
			[tool.poetry.group.test.dependencies]
			pytest = "*"`},
			[]string{"ex[y]>=1,<3 ; os_name == 'posix'", "git", "six>=1.2.3,<2", "pytest", "opt>=2.1,<2.2"}},
		{"flit", tooltest.Tree{"pyproject.toml": `
			[tool.flit.metadata]
			module = "p"
			requires = ["six"]
			[tool.flit.metadata.requires-extra]
			test = ["pytest"]`},
			[]string{"six", "pytest"}},
		{"hatch", tooltest.Tree{"pyproject.toml": `
			[project]
			name = "p"
			optional-dependencies.x = ["extra"]
			[tool.hatch.envs.test]
			dependencies = ["pytest"]
			features = ["x"]`},
			[]string{"pytest", "extra"}},
		{"setup.cfg", tooltest.Tree{"setup.cfg": `
[metadata]
name = p
[options]
install_requires =
    six  # a comment
    more; python_version>"3"
tests_require = mock
[options.extras_require]
testing =
    pytest
`}, []string{"six", "more; python_version>\"3\"", "mock", "pytest"}},
		{"setup.py", tooltest.Tree{"setup.py": `
BASE = ["six"]
setuptools.setup(name="p", install_requires=BASE + ["a>=1", "b"],
    extras_require={"tests": ("pytest", "c"), "docs": ["sphinx"]})
`}, []string{"six", "a>=1", "b", "pytest", "c"}},
		{"setuptools reads files", tooltest.Tree{"pyproject.toml": `
			[project]
			name = "p"
			dynamic = ["dependencies"]
			[tool.setuptools.dynamic]
			dependencies = {file = ["req.in"]}`, "req.in": "six\n"},
			[]string{"six", "pytest"}},
		{"files of requirements", tooltest.Tree{"setup.py": "setup()", "requirements.txt": "six\n", "requirements/test.txt": "-r base.txt\nmock\n",
			"requirements/base.txt": "base \\\n  >=1 # why\n", "requirements-dev.txt": "black\n", "docs/requirements.txt": "sphinx\n"},
			[]string{"six", "base >=1", "mock", "pytest"}},
		{"tox", tooltest.Tree{"setup.py": "setup()", "tox.ini": "[testenv]\ndeps =\n  mock\n  py27: old\n  -rreq.txt\n  {env:X}\n", "req.txt": "r\n"},
			[]string{"mock", "r", "pytest"}},
		{"only tests", tooltest.Tree{"tests/test_x.py": ""}, []string{"pytest"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := detect(t, c.tree)
			if d := cmp.Diff(c.want, tooltest.Args(t, r, "requirements")); d != "" {
				t.Errorf("%s\nnotes %q", d, r.Notes)
			}
			if len(r.Inputs) > 0 {
				t.Errorf("inputs %q: the environment would belong to one state", r.Inputs)
			}
		})
	}
}

func TestHostileRequirements(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"good==1", "--index-url https://example.org/simple", "-i x", "--extra-index-url=x", "-e git+https://example.org/x#egg=x", "-e ../x",
		"x @ https://example.org/x.whl", "git+ssh://example.org/x", "file:///etc/passwd", "./local", "../up", "/abs", "x.whl/../y",
		"-r ../../etc/passwd", "-r requirements.txt", "-r loop.txt", "-c constraints.txt", "--", "--pre", "-", "a b", "x; $(id)", "x;`id`",
		"\x00", "x\\", strings.Repeat("y", 400), "fine[a,b] >=1,<2 ; extra == 'x' --hash=sha256:00",
	}, "\n")
	r := detect(t, tooltest.Tree{"requirements.txt": text, "loop.txt": "-r requirements.txt\nlooped\n", "test_x.py": ""})
	want := []string{"good==1", "looped", "fine[a,b] >=1,<2 ; extra == 'x'", "pytest"}
	if d := cmp.Diff(want, tooltest.Args(t, r, "requirements")); d != "" {
		t.Error(d)
	}
	for _, n := range []string{"--index-url", "git+ssh", "../../etc/passwd", "constraints.txt"} {
		if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, n) }) {
			t.Errorf("no note about %s in %q", n, r.Notes)
		}
	}
	huge := detect(t, tooltest.Tree{"requirements.txt": strings.Repeat("x\n", project.MaxFile), "test_x.py": ""})
	if d := cmp.Diff([]string{"pytest"}, tooltest.Args(t, huge, "requirements")); d != "" {
		t.Error(d)
	}
	link := detect(t, tooltest.Tree{"requirements.txt": "-> /etc/passwd", "test_x.py": ""})
	if d := cmp.Diff([]string{"pytest"}, tooltest.Args(t, link, "requirements")); d != "" {
		t.Error(d)
	}
}

// TestReadsRequirements: what setup.py computes from a file of requirements is known of that file, before it is computed.
func TestReadsRequirements(t *testing.T) {
	t.Parallel()
	for setup, want := range map[string]string{
		"setup(install_requires=open('requirements.txt').read().split())": "PyYAML==5.4 pytest",
		"setup(install_requires=open('other').read().split())":            "pytest",
	} {
		r := detect(t, tooltest.Tree{"setup.py": setup + "\n", "requirements.txt": "PyYAML==5.4\n", "conftest.py": ""})
		if got := strings.Join(tooltest.Args(t, r, "requirements"), " "); got != want || len(tooltest.Args(t, r, "computed requirements")) == 0 {
			t.Errorf("%s: %q", setup, got)
		}
	}
}

func TestPythonDynamic(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]string{
		"computed":    "setup(install_requires=open('r').read().split())",
		"interpolate": "setup(install_requires=[f'x{v}'])",
		"unpacked":    "setup(**settings)",
		"changed":     "R = ['a']\nR += ['b']\nsetup(install_requires=R)",
		"two values":  "R = ['a']\nif x:\n    R = ['b']\nsetup(install_requires=R)",
	} {
		r := detect(t, tooltest.Tree{"setup.py": setup + "\n", "setup.cfg": "[options.extras_require]\ntest = pytest\n"})
		if d := cmp.Diff([]string{"*"}, r.Inputs); d != "" {
			t.Errorf("%s: %s", name, d)
			continue
		}
		if d := cmp.Diff([]string{"{env}", "[test]"}, tooltest.Args(t, r, "computed requirements")[:2]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A few lines can ask for more work than there is time.
func TestBoundedWork(t *testing.T) {
	t.Parallel()
	var setup, groups strings.Builder
	setup.WriteString("x0 = x0 + x0\n")
	groups.WriteString("[project]\nname = 'p'\n[dependency-groups]\n")
	for i := range 60 {
		fmt.Fprintf(&setup, "x%d = [*x%d, *x%d]\n", i+1, i, i)
		fmt.Fprintf(&groups, "g%d = [{include-group='g%d'}, {include-group='g%d'}]\n", i, i+1, i+1)
	}
	setup.WriteString("setup(install_requires=x60)\n")
	groups.WriteString("test = [{include-group='g0'}, 'a']\n")
	if r := detect(t, tooltest.Tree{"setup.py": setup.String()}); len(r.Inputs) != 1 {
		t.Errorf("inputs %q: what cannot be read is computed", r.Inputs)
	}
	r := detect(t, tooltest.Tree{"pyproject.toml": groups.String()})
	if d := cmp.Diff([]string{"a", "pytest"}, tooltest.Args(t, r, "requirements")); d != "" {
		t.Error(d)
	}
}

// TestBoundedLists: what names the same again and again is not read again and again; without bounds each of these takes hours, or all memory.
func TestBoundedLists(t *testing.T) {
	t.Parallel()
	tox := ""
	for i, section := range []string{"testenv", "a", "b", "c", "d"} {
		key, next := "x", string(rune('a'+i))
		if i == 0 {
			key = "deps"
		}
		tox += "[" + section + "]\n" + key + " =\n" + strings.Repeat("    {["+next+"]x}\n", 3000)
	}
	var groups strings.Builder
	groups.WriteString("[project]\nname = 'p'\n[dependency-groups]\ntest = ['first', {include-group='g0'}]\n")
	for i := range 30000 {
		fmt.Fprintf(&groups, "g%d = ['x%d', {include-group='g%d'}]\n", i, i, i+1)
	}
	for name, c := range map[string]struct {
		tree tooltest.Tree
		want string
	}{
		"sections of tox":      {tooltest.Tree{"tox.ini": tox, "test_x.py": ""}, "pytest"},
		"files that tox names": {tooltest.Tree{"tox.ini": "[testenv]\ndeps =\n" + strings.Repeat("    -rr.txt\n", 100000), "r.txt": "a\n" + strings.Repeat("# words\n", 100000), "test_x.py": ""}, "a"},
		"files of constraints": {tooltest.Tree{"requirements.txt": "a\n" + strings.Repeat("-c c.txt\n", 100000), "c.txt": strings.Repeat("# words\n", 100000), "test_x.py": ""}, "a"},
		"groups":               {tooltest.Tree{"pyproject.toml": groups.String(), "test_x.py": ""}, "pytest"},
	} {
		r := detect(t, c.tree)
		if got := tooltest.Args(t, r, "requirements"); !slices.Contains(got, c.want) || len(got) > 501 {
			t.Errorf("%s: %d requirements, no %s", name, len(got), c.want)
		}
	}
}

func TestPythonBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		want []string // nil: nothing builds the project
	}{
		{"nothing to build", tooltest.Tree{"test_x.py": ""}, nil},
		{"a table for tools only", tooltest.Tree{"pyproject.toml": "[tool.black]\n"}, nil},
		{"setup.py", tooltest.Tree{"setup.py": "setup(setup_requires=['cffi'])"}, []string{"cffi", "setuptools", "wheel", "setuptools<81"}},
		{"hatchling", tooltest.Tree{"pyproject.toml": "[build-system]\nrequires=['hatchling']\nbuild-backend='hatchling.build'\n"},
			[]string{"hatchling", "editables", "setuptools<81"}},
		{"a newer setuptools", tooltest.Tree{"pyproject.toml": "[build-system]\nrequires=['setuptools>=82']\nbuild-backend='setuptools.build_meta'\n"},
			[]string{"setuptools>=82", "setuptools", "wheel"}},
		{"hostile", tooltest.Tree{"pyproject.toml": "[build-system]\nrequires=['x @ file:///x', '--pre']\nbuild-backend='x'\nbackend-path=['../..']\n"},
			[]string{"setuptools<81"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := detect(t, c.tree)
			if c.want == nil {
				if len(r.Build) > 0 || r.Env["PYTHONPATH"] != "{tree}/src:{tree}" {
					t.Errorf("build %v, env %v", r.Build, r.Env)
				}
				return
			}
			if d := cmp.Diff(c.want, tooltest.Args(t, r, "build requirements")); d != "" {
				t.Error(d)
			}
			if len(r.Build) != 1 || !r.Build[0].MustPass || r.Build[0].Env["SETUPTOOLS_SCM_PRETEND_VERSION"] == "" {
				t.Errorf("build %+v", r.Build)
			}
		})
	}
}

func TestPythonRoot(t *testing.T) {
	t.Parallel()
	mono := tooltest.Tree{"libs/a/pyproject.toml": "[project]\nname='a'\n", "libs/a/t/test_a.py": "", "libs/b/setup.py": "setup()"}
	if r := detect(t, mono, "libs/a/t/test_a.py"); r.Root != "libs/a" || r.Build[0].Dir != "libs/a" {
		t.Errorf("root %q", r.Root)
	}
	mono["pyproject.toml"] = "[project]\nname='whole'\n"
	if r := detect(t, mono, "libs/a/t/test_a.py"); r.Root != "" {
		t.Errorf("a project at the root was passed over for %q", r.Root)
	}
	if got := refused(t, tooltest.Tree{"main.py": ""}); !strings.Contains(got, "no Python project") {
		t.Errorf("reason %q", got)
	}
	if got := refused(t, tooltest.Tree{"pyproject.toml": "[[[\n"}); !strings.Contains(got, "cannot be read") {
		t.Errorf("reason %q", got)
	}
}

// TestOddFiles: where no file is named as pytest wants, those that hold tests are named for it; not if the project names them.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	const unit = "import unittest\n\n\nclass A(unittest.TestCase):\n    pass\n"
	for name, c := range map[string]struct {
		tree tooltest.Tree
		want string
	}{
		"odd names":     {tooltest.Tree{"setup.py": "setup()", "unittests/_entropy.py": unit, "unittests/alltests.py": "def test_a(): pass\n", "conftest.py": "", "p.py": unit}, "-o 'python_files=_entropy.py alltests.py'"},
		"no test":       {tooltest.Tree{"setup.py": "setup()", "conftest.py": "", "test/helper.py": "x = 1\n"}, ""},
		"a usual name":  {tooltest.Tree{"setup.py": "setup()", "conftest.py": "", "tests/test_a.py": "", "tests/odd.py": unit}, ""},
		"its own names": {tooltest.Tree{"setup.py": "setup()", "pytest.ini": "[pytest]\npython_files = odd*.py\n", "tests/odd.py": unit}, ""},
		"a bad name":    {tooltest.Tree{"setup.py": "setup()", "conftest.py": "", "tests/o -p dd.py": unit}, ""},
	} {
		if got := detect(t, c.tree).Env["PYTEST_ADDOPTS"]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAddopts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text, want, plugin string }{
		{"reports go, selection stays", "pytest.ini", "[pytest]\naddopts = -ra -q --cov pkg --cov-report=xml -n auto --strict-markers\n" +
			"  -m 'not slow' --import-mode importlib -x --maxfail 2 --durations=5 tests\n",
			"--strict-markers -m 'not slow' --import-mode importlib", ""},
		{"pyproject", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = ['--doctest-modules', '-vv', '--ignore', 'tests']\nasyncio_mode='auto'\n",
			"--doctest-modules --ignore tests", "pytest-asyncio"},
		{"setup.cfg", "setup.cfg", "[tool:pytest]\naddopts = --ds=app.settings --reuse-db\nrequired_plugins = pytest-xyz>=1 pytest-b\n",
			"--ds=app.settings --reuse-db", "pytest-xyz>=1"},
		{"retries", "pytest.ini", "[pytest]\naddopts = --strict-markers --reruns 3 --max-runs 2 --no-success-flaky-report -k x\nrequired_plugins = pytest-rerunfailures\n",
			"-k x -p no:rerunfailures -o strict_markers=false -W ignore::pytest.PytestUnknownMarkWarning -W ignore::pytest.PytestConfigWarning", "pytest-rerunfailures"},
		{"tox.ini", "tox.ini", "[pytest]\ntimeout = 5\naddopts = --unknown value -k \"it's\"\n", `--unknown value -k 'it'"'"'s'`, "pytest-timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := detect(t, tooltest.Tree{c.file: c.text, "tests/test_x.py": ""})
			if got := r.Env["PYTEST_ADDOPTS"]; got != c.want {
				t.Errorf("options %q, want %q", got, c.want)
			}
			if c.plugin != "" && !slices.Contains(tooltest.Args(t, r, "requirements"), c.plugin) {
				t.Errorf("no %s in %q", c.plugin, tooltest.Args(t, r, "requirements"))
			}
		})
	}
}

func detect(t testing.TB, tree tooltest.Tree, paths ...string) replay.Recipe {
	t.Helper()
	r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refused returns the reason why there is no recipe.
func refused(t *testing.T, tree tooltest.Tree, paths ...string) string {
	t.Helper()
	_, err := tools.Detect(t.Context(), tree, tools.Options{Paths: paths})
	var no tools.ErrNoRecipe
	if !errors.As(err, &no) {
		t.Fatalf("the error is %v", err)
	}
	return no.Reason
}
