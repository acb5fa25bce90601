package pytest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/narrow"
)

const pyTests = `"""Tests of m."""
import os
from m import (
    old,
    new as brand_new,  # later
    other,
)
import m.sub, m.later

FIRST = old(1)
LIST = [brand_new(x) for x in (1, 2)]


@pytest.fixture(scope="module")
def fresh():
    return brand_new()


def helper():
    return fresh


def test_old():
    # a   comment
    assert old(1)  ==  1


def test_fixture(fresh):
    assert fresh


@pytest.mark.usefixtures("fresh")
def test_marked():
    pass


def test_helper():
    assert helper()


def test_attribute(x):
    assert x.brand_new and call(brand_new=1)


class TestC:
    def test_a(self):
        assert old(2)

    def test_b(self):
        assert brand_new(2)

    def make(self):
        return LIST

    def test_c(self):
        assert self.make()


class TestD:
    def setup_method(self):
        self.x = brand_new(1)

    def test_d(self):
        assert True
`

func collection(file, line, raised string) string {
	return "ImportError while importing test module '/src/" + file + "'.\nTraceback:\n" +
		"/python/lib/python3.11/importlib/__init__.py:126: in import_module\n    return x\n" +
		file + ":" + line + ": in <module>\n    from m import new\nE   " + raised + "\n"
}

func TestPythonDropsWhatNamesIt(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"tests/test_m.py": []byte(pyTests)}
	out := collection("tests/test_m.py", "3", "ImportError: cannot import name 'new' from 'm' (/src/m/__init__.py)")
	e := new(Tool).Narrow(files, out+out)
	want := "import new; statement LIST = [brand_new(x) for x in (1, 2)]; func fresh; func helper; func test_fixture; " +
		"func test_marked; func test_helper; method TestC.test_b; method TestC.make; method TestC.test_c; class TestD"
	if got := whatGoes(e); got != want || e.Stuck != "" {
		t.Errorf("dropped %q\nwant %q %s", got, want, e.Stuck)
	}
	left := string(e.Files["tests/test_m.py"])
	for _, keep := range []string{
		"from m import (\n    old,\n    other,\n)\n", "    # a   comment\n    assert old(1)  ==  1\n",
		"class TestC:\n    def test_a(self):\n        assert old(2)\n", "call(brand_new=1)",
	} {
		if !strings.Contains(left, keep) {
			t.Errorf("%q is gone:\n%s", keep, left)
		}
	}
	for _, gone := range []string{"new as", "helper", "TestD", "make"} {
		if strings.Contains(left, gone) {
			t.Errorf("%q is still there:\n%s", gone, left)
		}
	}
}

func TestPythonImports(t *testing.T) {
	t.Parallel()
	const tail = "\n\ndef test_x():\n    pass\n"
	for _, c := range []struct{ name, src, raised, want string }{
		{"the only name", "from m import new" + tail, "ImportError: cannot import name 'new' from 'm' (x)", "def test_x"},
		{"the last of several", "from m import a, new" + tail, "ImportError: cannot import name 'new' from 'm' (x)", "from m import a\n"},
		{"the first of several", "from m import new, a" + tail, "ImportError: cannot import name 'new' from 'm' (x)", "from m import a\n"},
		{"a module of several", "import a, m.new" + tail, "ModuleNotFoundError: No module named 'm.new'", "import a\n"},
		{"below a package that is missing", "import new.x" + tail, "ModuleNotFoundError: No module named 'new'", "def test_x"},
		{"a module to import from", "from new import a, b" + tail, "ModuleNotFoundError: No module named 'new'", "def test_x"},
		{"a statement", "X = m.NEW" + tail, "AttributeError: module 'm' has no attribute 'NEW'", "def test_x"},
		{"CRLF", "from m import a, new\r\n" + tail, "ImportError: cannot import name 'new' from 'm' (x)", "from m import a\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := new(Tool).Narrow(map[string][]byte{"test_m.py": []byte(c.src)}, collection("test_m.py", "1", c.raised))
			if left := string(e.Files["test_m.py"]); e.Stuck != "" || !strings.HasPrefix(strings.TrimSpace(left), strings.TrimSpace(c.want)) {
				t.Errorf("left %q, stuck %q", left, e.Stuck)
			}
		})
	}
}

