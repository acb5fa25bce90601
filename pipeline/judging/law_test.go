package judging

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/judges/model"
	"sluice/store"
)

// entry is a line of books kept by hand, of what a ledger ought to count.
type entry struct {
	model.Reservation
	id    int64
	owner string // "" once it has ended
	run   string
	usd   int64 // what counts
}

// walk drives the ledgers of two processes over one store, and kills and restarts them.
type walk struct {
	t       *testing.T
	store   *store.Store
	clock   *clock
	budget  Budget
	prefix  string // of everything of this walk: the store is shared by all
	ledgers [2]*Ledger
	owners  [2]string
	dead    map[string]bool
	entries []*entry
	starts  int
}

func (w *walk) start(rt *rapid.T, i int) {
	w.starts++
	w.owners[i] = fmt.Sprintf("%s-%d", w.prefix, w.starts)
	l, err := NewLedger(w.t.Context(), w.store, Terms{Run: "run " + w.owners[i], Owner: w.owners[i], Clock: w.clock.Now, Budget: w.budget,
		Dead: func(o string) bool { return w.dead[o] }})
	ok(rt, err)
	w.ledgers[i] = l
	for _, e := range w.entries { // a run that starts marks what the dead had put aside
		if w.dead[e.owner] {
			e.owner = ""
		}
	}
}

// counted sums what counts in all that fits.
func (w *walk) counted(fits func(*entry) bool) (sum int64) {
	for _, e := range w.entries {
		if fits(e) {
			sum += e.usd
		}
	}
	return sum
}

func (w *walk) Reserve(rt *rapid.T) {
	i := w.process(rt)
	e := &entry{owner: w.owners[i], run: "run " + w.owners[i], Reservation: model.Reservation{
		Key: w.prefix + rapid.SampledFrom([]string{"k1", "k2", "k3", "k4", "k5", "k6"}).Draw(rt, "key"), MicroUSD: rapid.Int64Range(0, 60).Draw(rt, "usd"),
		Charge: model.Charge{Candidate: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "candidate"), Stage: rapid.SampledFrom([]string{"judge", "leak"}).Draw(rt, "stage")},
	}}
	e.usd, e.Tokens = e.MicroUSD, e.MicroUSD
	want := w.expected(e)
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	if want == context.DeadlineExceeded { //nolint:errorlint // it is this very value
		cancel()
		ctx, cancel = context.WithTimeout(w.t.Context(), 3*time.Millisecond)
	}
	defer cancel()
	id, err := w.ledgers[i].Reserve(ctx, e.Reservation)
	if want != nil {
		if !errors.Is(err, want) {
			rt.Fatalf("reserving %+v: got %v, want %v", e.Reservation, err, want)
		}
		return
	}
	ok(rt, err)
	e.id = id
	w.entries = append(w.entries, e)
}

// expected is the error that a reservation must meet.
func (w *walk) expected(e *entry) error {
	for _, o := range w.entries {
		if o.Key != e.Key {
			continue
		}
		if w.dead[o.owner] { // met: all of the dead become uncertain
			for _, d := range w.entries {
				if w.dead[d.owner] {
					d.owner = ""
				}
			}
		}
		if o.owner != "" || o.id < 0 {
			return model.ErrBusy
		}
	}
	candidate := w.budget.CandidateUSD
	if e.Charge.Candidate == "" {
		candidate = nil
	}
	waits := false
	for _, b := range []struct {
		limit *USD
		fits  func(*entry) bool
	}{
		{w.budget.RunUSD, func(o *entry) bool { return o.run == e.run }},
		{candidate, func(o *entry) bool { return o.Charge.Candidate == e.Charge.Candidate }},
	} {
		if b.limit == nil {
			continue
		}
		own := w.counted(func(o *entry) bool { return b.fits(o) && o.owner == e.owner && o.run == e.run })
		switch room := int64(*b.limit) - w.counted(b.fits); {
		case e.usd <= room:
		case e.usd <= room+own:
			waits = true
		default:
			return model.ErrBudget
		}
	}
	if waits {
		return context.DeadlineExceeded
	}
	return nil
}

