package store

import (
	"context"
	"testing"
	"time"
)

// clock is a clock that tests set.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)} }

func (c *clock) Now() time.Time          { return c.now }
func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

func openAt(t testing.TB, dir string, c *clock) *Store {
	t.Helper()
	s, err := OpenDir(t.Context(), dir, Options{Clock: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must1[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestSmoke(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openAt(t, t.TempDir()+"/a b?#%", c)
	ctx := context.Background()
	if _, err := s.AddCandidates(ctx, []Candidate{{ID: "x-1", Data: []byte(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	d, err := s.Put(ctx, []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Lease(ctx, "x-1", "me", time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	a := Attempt{Candidate: "x-1", Stage: "s", Key: "k", Outcome: "reject", Code: "c", Owner: "me", Started: c.now, Evidence: []Evidence{{Name: "e", Digest: d, Size: 5}}}
	if _, err := s.Commit(ctx, a, Position{State: Rejected, Stage: "s", Code: "c"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Attempts(ctx, "x-1")
	t.Log(got, err)
	ps, err := s.Check(ctx)
	if len(ps) > 0 || err != nil {
		t.Fatal(ps, err)
	}
	_, err = s.Commit(ctx, a, Position{State: Rejected, Stage: "s", Code: "c"})
	t.Log(err)
	if _, _, err := s.GC(ctx, 0); err != nil {
		t.Fatal(err)
	}
}
