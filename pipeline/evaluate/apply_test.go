package evaluate

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/replay"
)

// diff makes a real patch: git's own, between two states.
func diff(t testing.TB, before, after files, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) []byte {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return out
	}
	git("init", "-q")
	lay := func(state files) {
		for _, f := range state.tree() {
			if err := writeFile(dir, f); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A", ".")
		git("commit", "-q", "--allow-empty", "-m", "x")
	}
	lay(before)
	git("rm", "-rq", "--ignore-unmatch", ".")
	lay(after)
	return git(append([]string{"diff", "--binary", "--full-index", "HEAD~1", "HEAD"}, args...)...)
}

// state is what a tree and an overlay make together.
func state(before files, o replay.Overlay) files {
	out := files{}
	for _, f := range before.tree() {
		out[f.Path] = spell(f)
	}
	for _, p := range o.Remove {
		delete(out, p)
	}
	for _, f := range o.Files {
		out[f.Path] = spell(f)
	}
	return out
}

func spell(f replay.File) string {
	switch {
	case f.Mode&fs.ModeSymlink != 0:
		return "link: " + string(f.Data)
	case f.Mode&0o100 != 0:
		return "executable: " + string(f.Data)
	}
	return string(f.Data)
}

func TestApplyKinds(t *testing.T) {
	t.Parallel()
	base := files{
		"a.txt": "one\ntwo\nthree\n", "crlf.txt": "one\r\ntwo\r\n", "open.txt": "no newline", "bin": "\x00\x01", "run*": "#!/bin/sh\n",
		"link@": "a.txt", "old/name.txt": strings.Repeat("same\n", 20), "gone.txt": "x\n", "wild[1].txt": "w\n", "sp ace é.txt": "s\n",
	}
	after := func(change func(files)) files {
		f := files{}
		for k, v := range base {
			f[k] = v
		}
		change(f)
		return f
	}
	tests := []struct {
		name string
		to   files
		args []string
	}{
		{"edit", after(func(f files) { f["a.txt"] = "one\n2\nthree\n" }), nil},
		{"new file in a new folder", after(func(f files) { f["x/y/z.txt"] = "new\n" }), nil},
		{"new empty file", after(func(f files) { f["empty"] = "" }), nil},
		{"delete", after(func(f files) { delete(f, "gone.txt") }), nil},
		{"carriage returns", after(func(f files) { f["crlf.txt"] = "one\r\n2\r\n" }), nil},
		{"carriage return dropped", after(func(f files) { f["crlf.txt"] = "one\ntwo\r\n" }), nil},
		{"no final newline kept", after(func(f files) { f["open.txt"] = "still no newline" }), nil},
		{"final newline added", after(func(f files) { f["open.txt"] = "no newline\n" }), nil},
		{"final newline taken", after(func(f files) { f["a.txt"] = "one\ntwo\nthree" }), nil},
		{"binary", after(func(f files) { f["bin"] = "\x00\x02\xff" }), nil},
		{"new binary", after(func(f files) { f["bin2"] = "\x00\xfe\xff" }), nil},
		{"made executable", after(func(f files) { delete(f, "a.txt"); f["a.txt*"] = "one\ntwo\nthree\n" }), nil},
		{"no longer executable", after(func(f files) { delete(f, "run*"); f["run"] = "#!/bin/sh\n" }), nil},
		{"rename", after(func(f files) { f["new/name.txt"] = f["old/name.txt"]; delete(f, "old/name.txt") }), []string{"-M"}},
		{"rename with an edit", after(func(f files) { f["new.txt"] = f["old/name.txt"] + "more\n"; delete(f, "old/name.txt") }), []string{"-M"}},
		{"copy", after(func(f files) { f["copy.txt"] = f["old/name.txt"] }), []string{"-C", "--find-copies-harder"}},
		{"link turned", after(func(f files) { f["link@"] = "crlf.txt" }), nil},
		{"file becomes a link", after(func(f files) { delete(f, "gone.txt"); f["gone.txt@"] = "a.txt" }), nil},
		{"odd names", after(func(f files) { f["wild[1].txt"] = "W\n"; f["sp ace é.txt"] = "S\n" }), nil},
		{"latin-1", after(func(f files) { f["a.txt"] = "caf\xe9\n" }), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			patch := diff(t, base, tt.to, tt.args...)
			a, err := apply(t.Context(), base, pipeline.Instance{}, patch)
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, patch, a.said)
			}
			if diff := cmp.Diff(state(tt.to, replay.Overlay{}), state(base, a.overlay)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if len(a.removed) != 0 || a.applier != applierName || !strings.Contains(a.said, "Applied patch") {
				t.Errorf("removed %v, applier %q said %q", a.removed, a.applier, a.said)
			}
		})
	}
}

