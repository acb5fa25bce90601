package gotest

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/narrow"
)

const goTests = `package d

import (
	"fmt"
	"os"
	"strings"
)

// TestOld needs nothing new.
func TestOld(t T) {
	if F() != 1 { // keep this   spacing
		fmt.Println("wrong")
	}
}

// TestNew needs G.
func TestNew(t T) {
	os.Exit(G())
}

const (
	one = iota
	two
)

var (
	// a says a.
	a = strings.Repeat("a", 2)
	b = H()
)

type box struct{ t T }

func (b *box) open() {}
`

// at is the place of the first occurrence of text, as the compiler writes it.
func at(t *testing.T, src, text string) string {
	t.Helper()
	i := strings.Index(src, text)
	if i < 0 {
		t.Fatalf("no %q", text)
	}
	line := 1 + strings.Count(src[:i], "\n")
	return fmt.Sprintf("%d:%d", line, i-strings.LastIndexByte(src[:i], '\n'))
}

// names lists what an edit dropped.
func dropped(e narrow.Edit) string {
	var list []string
	for _, d := range e.Dropped {
		list = append(list, d.Kind+" "+d.Name)
	}
	return strings.Join(list, "; ")
}

func TestGoDrops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, at, message, want, gone string }{
		{"a test, with its comment and import", "G()", "undefined: G", "import os; func TestNew", "os.Exit|TestNew needs|\"os\""},
		{"a variable of a group", "H()", "undefined: H", "var b", "b = H"},
		{"a variable, with its comment and import", "strings.Repeat", "undefined: x", "import strings; var a", "a says|\"strings\""},
		{"constants only together", "two", "x", "const one, two", "iota|two"},
		{"a type", "box struct", "undefined: T", "type box", "type box"},
		{"a method", "(b *box)", "undefined: box", "func box.open", "open()"},
		{"an import that nobody provides", `"os"`, "no required module provides package os; to add it:",
			"import os; func TestNew", "os.Exit"},
		{"an import that nobody uses", `"os"`, `"os" imported and not used`, "import os", `"os"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := "# m/d [m/d.test]\nd/d_test.go:" + at(t, goTests, c.at) + ": " + c.message + "\n"
			e := new(Tool).Narrow(map[string][]byte{"d/d_test.go": []byte(goTests)}, out)
			if e.Stuck != "" {
				t.Fatal(e.Stuck)
			}
			if got := dropped(e); got != c.want {
				t.Errorf("dropped %q, want %q", got, c.want)
			}
			left := string(e.Files["d/d_test.go"])
			for _, g := range strings.Split(c.gone, "|") {
				if strings.Contains(left, g) {
					t.Errorf("%q is still there:\n%s", g, left)
				}
			}
			if !strings.Contains(left, "if F() != 1 { // keep this   spacing") {
				t.Errorf("what stays was changed:\n%s", left)
			}
		})
	}
}

func TestGoOutputs(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"sub/d/d_test.go": []byte(goTests)}
	place := at(t, goTests, "G()")
	for name, out := range map[string]string{
		"1.19, from a module below the root": "# m/d [m/d.test]\nd/d_test.go:" + place + ": undefined: G\nFAIL\tm/d [build failed]\n",
		"one package":                        "./d_test.go:" + place + ": undefined: G\n",
		"other root":                         "/testbed/sub/d/d_test.go:" + place + ": undefined: G\n",
		"events": `{"ImportPath":"m/d [m/d.test]","Action":"build-output","Output":"d/d_test.go:` + place + `: undefined: G\n"}` +
			"\n" + `{"Action":"output","Package":"m/d","Output":"x_test.go:1:1: not the compiler's\n"}` + "\n",
		"further lines": "d/d_test.go:" + place + ": too many arguments\n\thave (number)\n\twant ()\nd/d_test.go:" + place +
			": too many errors\n",
		"CRLF": "d/d_test.go:" + place + ": undefined: G\r\n",
	} {
		if got := dropped(Tool{}.Narrow(files, out)); got != "import os; func TestNew" {
			t.Errorf("%s: dropped %q", name, got)
		}
	}
}

func TestGoStuck(t *testing.T) {
	t.Parallel()
	src := "package d\n\nfunc TestMain(m M) { setup() }\n\nfunc init() { F() }\n\nfunc TestA(t T) {}\n"
	for name, out := range map[string]string{
		"an error elsewhere":       "d/d.go:3:1: undefined: x\n",
		"the tests' entrance":      "d/d_test.go:3:23: undefined: setup\n",
		"an init function":         "d/d_test.go:5:15: undefined: F\n",
		"the package clause":       "d/d_test.go:1:9: expected package e\n",
		"a line that is not there": "d/d_test.go:99:1: x\n",
		"two packages elsewhere":   "found packages a (a.go) and b (b.go) in /testbed/x\n",
	} {
		files := map[string][]byte{"d/d_test.go": []byte(src)}
		e := new(Tool).Narrow(files, out)
		if e.Stuck == "" || len(e.Dropped) > 0 {
			t.Errorf("%s: dropped %q", name, dropped(e))
		}
	}
	if e := new(Tool).Narrow(map[string][]byte{"d/d_test.go": []byte(src)}, "d_test.go:7: logged by a test\n"); len(e.Dropped) > 0 {
		t.Errorf("a test's log dropped %q", dropped(e))
	}
}

func TestGoFiles(t *testing.T) {
	t.Parallel()
	const other = "package e\n\nfunc TestE(t T) {}\n"
	for _, c := range []struct{ name, src, out string }{
		{"another package", other, "found packages d (d.go) and e (x_test.go) in /testbed/d\n"},
		{"another package, named first", other, "found packages e (x_test.go) and d (z.go) in /testbed/d\n"},
		{"nothing left", "package d\n\nimport \"os\"\n\nfunc TestX(t T) { os.Exit(G()) }\n", "d/x_test.go:5:27: undefined: G\n"},
		{"no Go at all", "package d\n\nfunc {\n", "d/x_test.go:3:6: syntax error\n"},
	} {
		files := map[string][]byte{"d/x_test.go": []byte(c.src), "d/y_test.go": []byte("package d\n")}
		e := new(Tool).Narrow(files, c.out)
		if d := cmp.Diff([]string{"d/x_test.go"}, e.Removed); d != "" || e.Stuck != "" {
			t.Errorf("%s: %s %s", c.name, e.Stuck, d)
		}
		if _, there := e.Files["d/y_test.go"]; !there || len(files) != 2 {
			t.Errorf("%s: another file was touched", c.name)
		}
	}
}

func TestGoRedeclared(t *testing.T) {
	t.Parallel()
	// The compiler reports the second of the two, which here is the state's own.
	out := "./z_test.go:3:6: helper redeclared in this block\n\t./a_test.go:3:6: other declaration of helper\n"
	files := map[string][]byte{"a_test.go": []byte("package d\n\nfunc helper() {}\n\nfunc TestA(t T) { helper() }\n")}
	if got := dropped(Tool{}.Narrow(files, out)); got != "func helper" {
		t.Errorf("dropped %q", got)
	}
}

// typecheck is a build that needs no go command: it compiles the overlay with the state's own file.
func typecheck(state string) narrow.Build {
	return func(_ context.Context, o replay.Overlay) (string, bool, error) {
		set := token.NewFileSet()
		var parsed []*ast.File
		for _, f := range append(slices.Clone(o.Files), replay.File{Path: "d.go", Data: []byte(state)}) {
			file, err := parser.ParseFile(set, f.Path, f.Data, 0)
			if err != nil {
				return err.Error(), false, nil
			}
			parsed = append(parsed, file)
		}
		var out strings.Builder
		conf := types.Config{Error: func(err error) { fmt.Fprintln(&out, err) }}
		_, _ = conf.Check("d", set, parsed, nil)
		return out.String(), out.Len() == 0, nil
	}
}

const state = "package d\n\ntype T struct{}\n\nfunc F() int { return 1 }\n"

// goWorld draws a test file of functions that call each other, the state, and things that are not there.
func goWorld(t *rapid.T) (src string, functions map[string]string) {
	functions = map[string]string{}
	n := rapid.IntRange(1, 8).Draw(t, "functions")
	src = "package d\n"
	for i := range n {
		calls := ""
		for _, c := range rapid.SliceOfN(rapid.IntRange(-3, n-1), 0, 3).Draw(t, "calls") {
			switch {
			case c == -3:
				calls += "\tG( 1 )\n"
			case c == -2:
				calls += "\t_ =  F()\n"
			case c >= 0:
				calls += fmt.Sprintf("\thelper%d()\n", c)
			}
		}
		text := fmt.Sprintf("func helper%d() {\n%s\n}", i, calls)
		functions[fmt.Sprintf("helper%d", i)] = text
		src += "\n// helper helps.\n" + text + "\n"
	}
	return src, functions
}

func TestGoLoopProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src, functions := goWorld(t)
		start := replay.Overlay{Files: []replay.File{{Path: "d_test.go", Mode: 0o644, Data: []byte(src)}}}
		build := typecheck(state)
		output, ok, _ := build(context.Background(), start)
		if ok {
			return
		}
		n, err := narrow.Loop(context.Background(), start, narrow.Rounds{Narrow: Tool{}.Narrow, Output: output, Build: build, Most: 20})
		if err != nil || !n.Built && n.Stuck != "nothing is left" {
			t.Fatalf("stuck: %s %v\n%s", n.Stuck, err, src)
		}
		gone := map[string]bool{}
		for _, d := range n.Dropped {
			gone[d.Name] = true
		}
		left := ""
		if n.Built {
			left = string(n.Overlay.Files[0].Data)
		}
		for name, text := range functions {
			if has := strings.Contains(left, text); has == gone[name] && n.Built {
				t.Errorf("%s: dropped %v, there %v\n%s", name, gone[name], has, left)
			}
		}
		if string(start.Files[0].Data) != src {
			t.Error("the caller's overlay was changed")
		}
	})
}

func TestLoopEnds(t *testing.T) {
	t.Parallel()
	o := replay.Overlay{Files: []replay.File{{Path: "d_test.go", Data: []byte("package d\n\nfunc TestA(t T) {}\n\nfunc TestB(t T) {}\n")}}}
	broken := func(context.Context, replay.Overlay) (string, bool, error) { return "d_test.go:3:6: x\n", false, nil }
	for _, c := range []struct {
		name, output string
		tries        int
		want         string
	}{
		{"nothing left", "d_test.go:3:6: x\n", 9, "nothing is left"},
		{"no more tries", "d_test.go:3:6: x\n", 1, "it does not build after 1 rounds"},
		{"no error", "FAIL\n", 9, "the errors name nothing that could be dropped"},
		{"elsewhere", "d.go:3:6: x\n", 9, "d.go:3: x"},
	} {
		n, err := narrow.Loop(context.Background(), o, narrow.Rounds{Narrow: Tool{}.Narrow, Output: c.output, Build: broken, Most: c.tries})
		if err != nil || n.Built || n.Stuck != c.want {
			t.Errorf("%s: %+v %v", c.name, n, err)
		}
	}
	fails := func(context.Context, replay.Overlay) (string, bool, error) { return "", false, context.Canceled }
	if _, err := narrow.Loop(context.Background(), o, narrow.Rounds{Narrow: Tool{}.Narrow, Output: "d_test.go:3:6: x\n", Build: fails, Most: 2}); err == nil {
		t.Error("the machinery's error was lost")
	}
	n, err := narrow.Loop(context.Background(), o, narrow.Rounds{Build: fails, Most: 2})
	if err != nil || n.Built || !strings.Contains(n.Stuck, "no way is known") {
		t.Errorf("a tool that knows no way: %+v %v", n, err)
	}
}

func FuzzGo(f *testing.F) {
	f.Add([]byte(goTests), "d_test.go:19:10: undefined: G\n")
	f.Add([]byte("package d\nvar a, b = 1, 2; func TestX() {}"), "d_test.go:2:5: x\nd_test.go:2:20: y\n")
	f.Add([]byte("package d\nimport (\"C\"; . \"x\"; _ \"y\")\nvar _ = C.x"), "d_test.go:2:9: no such package")
	f.Add([]byte("\xef\xbb\xbfpackage d\r\ntype (\r\nA int\r\n)\r\n"), "d_test.go:3:1: x")
	f.Fuzz(func(t *testing.T, src []byte, output string) {
		e := new(Tool).Narrow(map[string][]byte{"d_test.go": src}, output)
		out, there := e.Files["d_test.go"]
		if !there || string(out) == string(src) {
			return
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", out, 0); err != nil {
			t.Errorf("what is left does not parse: %v\n%s", err, out)
		}
		if len(e.Dropped) == 0 || len(out) >= len(src) {
			t.Errorf("changed without dropping: %d -> %d bytes", len(src), len(out))
		}
		if again := new(Tool).Narrow(map[string][]byte{"d_test.go": out}, ""); string(again.Files["d_test.go"]) != string(out) {
			t.Error("without errors something was dropped")
		}
	})
}
