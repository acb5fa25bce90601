package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is what a store with one candidate ought to do, in a few lines.
type model struct {
	owner    string
	until    time.Time
	state    State
	gen      int
	attempts []Attempt
}

func (m *model) held(now time.Time) bool { return m.owner != "" && now.Before(m.until) }

func (m *model) outcome(key string) (Attempt, bool) {
	for _, a := range m.attempts {
		if a.Key == key && a.Outcome != "error" {
			return a, true
		}
	}
	return Attempt{}, false
}

// walk drives a store, through two handles, and a model side by side.
type walk struct {
	t      *testing.T
	stores [2]*Store
	clock  *clock
	id     string
	m      model
}

var (
	owners   = rapid.SampledFrom([]string{"p1", "p2"})
	keys     = rapid.SampledFrom([]string{"k1", "k2", "k3"})
	outcomes = rapid.SampledFrom([]string{"pass", "reject", "hold", "error"})
	spans    = rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour})
)

func (w *walk) store(rt *rapid.T) *Store { return w.stores[rapid.IntRange(0, 1).Draw(rt, "handle")] }

func (w *walk) Advance(rt *rapid.T) { w.clock.advance(spans.Draw(rt, "time")) }

func (w *walk) Lease(rt *rapid.T) {
	owner, ttl := owners.Draw(rt, "owner"), spans.Draw(rt, "ttl")
	got, err := w.store(rt).Lease(w.t.Context(), w.id, owner, ttl)
	ok(rt, err)
	want := !w.m.held(w.clock.Now()) || w.m.owner == owner
	if got != want {
		rt.Fatalf("leased: %v, want %v", got, want)
	}
	if want {
		w.m.owner, w.m.until = owner, w.clock.Now().Add(ttl)
	}
}

func (w *walk) Renew(rt *rapid.T) {
	owner, ttl := owners.Draw(rt, "owner"), spans.Draw(rt, "ttl")
	ok(rt, w.store(rt).Renew(w.t.Context(), owner, ttl))
	if w.m.held(w.clock.Now()) && w.m.owner == owner {
		w.m.until = w.clock.Now().Add(ttl)
	}
}

func (w *walk) Unlease(rt *rapid.T) {
	owner := owners.Draw(rt, "owner")
	ok(rt, w.store(rt).Unlease(w.t.Context(), w.id, owner))
	if w.m.owner == owner {
		w.m.owner = ""
	}
}

func (w *walk) Commit(rt *rapid.T) {
	s := w.store(rt)
	a := attempt(rt, s, w.id, keys.Draw(rt, "key"), outcomes.Draw(rt, "outcome"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "log"))
	a.Owner = owners.Draw(rt, "owner")
	id, err := s.Commit(w.t.Context(), a, place(a))
	_, exists := w.m.outcome(a.Key)
	switch {
	case !w.m.held(w.clock.Now()) || w.m.owner != a.Owner:
		if !errors.Is(err, ErrLeased) {
			rt.Fatalf("got %v, want ErrLeased", err)
		}
	case exists && a.Outcome != "error":
		if !errors.Is(err, ErrExists) {
			rt.Fatalf("got %v, want ErrExists", err)
		}
	default:
		ok(rt, err)
		a.ID = id
		w.m.attempts = append(w.m.attempts, a)
		w.m.state = place(a).State
	}
}

func (w *walk) Reopen(rt *rapid.T) {
	err := w.store(rt).Reopen(w.t.Context(), w.id, Review{Decision: "reopen", By: "ann"})
	if w.m.held(w.clock.Now()) {
		if !errors.Is(err, ErrLeased) {
			rt.Fatalf("got %v, want ErrLeased", err)
		}
		return
	}
	ok(rt, err)
	w.m.gen++
	w.m.state = Open
}

// Check compares all that can be asked.
func (w *walk) Check(rt *rapid.T) {
	s := w.store(rt)
	for _, key := range []string{"k1", "k2", "k3"} {
		got, found, err := s.AttemptByKey(w.t.Context(), w.id, key)
		ok(rt, err)
		want, wantFound := w.m.outcome(key)
		same(rt, "found "+key, found, wantFound)
		same(rt, "attempt "+key, got, want)
	}
	as, err := s.Attempts(w.t.Context(), w.id)
	ok(rt, err)
	same(rt, "attempts", as, w.m.attempts)
	c, err := s.Candidate(w.t.Context(), w.id)
	ok(rt, err)
	same(rt, "state", c.State, w.m.state)
	same(rt, "generation", c.Generation, w.m.gen)
}

func TestLaws(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	stores := [2]*Store{openAt(t, dir, c), openAt(t, dir, c)}
	var n atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		w := &walk{t: t, stores: stores, clock: c, id: fmt.Sprintf("is-%d", n.Add(1)), m: model{state: Open}}
		_, err := stores[0].AddCandidates(t.Context(), []Candidate{candidate(w.id)})
		ok(rt, err)
		actions := rapid.StateMachineActions(w)
		rt.Repeat(actions)
	})
	clean(t, stores[1])
}
