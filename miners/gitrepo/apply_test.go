package gitrepo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

// The branch release lacks what main got meanwhile: the fix fits three-way in one file, and not in the other.
const apart = `
commit base "m"
branch release
commit frozen "m"
branch main
commit moved "m"
commit fix "m"
  rm gone
commit clash "m"
-- base/f --
one
two
three
four
five
six
-- base/gone --
g
-- base/other --
x
-- moved/f --
zero
one
two
three
four
five
six
-- fix/f --
zero
one
two
three
four
FIVE
six
-- fix/new --
n
-- frozen/other --
y
-- clash/other --
z
`

func TestApplyOnto(t *testing.T) {
	t.Parallel()
	m, r := open(t, apart)
	before := listing(t, m.Dir())
	patch := func(base, head string) []byte {
		p, err := m.Patch(t.Context(), r.ID(base), r.ID(head), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got, err := m.ApplyOnto(t.Context(), r.ID("frozen"), patch("moved", "fix"))
	if err != nil {
		t.Fatal(err)
	}
	want := gitrepo.Applied{
		Files: []gitrepo.File{
			{Path: "f", Mode: 0o644, Data: []byte("one\ntwo\nthree\nfour\nFIVE\nsix\n")}, {Path: "new", Mode: 0o644, Data: []byte("n\n")},
		},
		Removed: []string{"gone"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	_, err = m.ApplyOnto(t.Context(), r.ID("frozen"), patch("fix", "clash"))
	if !errors.Is(err, gitrepo.ErrConflict) || !strings.Contains(err.Error(), "other") {
		t.Errorf("conflict: %v", err)
	}
	_, err = m.ApplyOnto(t.Context(), r.ID("frozen"), []byte("no patch\n"))
	if !errors.Is(err, gitrepo.ErrConflict) {
		t.Errorf("no patch: %v", err)
	}
	for _, empty := range [][]byte{nil, []byte("\n")} {
		if got, err := m.ApplyOnto(t.Context(), r.ID("frozen"), empty); err != nil || got.Files != nil || got.Removed != nil {
			t.Errorf("empty patch: %+v, %v", got, err)
		}
	}
	if diff := cmp.Diff(before, listing(t, m.Dir())); diff != "" {
		t.Errorf("the mirror changed (-before +after):\n%s", diff)
	}
}

// A patch cannot reach outside of the tree.
func TestApplyOntoOutside(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, apart)
	m := gitrepo.At(r.Dir)
	for _, path := range []string{"../x", ".git/hooks/x", "/tmp/x", "a/../../x"} {
		patch := "diff --git a/" + path + " b/" + path + "\nnew file mode 100755\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+x\n"
		if got, err := m.ApplyOnto(t.Context(), r.ID("base"), []byte(patch)); err == nil {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func TestPatchOnto(t *testing.T) {
	t.Parallel()
	m, r := open(t, apart)
	fix, err := m.Patch(t.Context(), r.ID("moved"), r.ID("fix"), []string{"f"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.PatchOnto(t.Context(), r.ID("frozen"), r.ID("frozen"), fix, []string{"f"})
	if err != nil || !strings.Contains(string(got), "-five\n+FIVE\n") || strings.Contains(string(got), "zero") {
		t.Errorf("patch %s, %v", got, err)
	}
}

// canary makes a repository whose every hook, filter and setting that could run a program would leave a file.
func canary(t *testing.T) (r *gittest.Repo, left string) {
	t.Helper()
	left = filepath.Join(t.TempDir(), "canary")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+left+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r = gittest.Build(t, apart+`-- base/.gitattributes --
* filter=evil diff=evil merge=evil text
-- base/.gitmodules --
[submodule "x"]
	path = x
	url = ext::`+script+`
	update = !`+script+"\n")
	config := ""
	for _, setting := range []string{
		"core.fsmonitor", "core.sshcommand", "core.gitproxy", "core.pager", "core.editor", "core.alternaterefscommand", "diff.external",
		"uploadpack.packobjectshook", "gpg.program", "interactive.difffilter", "credential.helper", "pager.log", "pager.blame",
	} {
		section, key, _ := strings.Cut(setting, ".")
		config += "[" + section + "]\n\t" + key + " = " + script + "\n"
	}
	for _, section := range []string{"filter", "diff", "merge"} {
		config += "[" + section + ` "evil"]` + "\n"
		for _, key := range []string{"clean", "smudge", "process", "textconv", "command", "driver"} {
			config += "\t" + key + " = " + script + "\n"
		}
	}
	config += "[remote \"origin\"]\n\turl = ext::" + script + "\n\tpromisor = true\n\tuploadpack = " + script + "\n"
	config += "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialclone = origin\n"
	if err := os.WriteFile(filepath.Join(r.Dir, "config"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.Dir, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{
		"reference-transaction", "post-checkout", "pre-auto-gc", "post-index-change", "fsmonitor-watchman", "post-update", "pre-receive",
		"applypatch-msg", "pre-applypatch", "proc-receive", "post-merge", "post-rewrite",
	} {
		if err := os.Symlink(script, filepath.Join(r.Dir, "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	return r, left
}

func TestNothingOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	r, left := canary(t)
	everything(t, mirror(t, r.Dir), r)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something ran: %v", err)
	}
	// The canary sings when git is run in the repository itself.
	r.Git("update-ref", "refs/heads/x", r.ID("base"))
	if _, err := os.Stat(left); err != nil {
		t.Errorf("the canary is dumb: %v", err)
	}
}

// everything calls every method of a mirror of apart.
func everything(t *testing.T, m *gitrepo.Mirror, r *gittest.Repo) {
	t.Helper()
	ctx := t.Context()
	changes, err := m.Changes(ctx, gitrepo.Window{})
	if err != nil || len(changes) != 4 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	_, filesErr := m.AllFiles(ctx, changes)
	patch, patchErr := m.Patch(ctx, r.ID("moved"), r.ID("fix"), nil)
	_, hunksErr := m.Hunks(ctx, r.ID("moved"), r.ID("fix"), nil, true)
	_, blameErr := m.Blame(ctx, r.ID("fix"), "f", toEnd(), gitrepo.BlameOptions{})
	_, readErr := m.ReadFile(ctx, r.ID("fix"), "f")
	_, applyErr := m.ApplyOnto(ctx, r.ID("frozen"), patch)
	if err := errors.Join(filesErr, patchErr, hunksErr, blameErr, readErr, applyErr); err != nil {
		t.Error(err)
	}
	contents(t, m, r.ID("fix"))
}

// Nothing of the user's environment and configuration counts either. (Not parallel: it sets the environment.)
func TestNothingOfTheUserCounts(t *testing.T) {
	r, left := canary(t)
	home := t.TempDir()
	config, err := os.ReadFile(filepath.Join(r.Dir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_DIR": r.Dir, "GIT_WORK_TREE": home, "GIT_INDEX_FILE": filepath.Join(home, "index"),
		"GIT_EXTERNAL_DIFF": "touch " + left, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.external", "GIT_CONFIG_VALUE_0": "touch " + left,
		"GIT_CONFIG_PARAMETERS": "'diff.noprefix'='true'", "GIT_PAGER": "touch " + left, "GIT_TRACE": "1", "GIT_OBJECT_DIRECTORY": home,
	} {
		t.Setenv(name, value)
	}
	m := mirror(t, r.Dir)
	everything(t, m, r)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something ran: %v", err)
	}
}
