package gotest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/gotest"
	"sluice/replay/tools/tooltest"
)

const goMod = "module example.com/m\n\ngo 1.21\n\nrequire example.org/dep v1.2.3\n"

func goTree() tooltest.Tree {
	return tooltest.Tree{
		"go.mod": goMod, "go.sum": "x", "README.md": "hello",
		"a/a.go":               "package a\n\nimport (\n\t\"fmt\"\n\t\"example.com/m/b\"\n\tx \"example.org/dep/sub\"\n)\n",
		"a/a_test.go":          "package a\n\nimport \"example.org/testkit\"\n",
		"a/testdata/src/in.go": "package in\n\nimport \"example.org/notneeded\"\n",
		"b/b.go":               "package b\n\nimport \"bad path.org/x\"\nimport \"-flag.org/x\"\n",
	}
}

func TestGoRecipe(t *testing.T) {
	t.Parallel()
	r := detect(t, goTree())
	if r.Runner != "gotest" || r.Module != "example.com/m" || r.Root != "" || r.Image != tools.DefaultImage {
		t.Errorf("recipe %+v", r)
	}
	if d := cmp.Diff([]string{"go.mod", "go.sum"}, r.Inputs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"std", "example.org/dep/sub", "example.org/testkit"}, tooltest.Args(t, r, "compile dependencies")); d != "" {
		t.Error(d)
	}
	if r.Env["GOFLAGS"] != "-buildvcs=false -mod=mod" || r.Env["GOWORK"] != "off" {
		t.Errorf("env %v", r.Env)
	}
	if _, ok := r.Env["GOPROXY"]; ok {
		t.Error("the recipe's variables hold for Install too: it could not download")
	}
}

func TestGoEnvironmentIsShared(t *testing.T) {
	t.Parallel()
	base := detect(t, goTree()).Fingerprint
	for name, c := range map[string]struct {
		file, text string
		same       bool
	}{
		"other code":             {"b/b.go", "package b\n\nvar X = 1\n", true},
		"another test":           {"b/b_test.go", "package b\n\nimport \"testing\"\n", true},
		"another version":        {"go.mod", strings.Replace(goMod, "v1.2.3", "v1.2.4", 1), false},
		"another sum":            {"go.sum", "y", false},
		"a module of its own":    {"tools/go.mod", "module example.com/m/tools\n", true},
		"code that is no Go yet": {"b/broken.go", "pack", true},
	} {
		tree := goTree()
		tree[c.file] = c.text
		if got := detect(t, tree).Fingerprint; (got == base) != c.same {
			t.Errorf("%s: same environment %v, want %v", name, got == base, c.same)
		}
	}
	if again := detect(t, goTree()).Fingerprint; again != base || len(base) != 64 {
		t.Errorf("fingerprints %s and %s", base, again)
	}
}

func TestGoRoot(t *testing.T) {
	t.Parallel()
	many := tooltest.Tree{"a/go.mod": "module m/a\n", "b/c/go.mod": "module m/b\n", "a/x.go": "package a\n", "b/c/x.go": "package c\n"}
	for _, c := range []struct {
		name  string
		paths []string
		root  string
	}{
		{"the touched module", []string{"b/c/d/x_test.go"}, "b/c"},
		{"most of the files", []string{"b/c/x.go", "a/x.go", "b/c/y.go"}, "b/c"},
		{"a tie goes to the shorter name", []string{"b/c/x.go", "a/x.go"}, "a"},
	} {
		if got := detect(t, many, c.paths...).Root; got != c.root {
			t.Errorf("%s: root %q, want %q", c.name, got, c.root)
		}
	}
	many["b/c/x_test.go"] = "package c\n"
	if got := detect(t, many).Root; got != "b/c" {
		t.Errorf("of two modules the one with tests is wanted, not %q", got)
	}
	many["b/c/testdata/m/go.mod"] = "module fixture\n"
	if got := detect(t, many, "b/c/testdata/m/go.mod", "b/c/testdata/m/x.go").Root; got != "b/c" {
		t.Errorf("a module that is a test's fixture leads to %q", got)
	}
	if got := detect(t, tooltest.Tree{"x/go.mod": "module x\n", "vendor/y/go.mod": "module y\n"}).Root; got != "x" {
		t.Errorf("the only module is %q", got)
	}
}

func TestGoRefused(t *testing.T) {
	t.Parallel()
	for want, tree := range map[string]tooltest.Tree{
		"nothing says under which": {"a/x.go": "package a\n\nimport \"other.org/x\"\n"},
		"no Go module":             {"README": ""},
		"names no module":          {"go.mod": "go 1.2\n"},
		"cannot be read":           {"go.mod": "module a\nrequire (((\n"},
	} {
		if got := refused(t, tree); !strings.Contains(got, want) {
			t.Errorf("reason %q, want %q", got, want)
		}
	}
}

