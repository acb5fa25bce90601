package gotest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay/tools/gotest"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

// oldTree is code of the time before modules that imports one package of its own and one of others.
func oldTree(more tooltest.Tree) tooltest.Tree {
	tree := tooltest.Tree{
		"main.go":       "package main\n\nimport (\n\t\"x.org/me/tool/lib\"\n\t\"github.com/dep/one/sub\"\n)\n",
		"lib/lib.go":    "package lib\n",
		"lib/l_test.go": "package lib\n\nimport \"testing\"\n",
	}
	maps.Copy(tree, more)
	return tree
}

// TestOldImportPath: where the path of code older than modules comes from.
func TestOldImportPath(t *testing.T) {
	t.Parallel()
	vendored := "vendor/github.com/dep/one/sub/x.go"
	for _, c := range []struct {
		name, want string
		tree       tooltest.Tree
	}{
		{"what it imports of itself", "x.org/me/tool", oldTree(tooltest.Tree{vendored: "package sub\n"})},
		{"a vendored folder of the same name is not its own", "x.org/me/tool", oldTree(tooltest.Tree{
			vendored: "package sub\n", "sub/sub.go": "package sub\n", "one/sub/x.go": "package sub\n"})},
		{"an import comment of the root", "y.org/z", oldTree(tooltest.Tree{
			vendored: "package sub\n", "doc.go": "package main // import \"y.org/z\"\n"})},
		{"an import comment below", "y.org/z", oldTree(tooltest.Tree{
			vendored: "package sub\n", "lib/lib.go": "package lib /* import \"y.org/z/lib\" */\n"})},
		{"the tests of its only package", "gopkg.in/own/one.v2", tooltest.Tree{
			"one.go": "package one\n", "one_test.go": "package one_test\n\nimport (\n\t\"strings\"\n\t. \"gopkg.in/own/one.v2\"\n)\n"}},
		{"a file of another tool", "a.org/b", tooltest.Tree{
			"x.go": "package b\n", "Godeps/Godeps.json": `{"ImportPath": "a.org/b", "Deps": 7}`}},
		{"glide", "a.org/c", tooltest.Tree{"x.go": "package b\n", "glide.yaml": "package: a.org/c\nimport:\n"}},
		{"travis", "a.org/d", tooltest.Tree{"x.go": "package b\n", ".travis.yml": "go:\n  - 1.6\ngo_import_path: 'a.org/d'\n"}},
		{"no path: the name of the package", "old.invalid/b", tooltest.Tree{"x.go": "package b\n", "glide.yaml": "package: ../../etc\n"}},
	} {
		if got := detect(t, c.tree).Module; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	scanned, err := project.Scan(t.Context(), oldTree(tooltest.Tree{vendored: "package sub\n"}))
	if err != nil {
		t.Fatal(err)
	}
	names, err := gotest.Tool{}.Names(scanned, nil)
	if err != nil || !slices.Equal(names, []string{"x.org/me/tool"}) {
		t.Errorf("registries have it as %q, %v", names, err)
	}
}

// TestOldVendored: vendored code runs in a GOPATH of which the tree is a package.
func TestOldVendored(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{
		"vendor/":                "{env}/gopath",
		"lib/vendor/":            "{env}/gopath",
		"vendor/src/":            "{env}/gopath:{tree}/vendor",
		"Godeps/_workspace/src/": "{env}/gopath:{tree}/Godeps/_workspace",
	} {
		r := detect(t, oldTree(tooltest.Tree{folder + "github.com/dep/one/sub/x.go": "package sub\n"}))
		if r.Env["GOPATH"] != want || r.Env["GO111MODULE"] != "off" || len(r.Inputs) > 0 {
			t.Errorf("%s: %v, inputs %v", folder, r.Env, r.Inputs)
		}
		if s := testStep(t, r, "lib/l_test.go"); !slices.Contains(s.Args, "{env}/gopath/src/x.org/me/tool") || s.Args[len(s.Args)-1] != "./lib" {
			t.Errorf("%s: tests run by %q", folder, s.Args)
		}
		if len(r.Build) != 1 || r.Base == nil || r.Base.Install[0].Env["GOTOOLCHAIN"] != "go1.21.13" {
			t.Errorf("%s: build %v, base %+v", folder, r.Build, r.Base)
		}
	}
}

// TestOldLocked: code whose packages lie elsewhere becomes a module of what its lock file says.
func TestOldLocked(t *testing.T) {
	t.Parallel()
	rev := strings.Repeat("ab", 20)
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"dep", "Gopkg.lock", "[[projects]]\n  name = \"github.com/dep/one\"\n  revision = \"" + rev + "\"\n  version = \"v1.2.3\"\n" +
			"[[projects]]\n  branch = \"master\"\n  name = \"golang.org/x/net\"\n  revision = \"" + rev + "\"\n",
			[]string{"github.com/dep/one@v1.2.3", "golang.org/x/net@" + rev}},
		{"glide", "glide.lock", "hash: 1\nimports:\n- name: github.com/dep/one\n  version: v1.2.3\n  subpackages:\n  - sub\n- name: gopkg.in/y.v2\n  version: " + rev + "\n",
			[]string{"github.com/dep/one@v1.2.3", "gopkg.in/y.v2@" + rev}},
		{"govendor, whose times make versions", "vendor/vendor.json",
			`{"package": [{"path": "github.com/dep/one/sub", "revision": "` + rev + `", "revisionTime": "2016-05-01T10:20:30+02:00"}]}`,
			[]string{"github.com/dep/one@v0.0.0-20160501082030-abababababab"}},
		{"godep", "Godeps/Godeps.json", `{"Deps": [{"ImportPath": "github.com/dep/one/sub", "Comment": "v1.0.0-3-gabc", "Rev": "` + rev + `"},
			{"ImportPath": "github.com/a/b/c", "Comment": "v1.0.1", "Rev": "` + rev + `"}]}`,
			[]string{"github.com/a/b@v1.0.1", "github.com/dep/one@" + rev}},
		{"trash", "vendor.conf", "# of us\ngithub.com/dep/one v1.0.0 https://elsewhere.org/fork\n\ngopkg.in/a/b.v1 " + rev + " # why\n",
			[]string{"github.com/dep/one@v1.0.0", "gopkg.in/a/b.v1@" + rev}},
		{"gvt", "vendor/manifest", `{"dependencies": [{"importpath": "github.com/dep/one", "revision": "` + rev + `"}]}`,
			[]string{"github.com/dep/one@" + rev}},
		{"what is no version is not asked for", "vendor.conf", "github.com/dep/one v1;rm\n-x.org/y v1.0.0\n../../z.org v1.0.0\ngithub.com/c/d v1.0.0\n",
			[]string{"github.com/c/d@v1.0.0"}},
	} {
		r := detect(t, oldTree(tooltest.Tree{c.file: c.text}))
		var got []string
		for _, s := range r.Install {
			if strings.HasSuffix(s.Name, " pins") {
				got = s.Args[4:]
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if r.Module != "x.org/me/tool" || len(r.Build) != 1 || !strings.HasPrefix(r.Install[0].Args[4], "module x.org/me/tool\n") {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	r := detect(t, oldTree(nil))
	if !strings.Contains(strings.Join(r.Notes, " "), "no file pins versions") {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestOldMany: versions and packages that are not asked for are in the notes.
func TestOldMany(t *testing.T) {
	t.Parallel()
	var pins, imports strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&pins, "github.com/dep/d%d v1.0.0\n", i)
		fmt.Fprintf(&imports, "import _ \"github.com/dep/d%d\"\n", i)
	}
	r := detect(t, oldTree(tooltest.Tree{"vendor.conf": pins.String(), "lib/lib.go": "package lib\n" + imports.String()}))
	for _, want := range []string{"of the 1001 versions that vendor.conf pins the first 1000 are asked for", "of the 1002 packages that are imported the first 1000 are asked for"} {
		if !slices.Contains(r.Notes, want) {
			t.Errorf("no %q in %q", want, r.Notes)
		}
	}
}
