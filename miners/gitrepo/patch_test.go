package gitrepo_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

// Every kind of change survives a patch: applied to the base it gives the tree of the head.
func TestPatchCarriesEverything(t *testing.T) {
	t.Parallel()
	r := kinds(t)
	m := mirror(t, r.Dir)
	patch, err := m.Patch(t.Context(), r.ID("old"), r.ID("new"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(patch, []byte("\n")) {
		t.Error("the patch has no newline at its end")
	}
	checkApplied(t, m, r, "old", "new", patch)
}

// checkApplied compares the files that a patch makes of base with those of head.
func checkApplied(t *testing.T, m *gitrepo.Mirror, r *gittest.Repo, base, head string, patch []byte) {
	t.Helper()
	applied, err := m.ApplyOnto(t.Context(), r.ID(base), patch)
	if err != nil {
		t.Fatal(err)
	}
	got, want := contents(t, m, r.ID(base)), contents(t, m, r.ID(head))
	for _, path := range applied.Removed {
		delete(got, path)
	}
	for _, f := range applied.Files {
		got[f.Path] = fmt.Sprintf("%v %s", f.Mode, f.Data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files after applying (-want +got):\n%s", diff)
	}
}

func contents(t *testing.T, m *gitrepo.Mirror, commit string) map[string]string {
	t.Helper()
	tree, err := m.Tree(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	err = tree.Each(t.Context(), func(f gitrepo.File) error {
		all[f.Path] = fmt.Sprintf("%v %s", f.Mode, f.Data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPatchKeepsBytes(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(gittest.Commit{Name: "old", Message: "m", Files: map[string]string{
		"crlf": "a\r\nb\r\nc\r\n", "bare": "a\nb", "blank": "a\n\n \n\t\nb\n", "latin": "caf\xe9\n",
	}})
	b.Add(gittest.Commit{Name: "new", Message: "m", Files: map[string]string{
		"crlf": "a\r\nB\r\nc\r\n", "bare": "a\nc", "blank": "a\n\n \n\t\nc\n", "latin": "th\xe9\n",
	}})
	dir := filepath.Join(t.TempDir(), "bytes")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := gittest.At(t, dir)
	r.IDs = ids
	m := mirror(t, dir)
	patch, err := m.Patch(t.Context(), ids["old"], ids["new"], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-b\r\n+B\r\n", "\\ No newline at end of file\n", "\n \n  \n \t\n", "-caf\xe9\n"} {
		if !bytes.Contains(patch, []byte(want)) {
			t.Errorf("%q is not in the patch:\n%q", want, patch)
		}
	}
	checkApplied(t, m, r, "old", "new", patch)
}

func TestPatchPaths(t *testing.T) {
	t.Parallel()
	r := kinds(t)
	m := mirror(t, r.Dir)
	for name, c := range map[string]struct {
		paths []string
		want  []string // lines that begin the parts
	}{
		"none":               {[]string{}, nil},
		"literal":            {[]string{":(glob)*"}, []string{"diff --git a/:(glob)* b/:(glob)*"}},
		"pattern":            {[]string{"*"}, nil},
		"both names":         {[]string{"moved", "to/here"}, []string{"diff --git a/moved b/to/here"}},
		"new name only":      {[]string{"to/here"}, []string{"diff --git a/to/here b/to/here"}},
		"nothing that is":    {[]string{"same", "nowhere"}, nil},
		"like an option":     {[]string{"--output=/tmp/x"}, nil},
		"odd, so it is quot": {[]string{"a\"b.md"}, []string{`diff --git "a/a\"b.md" "b/a\"b.md"`}},
	} {
		patch, err := m.Patch(t.Context(), r.ID("old"), r.ID("new"), c.paths)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for line := range strings.Lines(string(patch)) {
			if strings.HasPrefix(line, "diff ") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := m.Patch(t.Context(), "--output=/tmp/x", r.ID("new"), nil); err == nil {
		t.Error("an option passes for a commit")
	}
}

// Lines that look like the syntax of patches are lines all the same.
const tricky = "++i;\n--i;\n----------------\n@@ -1 +1 @@\n\\ No newline at end of file\n-- x\n++ y\ndiff --git a/x b/x\n"

func TestHunks(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(gittest.Commit{Name: "old", Message: "m", Files: map[string]string{
		"tricky": "keep\n" + tricky + "keep\n", "space": "if x {\ny\n}\n", "insert": "a\nb\n", "delete": "a\nb\nc\n", "my file": "a\n",
		"tab\t\xff": "a\n", "was": text, "gone": "a\nb\n", "bare": "a", "turned": "a\nb\n", "bin": "\x00", "dev/null": "a\n",
	}})
	b.Add(gittest.Commit{
		Name: "new", Message: "m", Remove: []string{"was", "gone"},
		Files: map[string]string{
			"tricky": "keep\nkeep\n" + tricky, "space": "if  x {\n\ty\n}\n", "insert": "a\nnew\nnew\nb\n", "delete": "a\nc\n",
			"my file": "b\n", "tab\t\xff": "b\n", "is": text + "nine\n", "bare": "b", "turned": "x", "bin": "\x00\x00", "dev/null": "b\n",
		},
		Modes: map[string]string{"turned": "120000"},
	})
	dir := filepath.Join(t.TempDir(), "hunks")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := mirror(t, dir)
	one := gitrepo.Range{First: 1, Last: 1}
	h := func(oldFirst, oldLast, newFirst, newLast int) gitrepo.Hunk {
		return gitrepo.Hunk{Old: gitrepo.Range{First: oldFirst, Last: oldLast}, New: gitrepo.Range{First: newFirst, Last: newLast}}
	}
	file := func(path string, hunks ...gitrepo.Hunk) gitrepo.FileHunks {
		return gitrepo.FileHunks{OldPath: path, Path: path, Hunks: hunks}
	}
	changed := gitrepo.Hunk{Old: one, New: one}
	want := map[string]gitrepo.FileHunks{
		"tricky": file("tricky", h(2, 1, 2, 2), h(10, 10, 11, 10)), "space": file("space", h(1, 2, 1, 2)),
		"insert": file("insert", h(2, 1, 2, 3)), "delete": file("delete", h(2, 2, 2, 1)), "my file": file("my file", changed),
		"tab\t\xff": file("tab\t\xff", changed), "is": {OldPath: "was", Path: "is", Hunks: []gitrepo.Hunk{h(9, 8, 9, 9)}},
		"gone": file("gone", h(1, 2, 1, 0)), "bare": file("bare", changed), "dev/null": file("dev/null", changed),
		"turned": {Path: "turned", Hunks: []gitrepo.Hunk{h(1, 2, 1, 0), h(1, 0, 1, 1)}},
	}
	got, err := m.Hunks(t.Context(), ids["old"], ids["new"], nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hunks (-want +got):\n%s", diff)
	}
	got, err = m.Hunks(t.Context(), ids["old"], ids["new"], []string{"space", "bare"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]gitrepo.FileHunks{"bare": file("bare", changed)}, got); diff != "" {
		t.Errorf("hunks without white space (-want +got):\n%s", diff)
	}
	root, err := m.Hunks(t.Context(), "", ids["old"], []string{"gone"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]gitrepo.FileHunks{"gone": {Path: "gone", Hunks: []gitrepo.Hunk{h(1, 0, 1, 2)}}}, root); diff != "" {
		t.Errorf("hunks of the root (-want +got):\n%s", diff)
	}
}

// The lengths of the hunks add up to what `--numstat` counts, whatever the lines are.
func TestHunksAddUp(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom(append(strings.SplitAfter(strings.TrimSuffix(tricky, "\n"), "\n"), "a\n", "b\n", "\n", "\r\n", "--- a/f\n", "+++ b/f\n"))
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		b := gittest.NewBuilder()
		for _, name := range []string{"old", "new"} {
			files := map[string]string{}
			for _, path := range []string{"f", "g h"} {
				files[path] = strings.Join(rapid.SliceOfN(line, 1, 30).Draw(rt, name+path), "") + rapid.SampledFrom([]string{"", "end"}).Draw(rt, "end")
			}
			b.Add(gittest.Commit{Name: name, Message: "m", Files: files})
		}
		runs++
		repo := filepath.Join(dir, fmt.Sprint("repo", runs))
		ids, err := b.BuildIn(repo)
		if err != nil {
			rt.Fatal(err)
		}
		m := gitrepo.At(repo)
		files, err := m.Files(t.Context(), gitrepo.Change{Base: ids["old"], Head: ids["new"]})
		if err != nil {
			rt.Fatal(err)
		}
		hunks, err := m.Hunks(t.Context(), ids["old"], ids["new"], nil, false)
		if err != nil {
			rt.Fatal(err)
		}
		for _, f := range files {
			added, deleted := 0, 0
			for _, h := range hunks[f.Path].Hunks {
				added += h.New.Last - h.New.First + 1
				deleted += h.Old.Last - h.Old.First + 1
			}
			if added != f.Added || deleted != f.Deleted {
				rt.Errorf("%s: hunks +%d -%d, numstat +%d -%d", f.Path, added, deleted, f.Added, f.Deleted)
			}
		}
	})
}
