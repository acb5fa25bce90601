package judging

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
	"sluice/store"
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

func openStore(t testing.TB, dir string, c *clock) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), dir, store.Options{Clock: c.Now})
	ok(t, err)
	t.Cleanup(func() { ok(t, s.Close()) })
	for _, id := range []string{"a", "b"} {
		_, err := s.AddCandidates(t.Context(), []store.Candidate{{ID: id, Family: "toy", Repo: "o/r", Data: []byte("{}")}})
		ok(t, err)
	}
	return s
}

// ledger opens one for a process of that name, in a run of that name; the process "dead" is known to be dead.
func ledger(t tb, s *store.Store, c *clock, name string, b Budget) *Ledger {
	t.Helper()
	l, err := NewLedger(t.Context(), s, Terms{Run: "run of " + name, Owner: name, Dead: func(o string) bool { return o == "dead" }, Clock: c.Now, Budget: b})
	ok(t, err)
	return l
}

func usd(n int64) *USD { u := USD(n); return &u }

// question asks for up to n millionths and n tokens on the account of candidate a at stage judge.
func question(key string, n int64) model.Reservation {
	return model.Reservation{Key: key, Prompt: "clarity", Version: 2, Model: "m", MicroUSD: n, Tokens: n, Charge: model.Charge{Candidate: "a", Stage: "judge"}}
}

// settlement is a reply that costs n millionths and n tokens.
func settlement(n int64) model.Settlement {
	return model.Settlement{MicroUSD: n, Latency: time.Second, Exchange: model.Exchange{
		Parameters: model.Parameters{ID: "m-1", MaxOutput: 100},
		Request: model.Request{Prompt: "clarity", Version: 2, Messages: []model.Message{{Role: model.User, Content: "is a < b & c?"}},
			Schema: []byte(`{"type":"object"}`)},
		Structured: "schema",
		Reply:      model.Reply{Text: fmt.Sprintf(`{"n":%d}`, n), Finish: "stop", Model: "m-1", Usage: model.Usage{Input: n}},
	}}
}

func reserve(t tb, l *Ledger, r model.Reservation) int64 {
	t.Helper()
	id, err := l.Reserve(t.Context(), r)
	ok(t, err)
	return id
}

// totals sums what counts in a store, by the calls themselves.
func totals(t tb, s *store.Store) (usd, tokens int64) {
	t.Helper()
	calls, err := s.ModelCalls(t.Context(), "")
	ok(t, err)
	for _, c := range calls {
		usd, tokens = usd+c.MicroUSD, tokens+c.Tokens
	}
	return usd, tokens
}

// sound fails when the store's own check finds anything but what a killed process leaves.
func sound(t tb, s *store.Store) {
	t.Helper()
	ps, err := s.Check(t.Context())
	ok(t, err)
	for _, p := range ps {
		if !p.Harmless {
			t.Errorf("check: %+v", p)
		}
	}
}
