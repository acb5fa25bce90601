package refactor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
)

// diff makes one hunk of all between the first and the last line that differ: equal lines inside count as refactored.
func diff(path, old, neu string) File {
	o, n := strings.Split(old, "\n"), strings.Split(neu, "\n")
	first := 0
	for first < min(len(o), len(n)) && o[first] == n[first] {
		first++
	}
	last := 0
	for last < min(len(o), len(n))-first && o[len(o)-1-last] == n[len(n)-1-last] {
		last++
	}
	h := gitrepo.Hunk{Old: gitrepo.Range{First: first + 1, Last: len(o) - last}, New: gitrepo.Range{First: first + 1, Last: len(n) - last}}
	return File{OldPath: path, Path: path, Old: []byte(old), New: []byte(neu), Hunks: []gitrepo.Hunk{h}}
}

// brief lists what was found as "new<old".
func brief(found map[Place]Place) string {
	var out []string
	for n, o := range found {
		out = append(out, fmt.Sprintf("%s:%d<%s:%d", n.File, n.Line, o.File, o.Line))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

const goLocal = `package a

func f(n int) int {
	x := n + 1
	return x
}
`

func TestRenames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, old, new, want string }{
		{"a local name", "a.go", goLocal, strings.ReplaceAll(goLocal, "x", "y"), "a.go:4<a.go:4 a.go:5<a.go:5"},
		{"a parameter", "a.go", goLocal, strings.NewReplacer("(n ", "(m ", "n + 1", "m + 1").Replace(goLocal), "a.go:3<a.go:3 a.go:4<a.go:4"},
		{"a name that is still used", "a.go", goLocal, strings.Replace(goLocal, "x := n", "y := n", 1), ""},
		{"a name that was there", "a.go", goLocal, strings.ReplaceAll(goLocal, "x", "n"), ""},
		{"another variable", "a.go", goLocal, strings.Replace(goLocal, "return x", "return n", 1), ""},
		{"another literal", "a.go", goLocal, strings.Replace(goLocal, "+ 1", "+ 2", 1), ""},
		{"another type", "a.go", "package a\n\nfunc f(a T) {}\n", "package a\n\nfunc f(a U) {}\n", ""},
		{"a result's type", "a.go", "package a\n\nfunc f() (T, error) {\n}\n", "package a\n\nfunc f() (U, error) {\n}\n", ""},
		{"a function", "a.go", strings.Replace(goLocal, "x\n}", "f(x)\n}", 1), strings.NewReplacer("f(", "g(", "func f", "func g").Replace(strings.Replace(goLocal, "x\n}", "f(x)\n}", 1)),
			"a.go:3<a.go:3 a.go:4<a.go:4 a.go:5<a.go:5"},
		{"another callee", "a.py", "def f(a):\n    g(a)\n", "def f(a):\n    h(a)\n", ""},
		{"another constant", "a.c", "int f(void) {\n\treturn -EINVAL;\n}\n", "int f(void) {\n\treturn -EPERM;\n}\n", ""},
		{"a comment", "a.c", "int x = 1; // a\n", "int x = 1; // b\n", "a.c:1<a.c:1"},
		{"a typed declaration", "a.c", "int f(void) {\n\tchar *p = g();\n\treturn *p;\n}\n", "int f(void) {\n\tchar *q = g();\n\treturn *q;\n}\n",
			"a.c:2<a.c:2 a.c:3<a.c:3"},
		{"a typed parameter", "A.java", "class A {\n  int f(int a) {\n    return a;\n  }\n}\n", "class A {\n  int f(int b) {\n    return b;\n  }\n}\n",
			"A.java:2<A.java:2 A.java:3<A.java:3"},
		{"an attribute", "a.py", "def f(self):\n    self.x = 1\n", "def f(self):\n    self.y = 1\n", ""},
		{"a keyword argument", "a.py", "def f(a):\n    g(x=a)\n", "def f(a):\n    g(y=a)\n", ""},
		{"a class", "a.py", "class A:\n    pass\n\nx = A()\n", "class B:\n    pass\n\nx = B()\n", "a.py:1<a.py:1 a.py:2<a.py:2 a.py:4<a.py:4"},
		{"several on the left", "a.go", "package a\n\nfunc f() {\n\tx, err := g()\n\th(x, err)\n}\n", "package a\n\nfunc f() {\n\ty, err := g()\n\th(y, err)\n}\n",
			"a.go:4<a.go:4 a.go:5<a.go:5"},
		{"two names become one", "a.py", "def f():\n    x = 1\n    y = 2\n    return x + y\n", "def f():\n    z = 1\n    z = 2\n    return z + z\n", ""},
		{"another depth", "a.py", "if a:\n    f()\ng()\n", "if a:\n    f()\n    g()\n", ""},
		{"another depth without meaning", "a.c", "f();\nif (a) {\n\tg();\n}\n", "f();\nif (a) {\n\t\tg();\n}\n", "a.c:3<a.c:3"},
		{"unknown language", "a.txt", "x\n", "y\n", ""},
	} {
		if diff := cmp.Diff(tt.want, brief(Find([]File{diff(tt.path, tt.old, tt.new)}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A function that is renamed in one file is renamed where it is called too, unless the old name is still used there.
func TestRenamesAcrossFiles(t *testing.T) {
	t.Parallel()
	caller := "from a import f\n\ndef g():\n    return f(1)\n"
	renamed := strings.NewReplacer("import f", "import k", "f(1)", "k(1)").Replace(caller)
	def := diff("a.py", "def f(x):\n    return x\n", "def k(x):\n    return x\n")
	got := brief(Find([]File{def, diff("b.py", caller, renamed)}))
	if want := "a.py:1<a.py:1 b.py:1<b.py:1 b.py:3<b.py:3 b.py:4<b.py:4"; got != want {
		t.Errorf("got %s", got)
	}
	got = brief(Find([]File{def, diff("b.py", caller, strings.Replace(caller, "f(1)", "k(1)", 1))}))
	if want := "a.py:1<a.py:1"; got != want {
		t.Errorf("with the old name left: %s", got)
	}
}

const block = `    total = 0
    for item in items:
        total += item.price * item.count
    return total
`

func TestMoves(t *testing.T) {
	t.Parallel()
	from := diff("a.py", "def f(items):\n"+block+"\nx = 1\n", "def f(items):\n    return g(items)\n\nx = 1\n")
	for _, tt := range []struct{ name, body, want string }{
		{"as it was", "def g(items):\n" + block, "b.py:2<a.py:2 b.py:3<a.py:3 b.py:4<a.py:4 b.py:5<a.py:5"},
		{"with a parameter renamed", "def g(rows):\n" + strings.ReplaceAll(block, "items", "rows"), "b.py:2<a.py:2 b.py:3<a.py:3 b.py:4<a.py:4 b.py:5<a.py:5"},
		{"with another attribute", "def g(items):\n" + strings.ReplaceAll(block, "price", "cost"), ""},
		{"with another operator", "def g(items):\n" + strings.ReplaceAll(block, "*", "+"), ""},
		{"too short", "def g(items):\n    total = 0\n    for item in items:\n        pass\n", ""},
	} {
		to := diff("b.py", "y = 2\n", tt.body+"\ny = 2\n")
		if diff := cmp.Diff(tt.want, brief(Find([]File{from, to}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Whatever two versions hold, each new line has one origin and none is shared, and both have the same form.
func TestFindIsOneToOne(t *testing.T) {
	t.Parallel()
	statement := rapid.SampledFrom([]string{"x = 1", "y = 1", "x = f(y)", "def f(x):", "    return x", "    return y", "# c", "", "    z = x"})
	body := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(statement, 1, 12).Draw(t, "lines"), "\n") + "\n"
	})
	rapid.Check(t, func(t *rapid.T) {
		f, g := diff("a.py", body.Draw(t, "a"), body.Draw(t, "a2")), diff("b.py", body.Draw(t, "b"), body.Draw(t, "b2"))
		text := map[string][]string{"old a.py": strings.Split(string(f.Old), "\n"), "new a.py": strings.Split(string(f.New), "\n"),
			"old b.py": strings.Split(string(g.Old), "\n"), "new b.py": strings.Split(string(g.New), "\n")}
		seen := map[Place]bool{}
		for n, o := range Find([]File{f, g}) {
			if seen[o] {
				t.Fatalf("%v has two heirs", o)
			}
			seen[o] = true
			a, b := text["old "+o.File][o.Line-1], text["new "+n.File][n.Line-1]
			if len(strings.Fields(a)) != len(strings.Fields(b)) {
				t.Fatalf("%q came from %q", b, a)
			}
		}
	})
}

func TestAlignIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x = 1 # a\n", 1000)
	if got := Find([]File{diff("a.py", long, strings.ReplaceAll(long, "# a", "# b"))}); len(got) > 1000 {
		t.Errorf("%d lines", len(got))
	}
}