// end picks a reservation of a living process and ends it in one of the three ways.
func (w *walk) End(rt *rapid.T) {
	var open []*entry
	for _, e := range w.entries {
		if e.owner != "" && !w.dead[e.owner] {
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		rt.Skip("nothing is on its way")
	}
	e := rapid.SampledFrom(open).Draw(rt, "entry")
	l := w.ledgers[0]
	if e.owner == w.owners[1] {
		l = w.ledgers[1]
	}
	switch rapid.SampledFrom([]string{"settle", "release", "uncertain"}).Draw(rt, "end") {
	case "settle":
		e.usd = rapid.Int64Range(0, e.MicroUSD).Draw(rt, "cost")
		ok(rt, l.Settle(w.t.Context(), e.id, settlement(e.usd)))
		e.id = -1 // its reply is there
	case "release":
		e.usd = 0
		ok(rt, l.Release(w.t.Context(), e.id, "refused"))
	default:
		ok(rt, l.Uncertain(w.t.Context(), e.id, "silence"))
	}
	e.owner = ""
}

func (w *walk) Kill(rt *rapid.T) {
	i := w.process(rt)
	w.dead[w.owners[i]] = true
	w.ledgers[i] = nil
}

func (w *walk) Restart(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "process")
	if w.ledgers[i] != nil {
		rt.Skip("it is alive")
	}
	w.start(rt, i)
}

// process draws one that is alive.
func (w *walk) process(rt *rapid.T) int {
	i := rapid.IntRange(0, 1).Draw(rt, "process")
	if w.ledgers[i] == nil {
		rt.Skip("it is dead")
	}
	return i
}

// Check compares the store's sums with the books, and both with the budgets.
func (w *walk) Check(rt *rapid.T) {
	sums := map[string]int64{}
	calls, err := w.store.ModelCalls(w.t.Context(), "")
	ok(rt, err)
	for _, c := range calls {
		sums[c.Run] += c.MicroUSD
	}
	for _, e := range w.entries {
		want := w.counted(func(o *entry) bool { return o.run == e.run })
		if sums[e.run] != want || w.budget.RunUSD != nil && want > int64(*w.budget.RunUSD) {
			rt.Fatalf("%s counts %d, the books say %d, the budget is %v", e.run, sums[e.run], want, w.budget.RunUSD)
		}
	}
}

// Whatever two processes do, and whenever one is killed: spent, uncertain and reserved together stay within every budget, the sums are
// right, and no question is asked by two at once.
func TestLaws(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		w := &walk{t: t, store: openStore(t, t.TempDir(), c), clock: c, prefix: fmt.Sprintf("w%d", n.Add(1)), dead: map[string]bool{}}
		if rapid.Bool().Draw(rt, "run budget") {
			w.budget.RunUSD = usd(rapid.Int64Range(0, 150).Draw(rt, "of a run"))
		}
		if rapid.Bool().Draw(rt, "candidate budget") {
			w.budget.CandidateUSD = usd(rapid.Int64Range(0, 150).Draw(rt, "of a candidate"))
		}
		w.start(rt, 0)
		w.start(rt, 1)
		rt.Repeat(rapid.StateMachineActions(w))
		ps, err := w.store.Check(t.Context())
		ok(rt, err)
		same(rt, "problems of the store", ps, nil)
		if limit := w.budget.CandidateUSD; limit != nil {
			for _, id := range []string{"a", "b"} {
				if sum := w.counted(func(e *entry) bool { return e.Charge.Candidate == id }); sum > int64(*limit) {
					rt.Fatalf("candidate %s has used %d of %d", id, sum, *limit)
				}
			}
		}
	})
}
