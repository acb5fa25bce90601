//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

func everything(string) bool { return true }

// drawFiles draws files whose names collide often, among them links to outside.
func drawFiles(t *rapid.T, label, outside string) []replay.File {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) replay.File {
		p := path.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path")...)
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			to := rapid.SampledFrom([]string{outside, outside + "/file", "..", "../../..", "a", "b/c", "/"}).Draw(t, "to")
			return sandboxtest.Link(p, to)
		}
		return sandboxtest.Text(p, rapid.StringN(0, 3, -1).Draw(t, "data"))
	}), 0, 8).Draw(t, label)
}

// TestWriterStaysInside checks that whatever a tree and its overlays hold, nothing outside changes and the last file of a
// name wins, as if there were no links.
func TestWriterStaysInside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		base, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		outside, inside := filepath.Join(base, "outside"), filepath.Join(base, "x", "inside")
		must(rt, os.MkdirAll(inside, 0o755), os.MkdirAll(outside, 0o755),
			os.WriteFile(filepath.Join(outside, "file"), []byte("mine"), 0o644))
		files := drawFiles(rt, "tree", outside)
		overlay := replay.Overlay{Files: drawFiles(rt, "overlay", outside)}
		for _, f := range drawFiles(rt, "removed", outside) {
			overlay.Remove = append(overlay.Remove, f.Path)
		}
		tree := &sandboxtest.Tree{Name: "t", Files: files}
		must(rt, writeTree(context.Background(), inside, tree, everything, []replay.Overlay{overlay}))
		if d := cmp.Diff(map[string]string{"file": "mine"}, list(rt, outside)); d != "" {
			rt.Fatalf("outside (-want +got):\n%s", d)
		}
		if d := cmp.Diff(model(files, overlay), list(rt, inside)); d != "" {
			rt.Fatalf("inside (-want +got):\n%s", d)
		}
	})
}

// model is what a plain map makes of the files.
func model(files []replay.File, o replay.Overlay) map[string]string {
	m := map[string]string{}
	drop := func(p string) {
		for k := range m {
			if k == p || strings.HasPrefix(k, p+"/") {
				delete(m, k)
			}
		}
	}
	write := func(f replay.File) {
		drop(f.Path)
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			delete(m, dir)
		}
		m[f.Path] = string(f.Data)
	}
	for _, f := range files {
		write(f)
	}
	for _, p := range o.Remove {
		drop(p)
	}
	for _, f := range o.Files {
		write(f)
	}
	return m
}

// list reads files and links below dir without following any.
func list(t *rapid.T, dir string) map[string]string {
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if e.Type()&fs.ModeSymlink != 0 {
			found[rel], err = os.Readlink(p)
			return err
		}
		data, err := os.ReadFile(p)
		found[rel] = string(data)
		return err
	}))
	return found
}

func must(t *rapid.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCheckPath(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "a/b", "..a", "a..b/c", ".hidden", "\xff", "a b\n"} {
		if err := checkPath(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "../a", "a/..", "a/../b", "/a", "a/", "a//b", "./a", "a\x00"} {
		if err := checkPath(bad); !errors.Is(err, errPath) {
			t.Errorf("%q was accepted: %v", bad, err)
		}
	}
}

func TestModesIgnoreUmask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := sandboxtest.NewTree("t", sandboxtest.Text("d/plain", ""), sandboxtest.Script("d/run", ""))
	if err := writeTree(context.Background(), dir, tree, everything, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"d": 0o755, "d/plain": 0o644, "d/run": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestReadCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data, want string
		cut        bool
	}{
		{"", "", false},
		{"0123456789", "0123456789", false},
		{"0123456789a", "01234\n[… 1 bytes cut …]\n6789a", true},
		{strings.Repeat("x", 100) + "end", "xxxxx\n[… 93 bytes cut …]\nxxend", true},
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(c.data); err != nil {
			t.Fatal(err)
		}
		got, cut, err := readCut(f, 10)
		if err != nil || string(got) != c.want || cut != c.cut {
			t.Errorf("%.20q: got %q %v %v", c.data, got, cut, err)
		}
		f.Close()
	}
}

func TestCollectIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, strings.Repeat("d/", maxDepth+1))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, data string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(deep, "too-deep"), "x")
	write(filepath.Join(dir, "report"), "x")
	write(filepath.Join(dir, "named-twice"), "x")
	write(filepath.Join(dir, "huge"), "")
	for _, err := range []error{
		os.Truncate(filepath.Join(dir, "huge"), maxReport+1),
		os.Link(filepath.Join(dir, "named-twice"), filepath.Join(dir, "again")),
		os.Symlink("report", filepath.Join(dir, "link")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	parent, name := filepath.Split(dir)
	if err := os.Symlink("/etc", filepath.Join(parent, "trap")); err != nil {
		t.Fatal(err)
	}
	if got, err := collect(parent, "trap"); err == nil {
		t.Errorf("files of another folder were collected: %d", len(got))
	}
	got, err := collect(parent, name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string][]byte{"report": []byte("x")}, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}