func TestGoModes(t *testing.T) {
	t.Parallel()
	vendored := goTree()
	vendored["vendor/modules.txt"] = "# example.org/dep v1.2.3\n## explicit; go 1.20\nexample.org/dep/sub\n"
	r := detect(t, vendored)
	if r.Env["GOFLAGS"] != "-buildvcs=false -mod=vendor" || r.Install[0].Name != "compile dependencies" {
		t.Errorf("vendored: %v %v", r.Env, r.Install)
	}
	vendored["vendor/modules.txt"] = "# example.org/dep v1.2.2\n## explicit; go 1.20\nexample.org/dep/sub\n"
	if r := detect(t, vendored); r.Env["GOFLAGS"] != "-buildvcs=false -mod=mod" || !strings.Contains(r.Notes[0], "does not agree with go.mod") {
		t.Errorf("a vendor folder that the go command refuses: %v %v", r.Env, r.Notes)
	}
	vendored["go.mod"] = strings.Replace(goMod, "go 1.21", "go 1.13", 1)
	if r := detect(t, vendored); r.Env["GOFLAGS"] != "-buildvcs=false -mod=vendor" {
		t.Errorf("before 1.14 nothing is compared: %v", r.Env)
	}
	local := goTree()
	local["go.mod"] += "replace example.org/dep => ./third/dep\n"
	local["third/dep/go.mod"] = "module example.org/dep\n"
	r = detect(t, local)
	if !slices.Contains(r.Inputs, "third/dep/go.mod") || slices.Contains(tooltest.Args(t, r, "compile dependencies"), "example.org/dep/sub") {
		t.Errorf("replaced by a folder: %v %v", r.Inputs, r.Install)
	}
}

func TestGoWorkspace(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"go.work": "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module m.org/a\n", "b/go.mod": "module m.org/b\n",
		"c/go.mod": "module m.org/c\n", "a/x.go": "package a\n\nimport \"m.org/b/x\"\n", "c/x.go": "package c\n",
	}
	used := detect(t, tree, "a/x.go")
	want := []string{"a/go.mod", "a/go.sum", "b/go.mod", "b/go.sum", "go.work", "go.work.sum"}
	if d := cmp.Diff(want, used.Inputs); d != "" {
		t.Error(d)
	}
	if _, off := used.Env["GOWORK"]; off || used.Env["GOFLAGS"] != "-buildvcs=false" {
		t.Errorf("env %v", used.Env)
	}
	if d := cmp.Diff([]string{"std"}, tooltest.Args(t, used, "compile dependencies")); d != "" {
		t.Errorf("a workspace's own package is taken for a foreign one: %s", d)
	}
	if other := detect(t, tree, "c/x.go"); other.Env["GOWORK"] != "off" {
		t.Errorf("a module outside of the workspace has %v", other.Env)
	}
}

// TestGoWideWorkspace: when files of several modules are touched, or nothing is named, all modules of the workspace are run.
func TestGoWideWorkspace(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"go.work": "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module m.org/a\n", "b/go.mod": "module m.org/b\n",
		"a/x.go": "package a\n", "b/x_test.go": "package b\n",
	}
	for _, paths := range [][]string{nil, {"a/x.go", "b/x_test.go"}} {
		r := detect(t, tree, paths...)
		if r.Root != "" || r.Env["GOWORK"] != "{tree}/go.work" || !slices.Contains(r.Inputs, "b/go.mod") {
			t.Errorf("%q: %+v", paths, r)
		}
		if !(gotest.Tool{}).Owns(r, "m.org/b::TestX") {
			t.Error("a test of the workspace is nobody's")
		}
		args := testStep(t, r, "b/x_test.go").Args
		if args[0] != "go" || args[len(args)-1] != "./b" {
			t.Errorf("a named file runs %q", args)
		}
		if args := testStep(t, r).Args; !strings.Contains(args[2], "go list -m") || slices.Contains(args, "./...") {
			t.Errorf("everything runs %q", args)
		}
	}
	if r := detect(t, tree, "a/x.go"); r.Root != "a" || r.Module != "m.org/a" {
		t.Errorf("one touched module: %+v", r)
	}
}

// TestGoReplacedOutside: a module that lies beside the repository is taken from the proxy, if a version says which.
func TestGoReplacedOutside(t *testing.T) {
	t.Parallel()
	r := detect(t, tooltest.Tree{"go.mod": "module a\nrequire b.org/b v1.2.0\nreplace b.org/b => ../b\n"})
	want := []string{"go", "mod", "edit", "-dropreplace=b.org/b"}
	if len(r.Build) != 1 || !slices.Equal(r.Build[0].Args, want) || !slices.Equal(r.Install[0].Args, want) {
		t.Errorf("build %v, install %v", r.Build, r.Install)
	}
	got := refused(t, tooltest.Tree{"go.mod": "module a\nrequire b.org/b v0.0.0\nreplace b.org/b => ../b\n"})
	if !strings.Contains(got, "outside of the repository") {
		t.Errorf("reason %q", got)
	}
}

// testStep is the step that runs the tests of some files.
func testStep(t testing.TB, r replay.Recipe, paths ...string) replay.Step {
	t.Helper()
	for _, s := range (gotest.Tool{}).Steps(r, replay.Target{Paths: paths}) {
		if s.Name == tools.StepTest {
			return s
		}
	}
	t.Fatal("no step runs tests")
	return replay.Step{}
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

// TestGoWorkOfTooMany: a workspace of more modules than anybody has is not used.
func TestGoWorkOfTooMany(t *testing.T) {
	t.Parallel()
	r := detect(t, tooltest.Tree{
		"go.mod": "module m.org/a\n", "a_test.go": "package a\n", "go.work": "go 1.22\nuse (\n\t.\n" + strings.Repeat("\t./x\n", 1000) + ")\n",
	})
	if r.Env["GOWORK"] != "off" || len(r.Inputs) > 10 {
		t.Errorf("%d inputs, GOWORK %q", len(r.Inputs), r.Env["GOWORK"])
	}
}
