package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func gc(t *testing.T, s *Store, grace time.Duration) int {
	t.Helper()
	n, bytes, err := s.GC(t.Context(), grace)
	ok(t, err)
	if (n == 0) != (bytes == 0) {
		t.Errorf("removed %d files of %d bytes", n, bytes)
	}
	return n
}

func TestGCKeepsWhatIsReferred(t *testing.T) {
	t.Parallel()
	s := full(t)
	put(t, s, "unreferenced")
	s.clock = func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	same(t, "removed", gc(t, s, time.Hour), 1)
	same(t, "removed again", gc(t, s, 0), 0)
	ps, err := s.Check(t.Context())
	ok(t, err)
	same(t, "problems", ps, nil)
	for data, want := range map[string]bool{"unreferenced": false, "of a mark": true, "reply": true, "manifest": true} {
		got, err := s.Has(t.Context(), Digest([]byte(data)))
		ok(t, err)
		same(t, data, got, want)
	}
}

func TestGCGrace(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	put(t, s, "a")
	put(t, s, "b")
	c.advance(time.Hour)
	same(t, "removed at the limit", gc(t, s, time.Hour), 0)
	put(t, s, "b") // again: as good as new
	c.advance(1)
	same(t, "removed past it", gc(t, s, time.Hour), 1)
	_, err := s.Get(t.Context(), Digest([]byte("b")))
	ok(t, err)
}

func TestGCTouchesNothingElse(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	old := c.Now().Add(-48 * time.Hour)
	name := blobPath(t, s, Digest([]byte("x")))
	files := map[string]bool{ // path: removed
		"blobs/tmp/put-old": true, "blobs/notes.txt": false, "blobs/ab/short.zst": false, "sluice.db.bak": false,
		"blobs/tmp/deeper/file": false, "blobs/zz/" + filepath.Base(name): false,
		"blobs/deep" + filepath.Base(filepath.Dir(name)) + "/" + filepath.Base(name): false,
	}
	for rel := range files {
		path := filepath.Join(s.dir, rel)
		ok(t, os.MkdirAll(filepath.Dir(path), 0o755))
		ok(t, os.WriteFile(path, []byte("x"), 0o644))
		ok(t, os.Chtimes(path, old, old))
	}
	young := filepath.Join(s.dir, "blobs/tmp/put-young")
	ok(t, os.WriteFile(young, nil, 0o644))
	ok(t, os.Chtimes(young, c.Now(), c.Now()))
	same(t, "removed", gc(t, s, 24*time.Hour), 1)
	files["blobs/tmp/put-young"] = false
	for rel, removed := range files {
		if _, err := os.Stat(filepath.Join(s.dir, rel)); (err != nil) != removed {
			t.Errorf("%s: %v", rel, err)
		}
	}
}

// One process has put a blob and is about to commit, when another collects.
func TestGCBetweenPutAndCommit(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	worker, collector := openAt(t, dir, c), openAt(t, dir, c)
	add(t, worker, "is-1")
	put(t, worker, "log") // long ago, by a process that was killed
	c.advance(48 * time.Hour)
	lease(t, worker, "is-1", "me")
	a := attempt(t, worker, "is-1", "k1", "pass", "log")
	same(t, "removed", gc(t, collector, time.Hour), 0)
	commit(t, worker, a)
	c.advance(48 * time.Hour)
	same(t, "removed after the commit", gc(t, collector, time.Hour), 0)
	clean(t, worker)
}

// Whatever the timing, a commit either finds its blobs and keeps them, or fails.
func TestGCRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	worker, err := OpenDir(t.Context(), dir, Options{})
	ok(t, err)
	defer worker.Close()
	collector, err := OpenDir(t.Context(), dir, Options{})
	ok(t, err)
	defer collector.Close()
	const n = 60
	for i := range n { // old blobs that the worker puts again while the collector removes them
		path := blobPath(t, worker, put(t, worker, fmt.Sprint(i)))
		old := time.Now().Add(-time.Hour)
		ok(t, os.Chtimes(path, old, old))
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, _, err := collector.GC(context.WithoutCancel(ctx), time.Minute); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range n {
		if err := worker.PutRun(t.Context(), Run{Key: fmt.Sprint(i), Digest: put(t, worker, fmt.Sprint(i))}); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	clean(t, worker)
}
