package judging

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline"
	"sluice/store"
)

func TestKeepsTheRulesOfLedgers(t *testing.T) {
	t.Parallel()
	modeltest.ExerciseLedger(t, func(t *testing.T, budget int64) model.Ledger {
		c, b := newClock(), Budget{}
		if budget > 0 {
			b.RunUSD = usd(budget)
		}
		return ledger(t, openStore(t, t.TempDir(), c), c, "me", b)
	})
}

func TestReplyIsKept(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	l := ledger(t, s, c, "p1", Budget{})
	_, found, err := l.Lookup(t.Context(), "k")
	ok(t, err)
	same(t, "found before", found, false)
	want := settlement(7)
	ok(t, l.Settle(t.Context(), reserve(t, l, question("k", 10)), want))
	got, found, err := ledger(t, s, c, "p2", Budget{}).Lookup(t.Context(), "k")
	ok(t, err)
	same(t, "found", found, true)
	same(t, "exchange", got, want.Exchange)
	for range 2 {
		ok(t, l.Hit(t.Context(), "k", model.Charge{Candidate: "b", Stage: "judge"}))
		ok(t, l.Hit(t.Context(), "k", model.Charge{}))
	}
	costs, err := s.ModelCosts(t.Context(), "", "")
	ok(t, err)
	uses := map[string]int64{}
	for _, c := range costs {
		uses[c.Candidate] = c.Used
	}
	same(t, "uses", uses, map[string]int64{"": 1, "a": 0, "b": 1})
	if _, err := l.Reserve(t.Context(), question("k", 10)); !errors.Is(err, model.ErrBusy) {
		t.Errorf("a question that is answered was asked again: %v", err)
	}
	sound(t, s)
}

// A reply that was paid and is damaged is no miss: that would pay for it again.
func TestDamagedReplyIsAnError(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	l := ledger(t, s, c, "p1", Budget{})
	for _, text := range []string{"yes", "{}", `{"reply":"yes"}`, `{"reply":null}`} {
		key := "k " + text
		digest, err := s.Put(t.Context(), []byte(text))
		ok(t, err)
		ok(t, s.SettleModelCall(t.Context(), store.ModelCall{ID: reserve(t, l, question(key, 1)), Exchange: digest}))
		if _, found, err := l.Lookup(t.Context(), key); !errors.Is(err, store.ErrCorrupt) || found {
			t.Errorf("%s: got %v, %v", text, found, err)
		}
	}
}

func TestReservations(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	dead := ledger(t, s, c, "dead", Budget{})
	reserve(t, dead, question("of the dead", 5))
	me := ledger(t, s, c, "me", Budget{}) // a run starts: what the dead had becomes uncertain
	state := func(key string) (out string) {
		calls, err := s.ModelCalls(t.Context(), "")
		ok(t, err)
		for _, c := range calls {
			if c.Request == key {
				out += string(c.State) + " "
			}
		}
		return strings.TrimSpace(out)
	}
	same(t, "at the start", state("of the dead"), "uncertain")
	reserve(t, dead, question("met", 5))
	id := reserve(t, me, question("met", 5))
	same(t, "when met", state("met"), "uncertain reserved")
	ok(t, me.Release(t.Context(), id, "429\n\nToo Many Requests"))
	ok(t, me.Uncertain(t.Context(), reserve(t, me, question("met", 5)), "silence"))
	same(t, "in the end", state("met"), "uncertain released uncertain")

	other := ledger(t, s, c, "another machine", Budget{})
	reserve(t, other, question("elsewhere", 5))
	if _, err := me.Reserve(t.Context(), question("elsewhere", 5)); !errors.Is(err, model.ErrBusy) || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("got %v, want ErrBusy and who asks", err)
	}
	mine := reserve(t, me, question("mine", 5))
	if _, err := me.Reserve(t.Context(), question("mine", 5)); !errors.Is(err, model.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	c.advance(stale + 1) // nobody can tell whether that machine is up, but no request takes so long
	reserve(t, me, question("elsewhere", 5))
	same(t, "after a long time", state("elsewhere"), "uncertain reserved")
	ok(t, me.Settle(t.Context(), mine, settlement(1)))
	same(t, "one's own, however slow", state("mine"), "settled")
	sound(t, s)
}

