package agents

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// drawFiles draws a sound tree: no file lies below another one.
func drawFiles(t *rapid.T, label string) []replay.File {
	var out []replay.File
	for _, p := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "b", "b/x", "a.py", "c/d", "z"}), rapid.ID).Draw(t, label) {
		clash := func(f replay.File) bool {
			return strings.HasPrefix(f.Path, p+"/") || strings.HasPrefix(p, f.Path+"/")
		}
		if !slices.ContainsFunc(out, clash) {
			out = append(out, sandboxtest.Text(p, label+p))
		}
	}
	slices.SortFunc(out, func(a, b replay.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// TestLay: a laid tree holds what a sandbox makes of the tree and its overlays, in order, and reads the same.
func TestLay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := sandboxtest.NewTree("base", drawFiles(t, "base")...)
		var overlays []replay.Overlay
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			remove := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a/b", "b/x", "q"}), 0, 2).Draw(t, "remove")
			overlays = append(overlays, replay.Overlay{Files: drawFiles(t, "over"), Remove: remove})
		}
		want, err := replay.Baseline(context.Background(), base, overlays)
		if err != nil {
			t.Fatal(err)
		}
		got, tree, last := replay.Contents{}, Lay(base, overlays...), ""
		err = tree.Each(context.Background(), func(f replay.File) error {
			if f.Path <= last {
				t.Errorf("%q comes after %q", f.Path, last)
			}
			last = f.Path
			got[f.Path] = replay.EntryOf(f)
			b, err := tree.ReadFile(context.Background(), f.Path)
			if err != nil || !bytes.Equal(b, f.Data) {
				t.Errorf("%q reads as %q, %v", f.Path, b, err)
			}
			return nil
		})
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		wanted, picked := replay.Contents{}, replay.Contents{}
		pick := func(f replay.File) bool { return len(f.Path)%2 == 1 }
		err = tree.Select(context.Background(), pick, func(f replay.File) error {
			picked[f.Path] = replay.EntryOf(f)
			return nil
		})
		for p, e := range want {
			if len(p)%2 == 1 {
				wanted[p] = e
			}
		}
		if d := cmp.Diff(wanted, picked); err != nil || d != "" {
			t.Errorf("picked, %v (-want +got):\n%s", err, d)
		}
		for _, p := range []string{"a", "a/b", "b", "z"} {
			_, err := tree.ReadFile(context.Background(), p)
			if _, ok := want[p]; !ok && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q, which is gone, reads with %v", p, err)
			}
		}
	})
}

func TestLaidName(t *testing.T) {
	t.Parallel()
	base := sandboxtest.NewTree("base", sandboxtest.Text("a", "x"))
	over := func(p, s string) replay.Overlay { return replay.Overlay{Files: []replay.File{sandboxtest.Text(p, s)}} }
	seen := map[string]bool{}
	for _, tree := range []replay.Tree{
		base, Lay(base, over("a", "y")), Lay(base, over("a", "z")), Lay(base, over("b", "y")), Lay(base, replay.Overlay{Remove: []string{"a"}}),
		Lay(sandboxtest.NewTree("other"), over("a", "y")),
	} {
		if seen[tree.ID()] {
			t.Errorf("%s names two trees", tree.ID())
		}
		seen[tree.ID()] = true
	}
	if Lay(base, replay.Overlay{}) != replay.Tree(base) || Lay(base, over("a", "y")).ID() != Lay(base, over("a", "y")).ID() {
		t.Error("one tree has two names")
	}
}

// TestPatch: git makes of the files before, with the patch, the files after.
func TestPatch(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	before := []replay.File{
		{Path: "a.py", Mode: 0o644, Data: []byte("one\ntwo\nthree\n")}, {Path: "bin", Mode: 0o644, Data: []byte("\x00\x01\x02")},
		{Path: "gone", Mode: 0o755, Data: []byte("x\n")}, {Path: "ein ü\t\"x\".py", Mode: 0o644, Data: []byte("no end")},
		{Path: "script", Mode: 0o644, Data: []byte("#!\n")}, {Path: "was", Mode: 0o644, Data: []byte("file\n")},
		{Path: "goneblob", Mode: 0o644, Data: bytes.Repeat([]byte{0, 7}, 400)}, {Path: "crlf", Mode: 0o644, Data: []byte("a\r\nb\r\n")},
	}
	files := []File{
		{Path: pipeline.Text("a.py"), Mode: 0o644, Was: 0o644, Data: []byte("one\n2\nthree\nfour")}, {Path: pipeline.Text("bin"), Mode: 0o644, Was: 0o644, Data: bytes.Repeat([]byte{0, 1, 255}, 100)},
		{Path: pipeline.Text("gone"), Was: 0o755, Deleted: true}, {Path: pipeline.Text("ein ü\t\"x\".py"), Mode: 0o644, Was: 0o644, Data: []byte("no end\nat all")},
		{Path: pipeline.Text("script"), Mode: 0o755, Was: 0o644, Data: []byte("#!\n")}, {Path: pipeline.Text("was"), Mode: uint32(fs.ModeSymlink | 0o777), Was: 0o644, Data: []byte("a.py")},
		{Path: pipeline.Text("goneblob"), Was: 0o644, Deleted: true}, {Path: pipeline.Text("new/empty"), Mode: 0o644}, {Path: pipeline.Text("new/x.py"), Mode: 0o755, Data: []byte("x = 1\n")},
		{Path: pipeline.Text("crlf"), Mode: 0o644, Was: 0o644, Data: []byte("a\r\nc\r\n")}, {Path: pipeline.Text("never"), Deleted: true},
	}
	tree := sandboxtest.NewTree("t", before...)
	patch, err := Patch(t.Context(), tree, files)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range before {
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(git, "apply", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, patch)
	}
	want, err := replay.Baseline(t.Context(), tree, []replay.Overlay{Overlay(files)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, contents(t, dir)); d != "" {
		t.Errorf("git made something else of it (-want +got):\n%s\n%s", d, patch)
	}
}

// contents are the files of a folder.
func contents(t *testing.T, dir string) replay.Contents {
	t.Helper()
	out := replay.Contents{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		f := replay.File{Path: filepath.ToSlash(rel), Mode: info.Mode()}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			f.Data = []byte(target)
			out[f.Path] = replay.EntryOf(f)
			return err
		}
		f.Data, err = os.ReadFile(p)
		out[f.Path] = replay.EntryOf(f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzPatch: git takes every patch, and makes of one text the other.
func FuzzPatch(f *testing.F) {
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip(err)
	}
	f.Add([]byte("a\nb\n"), []byte("a\nc"))
	f.Add([]byte("\x00"), []byte("\r\n"))
	f.Add([]byte(""), []byte("--- a\n+++ b\n"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		tree := sandboxtest.NewTree("t", replay.File{Path: "f", Mode: 0o644, Data: before})
		patch, err := Patch(t.Context(), tree, []File{{Path: pipeline.Text("f"), Mode: 0o644, Was: 0o644, Data: after}})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), before, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(git, "apply", "--allow-empty", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%q", err, out, patch)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || !bytes.Equal(got, after) {
			t.Errorf("%q became %q, want %q, %v\n%s", before, got, after, err, patch)
		}
	})
}