// TestApplyLoosely: what models get wrong and git forgives.
func TestApplyLoosely(t *testing.T) {
	t.Parallel()
	base := files{"a.txt": strings.Repeat("line\n", 9) + "one\ntwo\nthree\n"}
	tests := map[string]string{
		"moved lines":         "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n one\n-two\n+2\n three\n",
		"no git header":       "--- a/a.txt\n+++ b/a.txt\n@@ -10,3 +10,3 @@\n one\n-two\n+2\n three\n",
		"words before":        "Here is my patch.\n\ndiff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -10,3 +10,3 @@\n one\n-two\n+2\n three\n",
		"last newline cut":    "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -10,3 +10,3 @@\n one\n-two\n+2\n three",
		"one file, two diffs": "--- a/a.txt\n+++ b/a.txt\n@@ -10,3 +10,3 @@\n one\n-two\n+zwei\n three\n--- a/a.txt\n+++ b/a.txt\n@@ -10,3 +10,3 @@\n one\n-zwei\n+2\n three\n",
	}
	for name, patch := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := apply(t.Context(), base, pipeline.Instance{}, []byte(patch))
			if err != nil {
				t.Fatalf("%v\n%s", err, a.said)
			}
			want := files{"a.txt": strings.Repeat("line\n", 9) + "one\n2\nthree\n"}
			if diff := cmp.Diff(want, state(base, a.overlay)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	base := files{"a.txt": "one\n", "dir/b.txt": "b\n", "way@": "dir", "src.txt": "v1\n"}
	newFile := func(name string) string { return "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n" }
	link := func(name, to string) string {
		return "diff --git a/" + name + " b/" + name + "\nnew file mode 120000\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+" + to + "\n\\ No newline at end of file\n"
	}
	tests := map[string]struct{ patch, why string }{
		"wrong context":          {"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+2\n", "a.txt"},
		"absent file":            {"--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-two\n+2\n", "No such file"},
		"new file that exists":   {"diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n", "already exists"},
		"one hunk of two":        {"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/dir/b.txt\n+++ b/dir/b.txt\n@@ -1 +1 @@\n-x\n+2\n", "dir/b.txt"},
		"wrong counts":           {"--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,9 @@\n-one\n+1\n", "malformed"},
		"above the tree":         {newFile("../x"), "outside of the tree"},
		"above through a folder": {newFile("dir/../../x"), "outside of the tree"},
		"absolute":               {"--- /dev/null\n+++ b//etc/x\n@@ -0,0 +1 @@\n+x\n", "invalid path"},
		"mixed headers":          {string(patchTo("v2")) + newFile("way/x"), "no folder"},
		"git's own":              {newFile(".git/hooks/pre-commit"), "git's own"},
		"git's own, nested":      {newFile("dir/.GIT/config"), "git's own"},
		"submodule":              {"diff --git a/s b/s\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit 1111111111111111111111111111111111111111\n", "submodule"},
		"link out of the tree":   {link("l", "../../etc"), "outside of the tree"},
		"absolute link":          {link("l", "/etc"), "outside of the tree"},
		"through its own link":   {link("l", "dir") + "diff --git a/l/x b/l/x\nnew file mode 100644\n" + newFile("l/x"), "through the symbolic link"},
		"through the base's":     {newFile("way/x"), "no folder"},
		"below a file":           {newFile("a.txt/x"), "no folder"},
		"on a folder":            {newFile("dir"), "which is a folder"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := apply(t.Context(), base, pipeline.Instance{}, []byte(tt.patch))
			var r *refusal
			if !errors.As(err, &r) || !strings.Contains(r.why, tt.why) {
				t.Errorf("error = %v, want a refusal with %q; git said %q", err, tt.why, a.said)
			}
		})
	}
}

