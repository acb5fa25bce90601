package store

import (
	"errors"
	"testing"
	"time"
)

// Two handles are what two processes have.
func TestLeaseBetweenProcesses(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	a, b := openAt(t, dir, c), openAt(t, dir, c)
	add(t, a, "is-1", "is-2")
	take := func(s *Store, owner string, want bool) {
		t.Helper()
		got, err := s.Lease(t.Context(), "is-1", owner, time.Minute)
		ok(t, err)
		if got != want {
			t.Errorf("%s leases: %v, want %v", owner, got, want)
		}
	}
	take(a, "a", true)
	take(b, "b", false)
	take(a, "a", true) // its own again
	c.advance(time.Minute - 1)
	take(b, "b", false)
	c.advance(1) // expired to the nanosecond
	take(b, "b", true)
	take(a, "a", false)
	ok(t, a.Unlease(t.Context(), "is-1", "a")) // not a's to give
	take(a, "a", false)
	ok(t, b.Unlease(t.Context(), "is-1", "b"))
	take(a, "a", true)
}

func TestRenew(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1", "is-2", "is-3")
	lease(t, s, "is-1", "me")
	c.advance(50 * time.Second)
	lease(t, s, "is-2", "me")
	lease(t, s, "is-3", "you")
	c.advance(10 * time.Second) // is-1 expired
	ok(t, s.Renew(t.Context(), "me", time.Hour))
	c.advance(time.Minute)
	for id, want := range map[string]bool{"is-1": true, "is-2": false, "is-3": true} {
		got, err := s.Lease(t.Context(), id, "other", time.Minute)
		ok(t, err)
		if got != want {
			t.Errorf("%s can be leased: %v, want %v", id, got, want)
		}
	}
}

func TestLeaseOfNothing(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	if _, err := s.Lease(t.Context(), "is-1", "me", time.Minute); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	add(t, s, "is-1")
	if _, err := s.Lease(t.Context(), "is-1", "", time.Minute); err == nil {
		t.Error("nobody leased it")
	}
}

func TestDropLeases(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1", "is-2", "is-3")
	lease(t, s, "is-1", "dead")
	lease(t, s, "is-2", "dead")
	lease(t, s, "is-3", "alive")
	c.advance(time.Hour) // expired ones are listed too
	got, err := s.Owners(t.Context())
	ok(t, err)
	same(t, "owners", got, []string{"alive", "dead"})
	ok(t, s.DropLeases(t.Context(), "dead"))
	got, err = s.Owners(t.Context())
	ok(t, err)
	same(t, "owners left", got, []string{"alive"})
}
