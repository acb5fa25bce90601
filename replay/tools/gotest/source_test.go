package gotest

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

// TestWords: which words a test file is behind that whoever runs the tests can set.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, want string }{
		{"x_test.go", "//go:build integration", "integration"},
		{"x_test.go", "// +build integration", "integration"},
		{"x_test.go", "//+build e2e", "e2e"},
		{"x_test.go", "// Licence.\n\n//go:build linux && integration && !race", "integration"},
		{"x_test.go", "//go:build seccomp || (functional && cgo)", "functional seccomp"},
		{"x_linux_test.go", "//go:build root", "root"},
		{"x_windows_test.go", "//go:build integration", ""},
		{"x_test.go", "//go:build windows && integration", ""},
		{"x_test.go", "//go:build linux", ""},
		{"x_test.go", "//go:build !integration", ""},
		{"x_test.go", "//go:build ignore", ""},
		{"x_test.go", "//go:build race || never", ""},
		{"x_test.go", "//go:build go1.99", ""},
		{"x_test.go", "//go:build a,b", ""},
		{"x_test.go", "// +build a,!b c", "a c"},
		{"x_test.go", "//go:build ((", ""},
	} {
		f := replay.File{Path: "p/" + c.name, Data: []byte(c.head + "\n\npackage p\n\n//go:build later\n")}
		if got := strings.Join(wordsOf(f), " "); got != c.want {
			t.Errorf("%s %q: words %q, want %q", c.name, c.head, got, c.want)
		}
	}
}

func scan(t testing.TB, tree tooltest.Tree) *project.Tree {
	t.Helper()
	s, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, tree tooltest.Tree) *source {
	t.Helper()
	s, err := readSource(scan(t, tree), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTaggedCommand runs the wrapper: the command gets the tags of the files that are there, and no others.
func TestTaggedCommand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a b_test.go":   "// x\n\n//go:build linux && integration\n// +build linux,integration\n\npackage p\n",
		"$(id)_test.go": "//go:build e2e || other\n\npackage p\n",
		"c_test.go":     "package p\n\n//go:build root\n",
		"d_test.go":     "//go:build !root && unknown\n\npackage p\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"a b_test.go"}, "-x -tags=integration"},
		{[]string{"$(id)_test.go", "a b_test.go", "gone_test.go"}, "-x -tags=e2e,integration"},
		{[]string{"c_test.go", "d_test.go"}, "-x"},
	} {
		r := replay.Recipe{Tags: []string{"e2e", "integration", "root"}}
		args := withTags(r, c.files, []string{"sh", "-c", `printf %s "$GOFLAGS|$1"`, "sh", "two words"})
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "{tree}", dir)
		}
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-x")
		out, err := cmd.CombinedOutput()
		if want := c.want + "|two words"; err != nil || string(out) != want {
			t.Errorf("%q: %q, %v; want %q", c.files, out, err, want)
		}
	}
}

func TestTaggedOnlyWhereNeeded(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{Tags: []string{"integration"}}
	for _, s := range (Tool{}).Steps(r, replay.Target{Paths: []string{"a/x.go"}}) {
		if s.Args[0] != "go" {
			t.Errorf("no test file is named, and yet %s is %q", s.Name, s.Args)
		}
	}
	tree := tooltest.Tree{"a_test.go": "//go:build e2e\n\npackage a\n", "vendor/x/b_test.go": "//go:build foreign\n\npackage b\n"}
	if got := slices.Sorted(maps.Keys(read(t, tree).tags)); !slices.Equal(got, []string{"e2e"}) {
		t.Errorf("tags %q", got)
	}
}

