package python

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func scan(t testing.TB, tree tooltest.Tree) *project.Tree {
	t.Helper()
	s, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVersionOfCommit(t *testing.T) {
	t.Parallel()
	const ci = ".github/workflows/ci.yml"
	for _, c := range []struct {
		name  string
		tree  tooltest.Tree
		want  string
		image string
		noted bool
	}{
		{"nothing is said", tooltest.Tree{"test_x.py": ""}, "3.13", "sluice/base:trixie", false},
		{"any later one", tooltest.Tree{"pyproject.toml": "[project]\nname='p'\nrequires-python='>=3.8'\n"}, "3.13", "sluice/base:trixie", false},
		{"an upper bound", tooltest.Tree{"pyproject.toml": "[project]\nname='p'\nrequires-python='>=3.8,<3.13'\n"}, "3.11", "sluice/python3.11:bookworm", false},
		{"tested up to one that no image has", tooltest.Tree{"pyproject.toml": "[project]\nname='p'\nclassifiers=['Programming Language :: Python :: 3.8',\n'Programming Language :: Python :: 3.12']\n"}, "3.11", "sluice/python3.11:bookworm", false},
		{"of the years of setup.py", tooltest.Tree{"setup.py": "setup(python_requires='>=2.7', classifiers=['Programming Language :: Python :: 2.7', 'Programming Language :: Python :: 3.6'])"}, "3.9", "sluice/python3.9:bullseye", true},
		{"a name that became a keyword", tooltest.Tree{"setup.py": "setup()", ".travis.yml": "python:\n  - 2.7\n  - 3.4\n", "p.py": "def f(a, async=False):\n    pass\n"}, "2.7", "sluice/python3.9:bullseye", false},
		{"a forgotten classifier", tooltest.Tree{"setup.py": "setup(classifiers=['Programming Language :: Python :: 2.7'])", "p/__init__.py": "import sys\n\nif sys.version_info < (3, 6, 0):\n    print('too old')\n    sys.exit(-1)\n"}, "3.9", "sluice/python3.9:bullseye", true},
		{"both are served", tooltest.Tree{"setup.py": "setup(classifiers=['Programming Language :: Python :: 2.7'])", "p/__init__.py": "import sys\n\nif sys.version_info < (3,):\n    text = unicode\n"}, "2.7", "sluice/python3.9:bullseye", false},
		{"the keyword itself", tooltest.Tree{"setup.py": "setup()", ".travis.yml": "python:\n  - 2.7\n  - 3.6\n", "p.py": "async def f(a):\n    await a\n"}, "3.9", "sluice/python3.9:bullseye", true},
		{"Python 2 only", tooltest.Tree{"setup.py": "setup(classifiers=['Programming Language :: Python :: 2.7'])"}, "2.7", "sluice/python3.9:bullseye", false},
		{"no Python 3", tooltest.Tree{"setup.cfg": "[options]\npython_requires = >=2.6,<3\n"}, "2.7", "sluice/python3.9:bullseye", false},
		{"poetry", tooltest.Tree{"pyproject.toml": "[tool.poetry]\nname='p'\n[tool.poetry.dependencies]\npython='>=3.7,<3.11'\n"}, "3.9", "sluice/python3.9:bullseye", false},
		{"poetry's caret", tooltest.Tree{"pyproject.toml": "[tool.poetry]\nname='p'\n[tool.poetry.dependencies]\npython='^3.7'\n"}, "3.13", "sluice/base:trixie", false},
		{"only between two images", tooltest.Tree{"pyproject.toml": "[project]\nname='p'\nrequires-python='==3.10.*'\n"}, "3.9", "sluice/python3.9:bullseye", true},
		{"later than all images", tooltest.Tree{"pyproject.toml": "[project]\nname='p'\nrequires-python='>=3.14'\n"}, "3.13", "sluice/base:trixie", true},
		{"the developers' own", tooltest.Tree{".python-version": "3.11.4\n", "test_x.py": ""}, "3.11", "sluice/python3.11:bookworm", false},
		{"tox", tooltest.Tree{"setup.py": "setup()", "tox.ini": "[tox]\nenvlist = py{27,35,39}-django, flake8\n"}, "3.9", "sluice/python3.9:bullseye", false},
		{"tox, digits", tooltest.Tree{"setup.py": "setup()", "tox.ini": "[tox]\nenv_list =\n  py3{10,11}\n  lint\n"}, "3.11", "sluice/python3.11:bookworm", false},
		{"a matrix", tooltest.Tree{"setup.py": "setup()", ci: "    matrix:\n      python-version: ['3.8', '3.11', 'pypy-3.9']\n      node: [3.99]\n"}, "3.11", "sluice/python3.11:bookworm", false},
		{"a matrix by lines", tooltest.Tree{"setup.py": "setup()", ci: "  python-version:\n    - '3.8'\n    - 3.9\n  os:\n    - '3.13'\n"}, "3.9", "sluice/python3.9:bullseye", false},
		{"travis", tooltest.Tree{"setup.py": "setup()", ".travis.yml": "python:\n  - 2.7\n  - 3.4\ninstall: pip install x==3.13\n"}, "3.9", "sluice/python3.9:bullseye", true},
		{"print is a statement", tooltest.Tree{"a.py": "try:\n  x\nexcept ValueError, e:\n  print 'x'\n", "test_x.py": ""}, "2.7", "sluice/python3.9:bullseye", false},
		{"print is one in a text", tooltest.Tree{"a.py": "'''\nprint 'x'\n'''\nasync def f(): pass\n", "test_x.py": ""}, "3.13", "sluice/base:trixie", false},
		{"names that went", tooltest.Tree{"a.py": "import collections\nisinstance(x, collections.Mapping)\n", "test_x.py": ""}, "3.9", "sluice/python3.9:bullseye", false},
		{"modules that went", tooltest.Tree{"a.py": "import imp\n", "test_x.py": ""}, "3.11", "sluice/python3.11:bookworm", false},
		{"modules that went, where versions are named", tooltest.Tree{"a.py": "import imp\n", "setup.py": "setup(classifiers=['Programming Language :: Python :: 3.13'])"}, "3.13", "sluice/base:trixie", false},
		{"no version at all", tooltest.Tree{"pyproject.toml": "[project]\nname='p'\nrequires-python='>= ${x}'\n"}, "3.13", "sluice/base:trixie", false},
	} {
		tree := scan(t, c.tree)
		p, err := readProject(tree, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := findVersion(tree, "", p)
		if err != nil || got.version.String() != c.want || got.image != c.image || (got.note != "") != c.noted {
			t.Errorf("%s: %s in %s, %q, %v; want %s", c.name, got.version, got.image, got.note, err, c.want)
		}
	}
}

func TestSpecifiers(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]version{
		"": {207, 309, 311, 313}, ">=3.10": {311, 313}, ">3.9": {311, 313}, ">=3.9.1,!=3.11.*": {309, 313}, "<=3.11": {207, 309, 311}, "~=3.9": {309, 311, 313},
		"~3.11": {311}, "3.11.*": {311}, "==3.11.4": {311}, "3.9 || 3.13": {309, 313}, ">=2.7, !=3.0.*, !=3.1.*": {207, 309, 311, 313}, "3": {309, 311, 313},
		"^3.11": {311, 313}, "<4.0": {207, 309, 311, 313}, "<3.13.2": {207, 309, 311, 313}, ">=3": {309, 311, 313}, "!=3.11.0": {207, 309, 311, 313}, "nonsense": {207, 309, 311, 313},
		"~=3.9.2": {309},
	} {
		var got []version
		for _, v := range []version{207, 309, 311, 313} {
			if allows(s, v) {
				got = append(got, v)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", s, d)
		}
	}
}

// TestChoiceLaws: whatever a project says, there is an interpreter, it is a newest one below what the project names where there is one,
// and it says so when it is not what was asked for.
func TestChoiceLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low, high := rapid.IntRange(5, 16).Draw(t, "low"), rapid.IntRange(5, 16).Draw(t, "high")
		require := ">=" + version(300+low).String() + ",<=" + version(300+high).String()
		var named []version
		for _, n := range rapid.SliceOfN(rapid.IntRange(4, 16), 0, 4).Draw(t, "named") {
			named = append(named, version(300+n))
		}
		c := choose(require, named)
		if c.version == 0 || c.image == "" {
			t.Fatalf("%s, %v: %+v", require, named, c)
		}
		if c.ignore == allows(require, c.version) || c.ignore && c.note == "" {
			t.Fatalf("%s: %s, ignored %v", require, c.version, c.ignore)
		}
		if c.ignore || len(named) == 0 {
			return
		}
		for _, i := range interpreters {
			if top := slices.Max(named); allows(require, i.version) && i.version <= top && i.version > c.version && i.version != python2 {
				t.Fatalf("%s of %v: %s, and there is %s", require, named, c.version, i.version)
			}
		}
	})
}

