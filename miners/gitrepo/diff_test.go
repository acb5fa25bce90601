package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"

// kinds is a repository of two commits, in which every kind of change happens.
func kinds(t *testing.T) *gittest.Repo {
	t.Helper()
	b := gittest.NewBuilder()
	id := strings.Repeat("1", 40)
	b.Add(gittest.Commit{Name: "old", Message: "old", Files: map[string]string{
		"mod": "a\nb\n", "gone": "x\n", "moved": text, "turned": "target\n", "mode": "m\n", "bin": "\x00\x01", "mov\ned": text + "z\n",
		"sub": id, "same": "s\n",
	}, Modes: map[string]string{"sub": "160000"}})
	b.Add(gittest.Commit{
		Name: "new", Message: "new", Remove: []string{"gone", "moved", "mov\ned"},
		Files: map[string]string{
			"mod": "a\nc\nd\n", "to/here": text + "nine\n", "turned": "mod", "mode": "m\n", "bin": "\x00\x02", "日本.md": "j\n",
			"a\"b.md": "q\n", "tab\there": "t\n", "new\nline": text + "z\n", "bad\xff\xfe": "b\n", "sub": strings.Repeat("2", 40),
			"sub2": id, ":(glob)*": "g\n", "empty": "",
		},
		Modes: map[string]string{"mode": "100755", "turned": "120000", "sub": "160000", "sub2": "160000"},
	})
	dir := filepath.Join(t.TempDir(), "kinds")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := gittest.At(t, dir)
	r.IDs = ids
	return r
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r := kinds(t)
	got, err := mirror(t, r.Dir).Files(t.Context(), between(r, "old", "new"))
	if err != nil {
		t.Fatal(err)
	}
	added := func(path string, lines int) gitrepo.FileChange {
		return gitrepo.FileChange{Status: gitrepo.Added, Path: path, Mode: "100644", Added: lines}
	}
	modified := func(path, mode string, plus, minus int) gitrepo.FileChange {
		return gitrepo.FileChange{Status: gitrepo.Modified, Path: path, OldMode: mode, Mode: mode, Added: plus, Deleted: minus}
	}
	mode := modified("mode", "100644", 0, 0)
	mode.Mode = "100755"
	sub2 := added("sub2", 1)
	sub2.Mode = "160000"
	want := []gitrepo.FileChange{
		added(":(glob)*", 1), added("a\"b.md", 1), added("bad\xff\xfe", 1), modified("bin", "100644", -1, -1), added("empty", 0),
		{Status: gitrepo.Deleted, Path: "gone", OldMode: "100644", Deleted: 1},
		modified("mod", "100644", 2, 1), mode,
		{Status: gitrepo.Renamed, OldPath: "mov\ned", Path: "new\nline", OldMode: "100644", Mode: "100644"},
		modified("sub", "160000", 1, 1), sub2, added("tab\there", 1),
		{Status: gitrepo.Renamed, OldPath: "moved", Path: "to/here", OldMode: "100644", Mode: "100644", Added: 1},
		{Status: gitrepo.Typed, Path: "turned", OldMode: "100644", Mode: "120000", Added: 1, Deleted: 1},
		added("日本.md", 1),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(gitrepo.FileChange{}, "OldID", "ID")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, f := range got {
		if (f.ID == "") != (f.Status == gitrepo.Deleted) || (f.OldID == "") != (f.Status == gitrepo.Added) {
			t.Errorf("%s %q has the ids %q and %q", f.Status, f.Path, f.OldID, f.ID)
		}
	}
}

func TestFilesOfRootAndEmpty(t *testing.T) {
	t.Parallel()
	m, r := open(t, "commit a \"m\"\ncommit b \"m\"\n-- a/x --\nx\n-- a/y --\ny\n")
	all, err := m.AllFiles(t.Context(), []gitrepo.Change{between(r, "", "a"), between(r, "a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	if files := all[r.ID("a")]; len(files) != 2 || files[0].Status != gitrepo.Added {
		t.Errorf("the root has %+v", files)
	}
	if files, ok := all[r.ID("b")]; len(files) != 0 || !ok {
		t.Errorf("the empty commit has %+v, %v", files, ok)
	}
}

// A merge is compared with the state that it landed on, also when its branch had gone stale.
func TestFilesOfStaleMerge(t *testing.T) {
	t.Parallel()
	m, r := open(t, `
commit base "m"
branch topic
commit work "m"
branch main
commit other "m"
merge landed topic "m"
-- base/f --
a
-- work/g --
g
-- other/f --
b
`)
	files, err := m.Files(t.Context(), between(r, "other", "landed"))
	if err != nil || len(files) != 1 || files[0].Path != "g" {
		t.Errorf("files %+v, %v", files, err)
	}
}

// remove deletes one object of a mirror, as a partial clone lacks it.
func remove(t *testing.T, m *gitrepo.Mirror, id string) {
	t.Helper()
	if err := os.Remove(filepath.Join(m.Dir(), "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
}

func TestMissingObjects(t *testing.T) {
	t.Parallel()
	script := "commit c0 \"m\"\n"
	files := "-- c0/f --\n0\n"
	for i := 1; i <= 9; i++ {
		script += fmt.Sprintf("commit c%d \"m\"\n", i)
		files += fmt.Sprintf("-- c%d/f --\n%d\n-- c%d/g%d --\nx\n", i, i, i, i)
	}
	m, r := open(t, script+files)
	lost := strings.TrimSpace(r.Git("rev-parse", r.ID("c5")+":f"))
	remove(t, m, lost)
	var changes []gitrepo.Change
	for i := 1; i <= 9; i++ {
		changes = append(changes, between(r, fmt.Sprintf("c%d", i-1), fmt.Sprintf("c%d", i)))
	}
	all, err := m.AllFiles(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range changes {
		files, ok := all[c.Head]
		if broken := i+1 == 5 || i+1 == 6; ok == broken || !broken && len(files) != 2 {
			t.Errorf("c%d: %v, %d files", i+1, ok, len(files))
		}
	}
	ctx := t.Context()
	c5 := changes[4]
	_, filesErr := m.Files(ctx, c5)
	_, patchErr := m.Patch(ctx, c5.Base, c5.Head, nil)
	_, hunksErr := m.Hunks(ctx, c5.Base, c5.Head, nil, false)
	_, readErr := m.ReadFile(ctx, c5.Head, "f")
	_, blameErr := m.Blame(ctx, c5.Head, "f", []gitrepo.Range{{First: 1, Last: 1}}, gitrepo.BlameOptions{})
	tree, err := m.Tree(ctx, c5.Head)
	if err != nil {
		t.Fatal(err)
	}
	eachErr := tree.Each(ctx, func(gitrepo.File) error { return nil })
	unknown := strings.Repeat("e", 40)
	_, treeErr := m.Tree(ctx, unknown)
	_, unknownErr := m.Files(ctx, gitrepo.Change{Base: c5.Base, Head: unknown})
	_, unknownBlame := m.Blame(ctx, unknown, "f", []gitrepo.Range{{First: 1, Last: 1}}, gitrepo.BlameOptions{})
	_, unknownApply := m.ApplyOnto(ctx, unknown, []byte("x"))
	for name, c := range map[string]struct {
		err error
		id  string
	}{
		"Files": {filesErr, lost}, "Patch": {patchErr, lost}, "Hunks": {hunksErr, lost}, "ReadFile": {readErr, lost},
		"Blame": {blameErr, lost}, "Each": {eachErr, lost}, "Tree of nothing": {treeErr, unknown}, "Files of nothing": {unknownErr, unknown},
		"Blame of nothing": {unknownBlame, unknown}, "ApplyOnto nothing": {unknownApply, unknown},
	} {
		if !errors.Is(c.err, gitrepo.ErrMissingObject) || !strings.Contains(c.err.Error(), c.id) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func TestFilesOfManyFiles(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	files := map[string]string{}
	const n = 5000
	for i := range n {
		files[fmt.Sprintf("dir%d/file%d.txt", i%50, i)] = fmt.Sprintf("%d\n", i)
	}
	b.Add(gittest.Commit{Name: "root", Message: "m"})
	b.Add(gittest.Commit{Name: "all", Message: "m", Files: files})
	dir := filepath.Join(t.TempDir(), "many")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := mirror(t, dir)
	got, err := m.Files(t.Context(), gitrepo.Change{Base: ids["root"], Head: ids["all"]})
	if err != nil || len(got) != n {
		t.Errorf("%d files, %v", len(got), err)
	}
	var paths []string
	for path := range files {
		paths = append(paths, path, strings.Repeat("long/", 20)+path) // more than one command line
	}
	hunks, err := m.Hunks(t.Context(), ids["root"], ids["all"], paths, false)
	if err != nil || len(hunks) != n {
		t.Errorf("%d files with hunks, %v", len(hunks), err)
	}
	tree, err := m.Tree(t.Context(), ids["all"])
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = tree.Each(t.Context(), func(f gitrepo.File) error {
		if files[f.Path] != string(f.Data) {
			t.Errorf("%s has %q", f.Path, f.Data)
		}
		seen++
		return nil
	})
	if err != nil || seen != n {
		t.Errorf("%d files in the tree, %v", seen, err)
	}
}

func TestCountFiles(t *testing.T) {
	t.Parallel()
	m, r := open(t, `
commit one "Start"
commit two "More"
commit three "Nothing"
-- one/a --
a
-- two/1111111111111111111111111111111111111111 --
x
-- two/b --
b
`)
	got, err := m.CountFiles(t.Context(), []gitrepo.Change{between(r, "", "one"), between(r, "one", "two"), between(r, "two", "three")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{r.ID("one"): 1, r.ID("two"): 2, r.ID("three"): 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := m.CountFiles(t.Context(), []gitrepo.Change{{Head: "x"}}); err == nil {
		t.Error("no error for what is no id")
	}
}

// Names are files without numbers of lines.
func TestAllNames(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, "commit one \"m\"\ncommit two \"m\"\n  rm a\n-- one/a --\nx\ny\nz\n-- two/b --\nx\ny\nz\nw\n")
	m := gitrepo.At(r.Dir)
	t.Cleanup(func() { m.Close() })
	c := gitrepo.Change{Head: r.ID("two"), Base: r.ID("one")}
	files, err := m.AllFiles(t.Context(), []gitrepo.Change{c})
	names, errNames := m.AllNames(t.Context(), []gitrepo.Change{c})
	if err != nil || errNames != nil || len(files[c.Head]) != 1 || files[c.Head][0].Added != 1 {
		t.Fatal(files, err, errNames)
	}
	files[c.Head][0].Added = 0
	if diff := cmp.Diff(files, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
