package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadRefs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	write(t, filepath.Join(dir, "packed-refs"), "# pack-refs with: peeled\n"+a+" refs/heads/main\n"+a+" refs/tags/v1\n^"+b+"\nnonsense\n"+a[:39]+" refs/heads/short\n")
	write(t, filepath.Join(dir, "refs", "heads", "main"), b+"\n")
	write(t, filepath.Join(dir, "refs", "heads", "deep", "er"), a)
	write(t, filepath.Join(dir, "refs", "heads", "broken"), "\x00\x00")
	write(t, filepath.Join(dir, "refs", "heads", "symbolic"), "ref: refs/heads/main\n")
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "refs", "heads", "link")); err != nil {
		t.Fatal(err)
	}
	got, err := readRefs(dir)
	want := refs{"refs/heads/main": b, "refs/tags/v1": a, "refs/heads/deep/er": a}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, references (-want +got):\n%s", err, diff)
	}
	if _, err := readRefs(filepath.Join(dir, "nowhere")); err != nil {
		t.Errorf("nothing there: %v", err)
	}
	write(t, filepath.Join(dir, "reftable", "tables.list"), "")
	if _, err := readRefs(dir); err == nil || !strings.Contains(err.Error(), "reftable") {
		t.Errorf("reftable: %v", err)
	}
}

func TestForMirror(t *testing.T) {
	t.Parallel()
	got := refs{
		"refs/heads/a": "1", "refs/remotes/origin/a": "2", "refs/remotes/origin/b": "3", "refs/remotes/origin/HEAD": "4",
		"refs/remotes/fork/c": "5", "refs/pull/1/head": "6", "refs/pull/1/merge": "7", "refs/stash": "8", "refs/heads/": "9",
	}.forMirror()
	want := refs{"refs/heads/a": "1", "refs/heads/b": "3", "refs/pull/1/head": "6"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

// What an object folder holds besides objects stays there: a link could point at any file of the machine.
func TestCopyObjectsTakesObjectsOnly(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	id := strings.Repeat("c", 38)
	for _, name := range []string{
		"aa/" + id, "aa/tmp_obj_x", "pack/pack-12ab.pack", "pack/pack-12ab.idx", "pack/pack-12ab.promisor", "pack/pack-12ab.keep",
		"info/commit-graph", "xx/" + id, "aa/" + id + "00",
	} {
		write(t, filepath.Join(from, name), name)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(from, "aa", strings.Repeat("d", 38))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(from, "aa"), filepath.Join(from, "bb")); err != nil {
		t.Fatal(err)
	}
	// An object folder that borrows from itself ends all the same.
	write(t, filepath.Join(from, "info", "alternates"), "# comment\n"+from+"\n../"+filepath.Base(from)+"\n")
	if err := copyObjects(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(to, path)
			got = append(got, name)
		}
		return err
	})
	want := []string{"aa/" + id, "pack/pack-12ab.idx", "pack/pack-12ab.pack"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, copied (-want +got):\n%s", err, diff)
	}
}

func TestCopyShallow(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	border := filepath.Join(to, "shallow")
	id := strings.Repeat("a", 40) + "\n"
	write(t, filepath.Join(from, "shallow"), id)
	if err := copyShallow(from, to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(border); err != nil || string(got) != id {
		t.Errorf("border %q, %v", got, err)
	}
	write(t, filepath.Join(from, "shallow"), "nonsense\n")
	if err := copyShallow(from, to); err == nil {
		t.Error("a broken border is taken")
	}
	if err := os.Remove(filepath.Join(from, "shallow")); err != nil {
		t.Fatal(err)
	}
	if err := copyShallow(from, to); err != nil || exists(border) {
		t.Errorf("a border that is gone: %v", err)
	}
}

func TestLocateFollowsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "odd", ".git"), "not a pointer")
	write(t, filepath.Join(dir, "lost", ".git"), "gitdir: ../nowhere")
	write(t, filepath.Join(dir, "file"), "x")
	for _, name := range []string{"odd", "lost", "file", "none"} {
		if _, _, err := locate(filepath.Join(dir, name)); !errors.Is(err, ErrNotRepository) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	held, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice: %v", err)
	}
	// A child that outlives us keeps the lock.
	r := gittest.Build(t, treeScript)
	child, err := newReader(git{dir: r.Dir, held: held})
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked while a child holds it: %v", err)
	}
	child.end()
	again, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