func TestPythonParametrized(t *testing.T) {
	t.Parallel()
	src := "import m\n\n\nclass TestC:\n    @pytest.mark.parametrize('x', [m.NEW])\n    def test_x(self, x):\n        pass\n\n" +
		"    def test_y(self):\n        pass\n"
	out := "tests/test_m.py:4: in <module>\n    class TestC:\ntests/test_m.py:5: in TestC\n    @pytest\n" +
		"E   AttributeError: module 'm' has no attribute 'NEW'\n"
	e := new(Tool).Narrow(map[string][]byte{"tests/test_m.py": []byte(src)}, out)
	if got := whatGoes(e); got != "method TestC.test_x" {
		t.Errorf("dropped %q %s", got, e.Stuck)
	}
}

func TestPythonConftest(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"tests/conftest.py":    []byte("import pytest\nfrom m import new\n\n@pytest.fixture\ndef fresh():\n    return new()\n\n@pytest.fixture\ndef old():\n    return 1\n"),
		"tests/a/test_a.py":    []byte("def test_a(fresh):\n    pass\n\n\ndef test_b(old):\n    pass\n"),
		"elsewhere/test_el.py": []byte("def test_e(fresh):\n    pass\n"),
	}
	out := "ImportError while loading conftest '/src/tests/conftest.py'.\ntests/conftest.py:2: in <module>\n    from m import new\n" +
		"E   ImportError: cannot import name 'new' from 'm' (/src/m.py)\n"
	e := new(Tool).Narrow(files, out)
	if got, want := whatGoes(e), "func test_a; import from m import new; func fresh"; got != want {
		t.Errorf("dropped %q, want %q %s", got, want, e.Stuck)
	}
	if string(e.Files["elsewhere/test_el.py"]) != string(files["elsewhere/test_el.py"]) {
		t.Error("a test that does not see the conftest was dropped")
	}
}

func TestPythonStuck(t *testing.T) {
	t.Parallel()
	const imp = "from m import new\n\n"
	raised := "ImportError: cannot import name 'new' from 'm' (x)"
	for _, c := range []struct{ name, file, src, out string }{
		{"the state's own import fails", "test_m.py", imp + "def test_x():\n    new()\n",
			"test_m.py:1: in <module>\n    from m import new\nm.py:3: in <module>\nE   ImportError: cannot import name 'q' from 'z' (x)\n"},
		{"set-up of the module", "test_m.py", imp + "def setup_module():\n    new()\n\ndef test_x():\n    pass\n", ""},
		{"an automatic fixture", "test_m.py", imp + "@pytest.fixture(autouse=True)\ndef f():\n    new()\n\ndef test_x():\n    pass\n", ""},
		{"marks of the module", "test_m.py", imp + "pytestmark = new\n\ndef test_x():\n    pass\n", ""},
		{"a hook", "conftest.py", imp + "def pytest_configure(config):\n    new()\n", ""},
		{"everything is imported", "test_m.py", "from new import *\n\ndef test_x():\n    pass\n", ""},
		{"a conftest that cannot be parsed", "conftest.py", "def (:\n", ""},
	} {
		out := c.out
		if out == "" {
			out = collection(c.file, "1", raised)
		}
		if e := new(Tool).Narrow(map[string][]byte{c.file: []byte(c.src)}, out); e.Stuck == "" || len(e.Dropped) > 0 {
			t.Errorf("%s: dropped %q", c.name, whatGoes(e))
		}
	}
}

func TestPythonFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"nothing left": {"\"\"\"Doc.\"\"\"\nfrom m import new\n\ndef test_x():\n    new()\n",
			collection("test_m.py", "2", "ImportError: cannot import name 'new' from 'm' (x)")},
		"a later grammar": {"x = = 1\n", "E     File \"/src/test_m.py\", line 1\nE       x = = 1\nE           ^\nE   SyntaxError: invalid syntax\n"},
	} {
		e := new(Tool).Narrow(map[string][]byte{"test_m.py": []byte(c[0]), "b.py": nil}, c[1])
		if d := cmp.Diff([]string{"test_m.py"}, e.Removed); d != "" || e.Stuck != "" {
			t.Errorf("%s: %s%s", name, e.Stuck, d)
		}
	}
}

