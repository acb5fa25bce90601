package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
)

// Reservation is one for the tests of ledgers.
func Reservation(key string, microUSD int64) model.Reservation {
	return model.Reservation{Key: key, Prompt: "p", Version: 1, Model: "m", MicroUSD: microUSD, Tokens: 100,
		Charge: model.Charge{Candidate: "", Stage: "judge"}}
}

// Settlement is one whose exchange has a value in each field.
func Settlement(text string, microUSD int64) model.Settlement {
	return model.Settlement{MicroUSD: microUSD, Latency: 50 * time.Millisecond, Exchange: model.Exchange{
		Parameters: model.Parameters{ID: "id", Temperature: 0.5, MaxOutput: 100, Extra: `{"seed":1}`},
		Request: model.Request{Prompt: "p", Version: 1, Sample: 2, Schema: json.RawMessage(`{"type":"object"}`),
			Messages: []model.Message{{Role: model.System, Content: "s <>&\u2028"}, {Role: model.User, Content: "u\x00\n"}}},
		Structured: model.BySchema,
		Reply:      model.Reply{Text: text, Finish: model.Stop, Model: "id-1", Usage: model.Usage{Input: 30, Cached: 10, Output: 20}},
		Note:       "a note",
	}}
}

// ExerciseLedger checks that a ledger keeps the rules that model.Ledger states. newLedger makes an empty one with a budget in millionths of
// a dollar, 0 for none.
func ExerciseLedger(t *testing.T, newLedger func(t *testing.T, budget int64) model.Ledger) {
	for _, tt := range []struct {
		name   string
		budget int64
		check  func(*testing.T, ledger)
	}{
		{"replies are kept as they came", 0, keeps},
		{"a key is reserved once at a time", 0, busy},
		{"a reservation ends once", 0, endsOnce},
		{"what was not stored cannot be used", 0, unknownHit},
		{"a budget is reached exactly", 100, exact},
		{"what is released comes back, what is uncertain does not", 100, comesBack},
		{"only the cost counts once it is settled", 100, settledCost},
		{"a question waits for those under way", 100, waits},
		{"waiting ends with the context", 100, waitEnds},
		{"many at once stay within the budget", 1000, crowd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, ledger{newLedger(t, tt.budget), t})
		})
	}
}

// ledger adds what must succeed.
type ledger struct {
	model.Ledger
	t *testing.T
}

func (l ledger) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l ledger) reserve(key string, microUSD int64) int64 {
	l.t.Helper()
	id, err := l.Reserve(l.t.Context(), Reservation(key, microUSD))
	l.must(err)
	return id
}

// refuses wants a refusal of a reservation, and of that kind.
func (l ledger) refuses(want error, key string, microUSD int64) {
	l.t.Helper()
	if _, err := l.Reserve(l.t.Context(), Reservation(key, microUSD)); !errors.Is(err, want) {
		l.t.Errorf("reserving %d for %s: got %v, want %v", microUSD, key, err, want)
	}
}

func (l ledger) stored(key string) (model.Exchange, bool) {
	l.t.Helper()
	e, ok, err := l.Lookup(l.t.Context(), key)
	l.must(err)
	return e, ok
}

func keeps(t *testing.T, l ledger) {
	if _, ok := l.stored("a"); ok {
		t.Error("an empty ledger has a reply")
	}
	id := l.reserve("a", 10)
	if _, ok := l.stored("a"); ok {
		t.Error("a reserved question has a reply")
	}
	s := Settlement("the reply ÄÖ \u202e \x01", 7)
	l.must(l.Settle(t.Context(), id, s))
	got, ok := l.stored("a")
	if diff := cmp.Diff(s.Exchange, got); !ok || diff != "" {
		t.Errorf("the exchange differs (-want +got):\n%s", diff)
	}
	l.must(l.Hit(t.Context(), "a", model.Charge{Stage: "judge"}))
	l.must(l.Hit(t.Context(), "a", model.Charge{Stage: "judge"}))
	l.must(l.Hit(t.Context(), "a", model.Charge{}))
	if _, ok := l.stored("b"); ok {
		t.Error("another key has a reply")
	}
}