// TestHugeWords: what nobody writes is not read for each version that there may be, and a setup.py of megabytes is not parsed.
func TestHugeWords(t *testing.T) {
	t.Parallel()
	if c := choose(strings.Repeat("<3.10,", 1<<19), nil); c.version != interpreters[0].version || c.note != "" {
		t.Errorf("a specifier of megabytes: %+v", c)
	}
	p := &info{}
	if err := setupPy(scan(t, tooltest.Tree{"setup.py": strings.Repeat("'''", 1<<18)}), "", p); err != nil || !p.dynamic {
		t.Errorf("a setup.py of 800 kB: %v, %+v", err, p)
	}
}

func FuzzVersion(f *testing.F) {
	f.Add(">=3.8,<4", "3.11.2\n", "python-version: [3.8, '3.9']\n", "[tox]\nenvlist = py{27,3}-x, py39\n")
	f.Add("^3.7 || ~2.7", "pypy", "python:\n - 2.7\n", "[tox]\nenv_list=py3{8,9}")
	f.Fuzz(func(t *testing.T, require, pin, ci, tox string) {
		tree := scan(t, tooltest.Tree{".python-version": pin, ".travis.yml": ci, "tox.ini": tox, "test_x.py": ""})
		c, err := findVersion(tree, "", &info{python: require})
		if err != nil || !slices.ContainsFunc(interpreters, func(i interpreter) bool { return i.version == c.version }) {
			t.Errorf("%+v, %v", c, err)
		}
	})
}
