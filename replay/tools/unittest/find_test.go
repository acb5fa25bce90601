package unittest_test

import (
	"maps"
	"testing"

	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

const unit = "import unittest\n\n\nclass TestA(unittest.TestCase):\n    def test_x(self):\n        pass\n"

// TestChoice: unittest where nothing speaks of pytest, which stays the tool of all other projects.
func TestChoice(t *testing.T) {
	t.Parallel()
	base := tooltest.Tree{"setup.py": "from setuptools import setup\nsetup(name='p', install_requires=['six'])\n", "p.py": "", "tests/test_a.py": unit}
	for name, c := range map[string]struct {
		files tooltest.Tree
		want  string
	}{
		"plain":                     {nil, "unittest"},
		"the checks run it":         {tooltest.Tree{".github/workflows/ci.yml": "run: python -m unittest\n", "tests/test_a.py": "from base import Base\n\nclass A(Base):\n    pass\n"}, "unittest"},
		"a helper named like tests": {tooltest.Tree{"tests/testing.py": "def helper():\n    pass\n"}, "unittest"},
		"a conftest":                {tooltest.Tree{"tests/conftest.py": ""}, "pytest"},
		"pytest is required":        {tooltest.Tree{"requirements-dev.txt": "pytest-cov\n"}, "pytest"},
		"an extra names it":         {tooltest.Tree{"setup.py": "setup(extras_require={'t': ['pytest>3']})\n"}, "pytest"},
		"the checks run pytest":     {tooltest.Tree{".travis.yml": "script: py.test\n"}, "pytest"},
		"tox runs pytest":           {tooltest.Tree{"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"}, "pytest"},
		"a function is a test":      {tooltest.Tree{"tests/test_b.py": "def test_b():\n    pass\n"}, "pytest"},
		"Django's tests":            {tooltest.Tree{"tests/test_b.py": "from django.test import TestCase\n"}, "pytest"},
		"Django's tests and its manage.py": {tooltest.Tree{"tests/test_b.py": "from django.test import TestCase\n",
			"manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'p.settings')\n"}, "unittest"},
		"no word of unittest":        {tooltest.Tree{"tests/test_a.py": "from base import Base\n\nclass A(Base):\n    pass\n"}, "pytest"},
		"no tests":                   {tooltest.Tree{"tests/test_a.py": "-> x"}, "pytest"},
		"another part of the tree's": {tooltest.Tree{"docs/conf.txt": "pytest\n"}, "unittest"},
	} {
		tree := maps.Clone(base)
		maps.Copy(tree, c.files)
		r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: []string{"tests/test_a.py"}})
		if err != nil || r.Runner != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, r.Runner, c.want, err)
		}
	}
}

func TestRecipe(t *testing.T) {
	t.Parallel()
	r, err := tools.Detect(t.Context(), tooltest.Tree{"setup.py": "setup(name='p', install_requires=['six'], tests_require=['mock'])\n", "tests/test_a.py": unit}, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tooltest.Args(t, r, "requirements"); len(got) != 2 || got[0] != "six" || got[1] != "mock" {
		t.Errorf("requirements %q", got)
	}
	if len(r.Build) != 1 || r.Env["VIRTUAL_ENV"] == "" || len(r.Inputs) > 0 {
		t.Errorf("recipe %+v", r)
	}
	none, err := tools.Detect(t.Context(), tooltest.Tree{"test_a.py": unit}, tools.Options{})
	if err != nil || none.Env["PYTHONPATH"] != "{tree}/src:{tree}" || len(none.Install) != 1 {
		t.Errorf("without metadata: %+v, %v", none, err)
	}
}

// TestDjango: a site without other metadata is a project, and its recipe names its settings, which are no more than a name.
func TestDjango(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"os.environ.setdefault(\"DJANGO_SETTINGS_MODULE\", \"site_a.settings\")": "site_a.settings",
		"os.environ['DJANGO_SETTINGS_MODULE'] = 'settings.test'":                 "settings.test",
		"os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'a; import os')":        "",
		"os.environ.setdefault('DJANGO_SETTINGS_MODULE', '%s.settings' % name)":  "",
	} {
		tree := tooltest.Tree{"manage.py": line + "\n", "requirements/base.txt": "Django<2\n", "shop/tests.py": "from django.test import TestCase\nclass A(TestCase):\n    pass\n"}
		r, err := tools.Detect(t.Context(), tree, tools.Options{})
		if err != nil || r.Env["DJANGO_SETTINGS_MODULE"] != want || (r.Runner == "unittest") != (want != "") {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
		if got := tooltest.Args(t, r, "requirements"); len(got) == 0 || got[0] != "Django<2" {
			t.Errorf("requirements %q", got)
		}
	}
}