// What was paid is stored although whoever asked has gone away.
func TestSettleOutlivesItsContext(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	l := ledger(t, s, c, "me", Budget{})
	ids := []int64{reserve(t, l, question("k1", 5)), reserve(t, l, question("k2", 5)), reserve(t, l, question("k3", 5))}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ok(t, l.Settle(ctx, ids[0], settlement(1)))
	ok(t, l.Uncertain(ctx, ids[1], "interrupted"))
	ok(t, l.Release(ctx, ids[2], "interrupted"))
	if _, err := l.Reserve(ctx, question("k4", 5)); !errors.Is(err, context.Canceled) {
		t.Errorf("reserved for nobody: %v", err)
	}
	if err := l.Settle(ctx, ids[1], settlement(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("ended twice: %v", err)
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	tokens := int64(100)
	stage := map[string]USD{"judge": 100}
	for _, tc := range []struct {
		name   string
		budget Budget
		before int64 // settled in the same run, for the same candidate and stage
		asked  model.Reservation
		want   error  // what ends besides the question; nil: there is room
		says   string // part of the message
	}{
		{"none", Budget{}, most - 1, question("k", 5), nil, ""},
		{"run, exactly", Budget{RunUSD: usd(100)}, 95, question("k", 5), nil, ""},
		{"run, one more", Budget{RunUSD: usd(100)}, 95, question("k", 6), pipeline.ErrBudget,
			"this run has used $0.000095 of $0.000100 and the next question may take $0.000006: raise budget.run_usd"},
		{"store", Budget{StoreUSD: usd(100)}, 95, question("k", 6), pipeline.ErrBudget, "budget.store_usd"},
		{"stage", Budget{StageUSD: stage}, 95, question("k", 6), pipeline.ErrBudget, "stage judge of this run has used $0.000095"},
		{"another stage", Budget{StageUSD: map[string]USD{"leak": 1}}, 95, question("k", 6), nil, ""},
		{"candidate", Budget{CandidateUSD: usd(100)}, 95, question("k", 6), pipeline.ErrCandidateBudget, "candidate a has used"},
		{"nobody's account", Budget{CandidateUSD: usd(100)}, 95, model.Reservation{Key: "k", MicroUSD: 6}, nil, ""},
		{"tokens", Budget{RunTokens: &tokens}, 95, question("k", 6), pipeline.ErrBudget, "this run has used 95 tokens of 100 tokens"},
		{"the candidate's end comes first", Budget{CandidateUSD: usd(100), RunUSD: usd(100)}, 95, question("k", 6), pipeline.ErrCandidateBudget, "candidate a"},
		{"nothing may be spent", Budget{RunUSD: usd(0)}, 0, question("k", 1), pipeline.ErrBudget, "used $0.000000 of $0.000000"},
		{"what is free may be asked", Budget{RunUSD: usd(0)}, 0, question("k", 0), nil, ""},
		{"a price that no sum holds", Budget{}, 0, question("k", most+1), pipeline.ErrBudget, "no budget allows"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := openStore(t, t.TempDir(), c)
			before := ledger(t, s, c, "p", Budget{})
			ok(t, before.Settle(t.Context(), reserve(t, before, question("before", 1)), settlement(tc.before)))
			_, err := ledger(t, s, c, "p", tc.budget).Reserve(t.Context(), tc.asked)
			if tc.want == nil {
				ok(t, err)
				return
			}
			if !errors.Is(err, model.ErrBudget) || !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %v with %q", err, tc.want, tc.says)
			}
			if other := map[error]error{pipeline.ErrBudget: pipeline.ErrCandidateBudget, pipeline.ErrCandidateBudget: pipeline.ErrBudget}[tc.want]; errors.Is(err, other) {
				t.Errorf("%v is %v too", err, other)
			}
		})
	}
}

// Of two runs, each has its own money, but the store's and the candidate's are shared.
func TestBudgetsOfTwoRuns(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	first := ledger(t, s, c, "p1", Budget{})
	reserve(t, first, question("k1", 60))
	reserve(t, ledger(t, s, c, "p2", Budget{RunUSD: usd(60), StageUSD: map[string]USD{"judge": 60}}), question("k2", 60))
	for _, b := range []Budget{{StoreUSD: usd(120)}, {CandidateUSD: usd(120)}} {
		if _, err := ledger(t, s, c, "p3", b).Reserve(t.Context(), question("k3", 1)); !errors.Is(err, model.ErrBudget) {
			t.Errorf("got %v, want ErrBudget: what another process has put aside counts", err)
		}
	}
}

// The last of the money is not refused because of what questions on their way may still give back.
func TestReserveWaitsForItsOwn(t *testing.T) {
	t.Parallel()
	c := newClock()
	dir := t.TempDir()
	s := openStore(t, dir, c)
	l := ledger(t, s, c, "me", Budget{RunUSD: usd(100)})
	id := reserve(t, l, question("k1", 90))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r := question(fmt.Sprint("w", i), 20)
			id, err := l.Reserve(t.Context(), r)
			if err != nil {
				t.Error(err)
				return
			}
			if err := l.Settle(t.Context(), id, settlement(20)); err != nil {
				t.Error(err)
			}
		})
	}
	ok(t, l.Settle(t.Context(), id, settlement(10)))
	wg.Wait()
	spent, _ := totals(t, s)
	same(t, "spent", spent, 90)
	if _, err := l.Reserve(t.Context(), question("k2", 11)); !errors.Is(err, model.ErrBudget) {
		t.Errorf("got %v, want ErrBudget: nothing is on its way", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	l := ledger(t, s, c, "me", Budget{RunUSD: usd(100)})
	reserve(t, l, question("k1", 90))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Reserve(ctx, question("k2", 90)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// A question whose end could not be recorded stays reserved, and nobody waits for it.
func TestLostEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := openStore(t, t.TempDir(), c)
	l := ledger(t, s, c, "me", Budget{RunUSD: usd(100)})
	id := reserve(t, l, question("k1", 90))
	broken := settlement(1)
	broken.Exchange.Request.Schema = []byte("{") // cannot be encoded
	if err := l.Settle(t.Context(), id, broken); err == nil {
		t.Fatal("settled what cannot be stored")
	}
	if _, err := l.Reserve(t.Context(), question("k2", 90)); !errors.Is(err, model.ErrBudget) {
		t.Errorf("got %v, want ErrBudget", err)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 400)
	for give, want := range map[string]string{
		"":                     "",
		"429\r\n\tslow  down ": "429 slow down",
		"bad \xff byte":        "bad \uFFFD byte",
		long:                   long[:noteBytes] + "…",
		"x" + long:             "x" + long[:noteBytes-2] + "…",
	} {
		same(t, give, oneLine(give), want)
	}
}
