package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

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

// fresh returns an empty store and its clock.
func fresh(t testing.TB) (*Store, *clock) {
	t.Helper()
	c := newClock()
	return openAt(t, t.TempDir(), c), c
}

// tb is what tests and rapid's draws have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
	Context() context.Context
}

func ok(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same[T any](t tb, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// candidate makes one of family "issue" with that id.
func candidate(id string) Candidate {
	return Candidate{ID: id, Family: "issue", Repo: "o/r", Data: []byte(`{"n":1}`)}
}

func add(t testing.TB, s *Store, ids ...string) {
	t.Helper()
	var cs []Candidate
	for i, id := range ids {
		c := candidate(id)
		c.Order = int64(i)
		cs = append(cs, c)
	}
	n, err := s.AddCandidates(t.Context(), cs)
	ok(t, err)
	if n != len(ids) {
		t.Fatalf("added %d of %d", n, len(ids))
	}
}

func lease(t testing.TB, s *Store, id, owner string) {
	t.Helper()
	got, err := s.Lease(t.Context(), id, owner, time.Minute)
	ok(t, err)
	if !got {
		t.Fatalf("%s is leased", id)
	}
}

func put(t tb, s *Store, data string) string {
	t.Helper()
	d, err := s.Put(t.Context(), []byte(data))
	ok(t, err)
	return d
}

// attempt makes one of owner "me" at stage "build" with the key, and one piece of evidence if data is not empty.
func attempt(t tb, s *Store, id, key, outcome, data string) Attempt {
	t.Helper()
	a := Attempt{Candidate: id, Stage: "build", Version: 2, Key: key, Outcome: outcome, Owner: "me",
		Started: s.clock().Add(-time.Second), Ended: s.clock()}
	if outcome == "reject" || outcome == "hold" {
		a.Code, a.Reason = "no-tests", "it has no tests"
	}
	if data != "" {
		a.Evidence = []Evidence{{Name: "log", MediaType: "text/plain", Digest: put(t, s, data), Size: int64(len(data))}}
	}
	return a
}

// place is the position that follows from an attempt.
func place(a Attempt) Position {
	states := map[string]State{"pass": Open, "reject": Rejected, "hold": Held, "error": Failed}
	return Position{State: states[a.Outcome], Stage: a.Stage, Code: a.Code, Reason: a.Reason, Plan: "p1"}
}

func commit(t testing.TB, s *Store, a Attempt) int64 {
	t.Helper()
	id, err := s.Commit(t.Context(), a, place(a))
	ok(t, err)
	return id
}

// clean fails when Check finds anything but harmless things.
func clean(t testing.TB, s *Store) {
	t.Helper()
	ps, err := s.Check(t.Context())
	ok(t, err)
	for _, p := range ps {
		if !p.Harmless {
			t.Errorf("check: %+v", p)
		}
	}
}

func ids(cs []Candidate) (out []string) {
	for _, c := range cs {
		out = append(out, c.ID)
	}
	return out
}

func numbered(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("is-%04d", i))
	}
	return out
}