func busy(t *testing.T, l ledger) {
	id := l.reserve("a", 10)
	l.refuses(model.ErrBusy, "a", 10)
	other := l.reserve("b", 10)
	l.must(l.Release(t.Context(), id, "refused"))
	id = l.reserve("a", 10)
	l.must(l.Uncertain(t.Context(), id, "silence"))
	if _, ok := l.stored("a"); ok {
		t.Error("an uncertain question has a reply")
	}
	id = l.reserve("a", 10)
	l.must(l.Settle(t.Context(), id, Settlement("a", 1)))
	l.refuses(model.ErrBusy, "a", 10) // its reply is there: look it up
	l.must(l.Settle(t.Context(), other, Settlement("b", 1)))
}

func endsOnce(t *testing.T, l ledger) {
	ctx := t.Context()
	ends := map[string]func(id int64) error{
		"settle":    func(id int64) error { return l.Settle(ctx, id, Settlement("x", 1)) },
		"release":   func(id int64) error { return l.Release(ctx, id, "why") },
		"uncertain": func(id int64) error { return l.Uncertain(ctx, id, "why") },
	}
	for name, end := range ends {
		if end(1<<40) == nil {
			t.Errorf("%s of a reservation that never was: no error", name)
		}
		id := l.reserve("key of "+name, 1)
		l.must(end(id))
		for again, end := range ends {
			if end(id) == nil {
				t.Errorf("%s after %s: no error", again, name)
			}
		}
	}
}

func unknownHit(t *testing.T, l ledger) {
	if l.Hit(t.Context(), "a", model.Charge{}) == nil {
		t.Error("using a reply that is not there: no error")
	}
}

func exact(t *testing.T, l ledger) {
	l.refuses(model.ErrBudget, "large", 101)
	l.must(l.Settle(t.Context(), l.reserve("a", 60), Settlement("a", 60)))
	l.refuses(model.ErrBudget, "b", 41)
	l.must(l.Settle(t.Context(), l.reserve("b", 40), Settlement("b", 40)))
	l.refuses(model.ErrBudget, "c", 1)
	l.must(l.Release(t.Context(), l.reserve("free", 0), "what costs nothing is always allowed"))
}

func comesBack(t *testing.T, l ledger) {
	l.must(l.Release(t.Context(), l.reserve("a", 100), "refused"))
	l.must(l.Uncertain(t.Context(), l.reserve("a", 70), "silence"))
	l.refuses(model.ErrBudget, "a", 31)
	l.must(l.Release(t.Context(), l.reserve("a", 30), "refused"))
}

func settledCost(t *testing.T, l ledger) {
	l.must(l.Settle(t.Context(), l.reserve("a", 90), Settlement("a", 5)))
	l.refuses(model.ErrBudget, "b", 96)
	l.must(l.Settle(t.Context(), l.reserve("b", 95), Settlement("b", 120))) // the endpoint took more than it could
	l.refuses(model.ErrBudget, "c", 1)
}

func waits(t *testing.T, l ledger) {
	id := l.reserve("a", 80)
	done := make(chan error, 1)
	go func() {
		id, err := l.Reserve(t.Context(), Reservation("b", 50))
		if err == nil {
			err = l.Release(t.Context(), id, "done")
		}
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	l.must(l.Settle(t.Context(), id, Settlement("a", 10)))
	select {
	case err := <-done:
		l.must(err)
	case <-time.After(30 * time.Second):
		t.Fatal("it waits although there is room")
	}
}

func waitEnds(t *testing.T, l ledger) {
	id := l.reserve("a", 80)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Reserve(ctx, Reservation("b", 50)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	l.must(l.Uncertain(t.Context(), id, "silence"))
	l.refuses(model.ErrBudget, "b", 21)
}

// crowd has many ask for little and for the same: each key is settled once, and what was spent never passes the budget.
func crowd(t *testing.T, l ledger) {
	const keys, askers, each = 10, 8, 90
	var mu sync.Mutex
	var settled []string
	var wg sync.WaitGroup
	for a := range askers {
		wg.Go(func() {
			for k := range keys {
				key := fmt.Sprint("key ", (k+a)%keys)
				id, err := l.Reserve(t.Context(), Reservation(key, each))
				if errors.Is(err, model.ErrBusy) {
					continue
				}
				if err == nil {
					err = l.Settle(t.Context(), id, Settlement(key, each))
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				settled = append(settled, key)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(settled)
	if n := len(slices.Compact(slices.Clone(settled))); n != len(settled) || n != keys {
		t.Errorf("%d keys were settled %d times", n, len(settled))
	}
	l.refuses(model.ErrBudget, "one more", 1000-keys*each+1)
}