// TestCgo: C libraries become Debian's packages, as far as they are known.
func TestCgo(t *testing.T) {
	t.Parallel()
	file := func(lines ...string) string {
		return "package p\n\n// " + strings.Join(lines, "\n// ") + "\nimport \"C\"\n"
	}
	for _, c := range []struct {
		name, cgo string
		tree      tooltest.Tree
		packages  []string
	}{
		{"pkg-config", "", tooltest.Tree{"a.go": file("#cgo pkg-config: libseccomp sqlite3")}, []string{"libseccomp-dev", "libsqlite3-dev"}},
		{"options of pkg-config", "", tooltest.Tree{"a.go": file("#cgo linux pkg-config: --static libsystemd")}, []string{"libsystemd-dev"}},
		{"a library and a header", "", tooltest.Tree{"a.go": file("#cgo LDFLAGS: -L/x -lpam -lm", "#include <btrfs/ioctl.h>")}, []string{"libbtrfs-dev", "libpam0g-dev"}},
		{"vendored", "", tooltest.Tree{"a.go": "package p\n", "vendor/v/a.go": file("#cgo pkg-config: gpgme")}, []string{"libgpgme-dev"}},
		{"of another system", "", tooltest.Tree{"a_darwin.go": file("#cgo pkg-config: alsa"), "b.go": file("#cgo windows,amd64 pkg-config: sdl2")}, nil},
		{"behind a tag", "", tooltest.Tree{"a.go": "//go:build seccomp\n\n" + file("#cgo pkg-config: libseccomp")}, nil},
		{"an unknown library alone", "0", tooltest.Tree{"a.go": file("#cgo pkg-config: nobody-knows")}, nil},
		{"an unknown library besides C that works", "", tooltest.Tree{"a.go": file("#cgo pkg-config: nobody-knows"), "b.go": file("#include <stdio.h>")}, nil},
		{"an unknown library besides what all images have", "", tooltest.Tree{"a.go": file("#cgo pkg-config: python3"), "b.go": file("#cgo pkg-config: nobody-knows")}, nil},
		{"a name that is none of ours", "0", tooltest.Tree{"a.go": file("#cgo pkg-config: $(id);-x")}, nil},
	} {
		s := read(t, c.tree)
		r := replay.Recipe{Env: map[string]string{}}
		s.cgo.apply(&r)
		var got []string
		if len(r.Install) > 0 {
			got = r.Install[0].Args[4:]
		}
		if d := cmp.Diff(c.packages, got); d != "" || r.Env["CGO_ENABLED"] != c.cgo {
			t.Errorf("%s: CGO_ENABLED=%q, packages %s", c.name, r.Env["CGO_ENABLED"], d)
		}
		if (len(s.cgo.unknown) > 0) != (len(r.Notes) > 0) {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
	}
	var c cgoNeeds
	c.require([]string{"github.com/proglottis/gpgme", "github.com/proglottis/gpgmelike"})
	if got := slices.Sorted(maps.Keys(c.packages)); !slices.Equal(got, []string{"libgpgme-dev"}) {
		t.Errorf("a required module needs %q", got)
	}
}

// FuzzSource reads arbitrary Go files and lock files: nothing that is no import path or version is asked for.
func FuzzSource(f *testing.F) {
	f.Add("//go:build a\n\npackage p // import \"x.org/y\"\n\n// #cgo pkg-config: zlib\nimport \"C\"\n", "- name: a.org/b\n  version: v1.0.0\n")
	f.Add("package p_test\nimport \"a.org/p\"\n", `{"package": [{"path": "a.org/b", "revision": "x"}], "Deps": [{"ImportPath": "/"}]}`)
	f.Add("", "[[projects]]\nname = \"../x\"\n")
	f.Fuzz(func(t *testing.T, code, lock string) {
		tree := tooltest.Tree{"a.go": code, "a_test.go": code, "b/b.go": code}
		for _, l := range lockFiles {
			tree[l.name] = lock
		}
		scanned := scan(t, tree)
		r, err := oldRecipe(scanned, read(t, tree))
		if err != nil {
			return
		}
		for _, s := range r.Install {
			for _, a := range s.Args {
				if strings.ContainsRune(a, 0) {
					t.Errorf("step %s has the argument %q", s.Name, a)
				}
			}
			if strings.HasSuffix(s.Name, " pins") {
				for _, q := range s.Args[4:] {
					p, v, ok := strings.Cut(q, "@")
					if !ok || !isForeign(p, nil) || v == "" || strings.ContainsAny(v, " \n;@") {
						t.Errorf("asks for %q", q)
					}
				}
			}
		}
		if !isForeign(r.Module, nil) {
			t.Errorf("runs as %q", r.Module)
		}
	})
}