// collect is a build that needs no Python: it fails at the first import of a name that m does not have.
func collect(have map[string]bool) narrow.Build {
	return func(_ context.Context, o replay.Overlay) (string, bool, error) {
		for _, f := range o.Files {
			for i, line := range strings.Split(string(f.Data), "\n") {
				names, ok := strings.CutPrefix(line, "from m import ")
				for _, n := range strings.Split(names, ", ") {
					if ok && !have[n] {
						raised := fmt.Sprintf("ImportError: cannot import name '%s' from 'm' (/src/m.py)", n)
						return collection(f.Path, fmt.Sprint(i+1), raised), false, nil
					}
				}
			}
		}
		return "", true, nil
	}
}

func TestPythonLoopProperties(t *testing.T) {
	t.Parallel()
	have := map[string]bool{"a": true, "b": true}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 1, 5, rapid.ID).Draw(t, "imports")
		src := "from m import " + strings.Join(names, ", ") + "\n"
		bodies, calls := []string{}, map[string]string{}
		for i := range rapid.IntRange(1, 6).Draw(t, "functions") {
			callee := rapid.SampledFrom(append(names, "test_0", "test_3")).Draw(t, "callee")
			body := fmt.Sprintf("def test_%d():\n    assert  %s( 1 )\n", i, callee)
			bodies = append(bodies, body)
			calls[fmt.Sprintf("test_%d", i)] = callee
			src += "\n\n" + body
		}
		start := replay.Overlay{Files: []replay.File{{Path: "test_m.py", Mode: 0o644, Data: []byte(src)}}}
		build := collect(have)
		output, ok, _ := build(context.Background(), start)
		if ok {
			return
		}
		n, err := narrow.Loop(context.Background(), start, narrow.Rounds{Narrow: Tool{}.Narrow, Output: output, Build: build, Most: 20})
		if err != nil || !n.Built && n.Stuck != "nothing is left" {
			t.Fatalf("stuck: %s %v\n%s", n.Stuck, err, src)
		}
		left := ""
		if n.Built {
			left = string(n.Overlay.Files[0].Data)
		}
		for i, body := range bodies {
			want := reaches(calls, fmt.Sprintf("test_%d", i), have)
			if got := strings.Contains(left, body); got != want && (n.Built || want) {
				t.Errorf("test_%d: there %v, want %v\n%s\nleft:\n%s", i, got, want, src, left)
			}
		}
	})
}

// reaches says whether a function gets by on what is there. A name that nobody defines is not an import's matter.
func reaches(calls map[string]string, name string, have map[string]bool) bool {
	for range len(calls) + 1 {
		next, isFunction := calls[name]
		if !isFunction {
			return have[name] || strings.HasPrefix(name, "test_")
		}
		name = next
	}
	return true
}

func FuzzPython(f *testing.F) {
	f.Add([]byte(pyTests), collection("test_m.py", "3", "ImportError: cannot import name 'new' from 'm' (x)"))
	f.Add([]byte("import a; import b\nx = 1\n"), collection("test_m.py", "1", "ModuleNotFoundError: No module named 'a'"))
	f.Add([]byte("from a import b as c, d\nclass A:\n  x = c\n  def f(self): pass\n"), collection("test_m.py", "1", "ImportError: cannot import name 'b' from 'a'"))
	f.Add([]byte("try:\n  import a\nexcept E as e: pass\nwith f() as (a, b): pass\n"), collection("test_m.py", "2", "NameError: name 'a' is not defined"))
	f.Fuzz(func(t *testing.T, src []byte, output string) {
		e := new(Tool).Narrow(map[string][]byte{"test_m.py": src}, output)
		out, there := e.Files["test_m.py"]
		if !there || string(out) == string(src) {
			return
		}
		if root, err := sitter.ParseCtx(t.Context(), out, python.GetLanguage()); err != nil || root.HasError() {
			t.Errorf("what is left does not parse: %v\n%s", err, out)
		}
		if len(e.Dropped) == 0 || len(out) >= len(src) {
			t.Errorf("changed without dropping: %d -> %d bytes", len(src), len(out))
		}
	})
}

func whatGoes(e narrow.Edit) string {
	var names []string
	for _, d := range e.Dropped {
		names = append(names, d.Kind+" "+d.Name)
	}
	return strings.Join(names, "; ")
}