func TestApplyCleans(t *testing.T) {
	t.Parallel()
	base := files{
		"src/a.py": "a\n", "tests/test_a.py": "old\n", "Makefile": "all:\n", "lib/data.txt": "d\n",
		"setup.cfg": "[metadata]\nname = x\n\n[tool:pytest]\nminversion = 6\n", "pyproject.toml": "[project]\nname = \"x\"\n\n[tool.pytest.ini_options]\nminversion = \"6\"\n",
		"tox.ini": "[tox]\nenvlist = py\n",
	}
	to := files{
		"src/a.py": "b\n", "src/new.py": "n\n",
		"tests/test_a.py": "forged\n", "tests/test_b.py": "forged\n", "Makefile": "test:\n\ttrue\n", "conftest.py": "x\n", "src/conftest.py": "x\n",
		"sitecustomize.py": "x\n", "src/x.pth": "import x\n", "pytest.ini": "[pytest]\n", "_pytest/runner.py": "x\n", "pluggy.py": "x\n",
		"lib/data.txt": "sealed over\n", "lib/check": "below sealed\n",
		"setup.cfg": "[metadata]\nname = x\n\n[tool:pytest]\nminversion = 6\naddopts = -p evil\n", "tox.ini": "[tox]\nenvlist = py, lint\n",
		"pyproject.toml": "tool.pytest.ini_options.addopts = \"-p evil\"\n\n[project]\nname = \"x\"\n",
	}
	inst := pipeline.Instance{Checks: []pipeline.Check{{
		Files: []pipeline.OverlayFile{{Path: "lib/check/deep.txt", Mode: "100644"}}, Remove: []string{"lib/data.txt"},
	}}}
	a, err := apply(t.Context(), base, inst, diff(t, base, to))
	if err != nil {
		t.Fatalf("%v\n%s", err, a.said)
	}
	wantRemoved := []Removed{
		{"Makefile", whySetUp}, {"_pytest/runner.py", whySetUp}, {"conftest.py", whySetUp}, {"lib/check", whySealed}, {"lib/data.txt", whySealed},
		{"pluggy.py", whySetUp}, {"pyproject.toml", whySetUp}, {"pytest.ini", whySetUp}, {"setup.cfg", whySetUp}, {"sitecustomize.py", whySetUp},
		{"src/conftest.py", whySetUp}, {"src/x.pth", whySetUp}, {"tests/test_a.py", whyTest}, {"tests/test_b.py", whyTest},
	}
	if diff := cmp.Diff(wantRemoved, a.removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	want := files{"src/a.py": "b\n", "src/new.py": "n\n", "tox.ini": "[tox]\nenvlist = py, lint\n"}
	for _, p := range []string{"tests/test_a.py", "Makefile", "lib/data.txt", "setup.cfg", "pyproject.toml"} {
		want[p] = base[p]
	}
	if diff := cmp.Diff(want, state(base, a.overlay)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// TestApplyCleansScripts: settings of JavaScript's test tools are not a patch's to change, wherever they lie; the rest of a manifest is.
func TestApplyCleansScripts(t *testing.T) {
	t.Parallel()
	base := files{
		"a.js": "a\n", "package.json": `{"name": "x", "jest": {"verbose": true}}` + "\n", "web/package.json": `{"mocha": {"ui": "bdd"}}` + "\n", "doc/package.json": "{\n",
		"vitest.config.ts": "export default {}\n",
	}
	to := files{
		"a.js": "b\n", "package.json": `{"jest": {"verbose": true}, "name": "y"}` + "\n", "web/package.json": `{"mocha": {"ui": "bdd", "require": "./evil"}}` + "\n",
		"doc/package.json": "{{\n", "vitest.config.ts": "export default {test: {setupFiles: './a.js'}}\n", "vitest.workspace.mjs": "x\n", "sub/ava.config.cjs": "x\n",
	}
	a, err := apply(t.Context(), base, pipeline.Instance{}, diff(t, base, to))
	if err != nil {
		t.Fatalf("%v\n%s", err, a.said)
	}
	want := []Removed{
		{"doc/package.json", whySetUp}, {"sub/ava.config.cjs", whySetUp}, {"vitest.config.ts", whySetUp}, {"vitest.workspace.mjs", whySetUp}, {"web/package.json", whySetUp},
	}
	if d := cmp.Diff(want, a.removed); d != "" {
		t.Errorf("removed (-want +got):\n%s", d)
	}
	left := state(base, a.overlay)
	if left["package.json"] != to["package.json"] || left["web/package.json"] != base["web/package.json"] || left["a.js"] != to["a.js"] {
		t.Errorf("what is left: %q", left)
	}
}

// TestApplyCleansRenames: neither end of a rename may be a test.
func TestApplyCleansRenames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("same\n", 20)
	base := files{"src/a.py": long, "tests/test_a.py": strings.Repeat("other\n", 20), "src/c.py": "c\n"}
	to := files{"tests/test_new.py": long, "src/b.py": base["tests/test_a.py"], "src/c.py": "C\n"}
	a, err := apply(t.Context(), base, pipeline.Instance{}, diff(t, base, to, "-M"))
	if err != nil {
		t.Fatalf("%v\n%s", err, a.said)
	}
	want := files{"src/a.py": long, "tests/test_a.py": base["tests/test_a.py"], "src/c.py": "C\n"}
	if diff := cmp.Diff(want, state(base, a.overlay)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// TestShadowsAllowedAtHome: the test tool's own repository may be patched.
func TestShadowsAllowedAtHome(t *testing.T) {
	t.Parallel()
	g := newGuard(pipeline.Instance{Recipe: replay.Recipe{Root: "py"}})
	if g.why("py/pluggy/hooks.py") != whySetUp {
		t.Error("a module that shadows the test tool's is let through")
	}
	g.know("py/pluggy/__init__.py")
	if why := g.why("py/pluggy/hooks.py"); why != "" {
		t.Errorf("the project's own module is taken out: %s", why)
	}
}

func TestApplyLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, patch := range [][]byte{patchTo("v2"), patchTo("v2\n+x"), malformed} {
		_, _ = apply(t.Context(), baseFiles(), pipeline.Instance{}, patch)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// FuzzApply: whatever a patch says, no protected path and none outside of the tree comes out of it.
func FuzzApply(f *testing.F) {
	base := files{"src.txt": "v1\n", "tests/test_a.py": "t\n", "way@": "tests", "setup.cfg": "[metadata]\n"}
	f.Add(patchTo("v2"))
	f.Add(malformed)
	f.Add(unrelated)
	f.Add([]byte("--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-t\n+u\n"))
	f.Add([]byte("diff --git a/src.txt b/tests/test_b.py\nsimilarity index 100%\nrename from src.txt\nrename to tests/test_b.py\n"))
	f.Add([]byte("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+..\n\\ No newline at end of file\n"))
	f.Add([]byte("diff --git \"a/\\303\\251\" \"b/\\303\\251\"\nnew file mode 100755\nindex 0000000..e69de29\n"))
	f.Add([]byte("diff --git a/b b/b\nnew file mode 100644\nindex 0000000..f76dd23\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		a, err := apply(t.Context(), base, pipeline.Instance{}, patch)
		var r *refusal
		if err != nil && !errors.As(err, &r) {
			t.Fatalf("%q is called the machinery's fault: %v", patch, err)
		}
		if err != nil {
			return
		}
		g := newGuard(pipeline.Instance{})
		paths := append([]string{}, a.overlay.Remove...)
		for _, file := range a.overlay.Files {
			paths = append(paths, file.Path)
		}
		for _, p := range paths {
			if badPath(p) != "" || g.why(p) != "" {
				t.Fatalf("%q decides on %q", patch, p)
			}
		}
	})
}

// TestConfigChanged: of two files that cannot be read, with the same mistake, nobody knows that a tool reads them alike.
func TestConfigChanged(t *testing.T) {
	t.Parallel()
	broken := "[tool.pytest]\naddopts = \n"
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{broken, broken, false}, {broken, broken + "x = '-p evil'\n", true}, {"[project]\nname = 'x'\n", "[project]\nname = 'y'\n", false}, {"", broken, true},
	} {
		if got := configChanged("pyproject.toml", []byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("from %q to %q: changed %v", c.before, c.after, got)
		}
	}
}
