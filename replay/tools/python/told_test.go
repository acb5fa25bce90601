package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

// TestModuleTable: each line of the table of modules can be read, names what a list of requirements may name, and says a thing once.
func TestModuleTable(t *testing.T) {
	t.Parallel()
	lines := 0
	for l := range strings.Lines(moduleTable) {
		if strings.HasPrefix(l, "#") {
			continue
		}
		lines++
		w := strings.Fields(l)
		if len(w) != 3 || w[0] != "module" && w[0] != "fixture" || reqName(w[2]) == "" {
			t.Errorf("cannot be read: %q", l)
		}
	}
	if lines != len(distributions) {
		t.Errorf("%d lines say %d things", lines, len(distributions))
	}
}

// TestTold: what an output says is missing, and is known, is installed after the project's own requirements.
func TestTold(t *testing.T) {
	t.Parallel()
	const text = "from setuptools import setup\nsetup(name='p', install_requires=['six'])\n"
	setup := tooltest.Tree{"setup.py": text}
	for _, c := range []struct {
		name       string
		tree       tooltest.Tree
		failure    project.Failure
		want       string // installed besides
		ok, source bool
	}{
		{"a module", setup, project.Failure{Output: "E   ModuleNotFoundError: No module named 'mock'"}, "mock", true, false},
		{"Python 2's words", setup, project.Failure{Output: "ImportError: No module named yaml.reader\n"}, "PyYAML", true, false},
		{"a fixture, and what is there already", setup, project.Failure{Output: "fixture 'mocker' not found\nNo module named 'six.moves'"}, "pytest-mock", true, false},
		{"where nothing was installed", tooltest.Tree{"test_a.py": ""}, project.Failure{Output: "No module named numpy"}, "numpy", true, false},
		{"the tree's own module", tooltest.Tree{"setup.py": text, "mock.py": ""}, project.Failure{Output: "No module named mock"}, "", false, false},
		{"a module of nobody's", setup, project.Failure{Output: "No module named 'reqeusts'"}, "", false, false},
		{"what does not build", setup, project.Failure{Output: "error: no", Build: true}, "", true, true},
		{"what does not tell its requirements", tooltest.Tree{"setup.py": "from setuptools import setup\nsetup(**x)\n"},
			project.Failure{Output: "ERROR: No .egg-info directory found", Step: stepComputed}, "", true, true},
		{"what does not build for want of a module", setup, project.Failure{Output: "No module named numpy", Build: true}, "numpy", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := scan(t, c.tree)
			r, err := Recipe(tree, "", Extra{Runner: "unittest"})
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := Project{}.Told(tree, r, c.failure)
			if err != nil || ok != c.ok || more(r) != nil {
				t.Fatalf("%t, %v", ok, err)
			}
			if d := cmp.Diff(c.want, strings.Join(more(got), " ")); d != "" {
				t.Error(d)
			}
			if c.source != (len(r.Build) > 0 && len(got.Build) == 0 && got.Env["PYTHONPATH"] != "") {
				t.Errorf("run from the tree: %+v", got)
			}
			if c.want == "" || !ok {
				return
			}
			if _, again, err := (Project{}).Told(tree, got, c.failure); again && !c.failure.Build || err != nil {
				t.Errorf("what is there is added again, %v", err)
			}
		})
	}
}

// TestToldSettings: tests of Django's that pytest runs without settings get the plug-in, and the settings of the only manage.py.
func TestToldSettings(t *testing.T) {
	t.Parallel()
	const said = "E   django.core.exceptions.ImproperlyConfigured: Requested setting REST_FRAMEWORK, but settings are not configured. You must either define"
	manager := func(name string) string {
		return `os.environ.setdefault("DJANGO_SETTINGS_MODULE", "` + name + `")` + "\n"
	}
	for _, c := range []struct {
		name, want string
		tree       tooltest.Tree
	}{
		{"one manage.py", "site.settings", tooltest.Tree{"setup.py": "setup()", "server/manage.py": manager("site.settings")}},
		{"named already", "", tooltest.Tree{"setup.py": "setup()", "server/manage.py": manager("site.settings"), "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = other\n"}},
		{"two of them", "", tooltest.Tree{"setup.py": "setup()", "a/manage.py": manager("a.settings"), "b/manage.py": manager("b.settings")}},
		{"none", "", tooltest.Tree{"setup.py": "setup()"}},
	} {
		tree := scan(t, c.tree)
		r, err := Recipe(tree, "", Extra{Runner: "pytest", Tool: "pytest"})
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := Project{}.Told(tree, r, project.Failure{Output: said})
		if err != nil || !ok || strings.Join(more(got), " ") != pytestDjango || got.Env[settingsVariable] != c.want || (c.want != "") != strings.HasSuffix(got.Env["PYTHONPATH"], "{tree}/server") || r.Env[settingsVariable] != "" {
			t.Errorf("%s: %q, %v, %v", c.name, got.Env[settingsVariable], more(got), err)
		}
	}
}

// more are the requirements that a recipe has of what it was told.
func more(r replay.Recipe) []string {
	for _, s := range r.Install {
		if s.Name == stepTold {
			for i, a := range s.Args {
				if a == "--" {
					return s.Args[i+1:]
				}
			}
		}
	}
	return nil
}
