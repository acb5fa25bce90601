package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"

	"sluice/store"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func add(t *testing.T, s *store.Store, ids ...string) {
	t.Helper()
	var cs []store.Candidate
	for i, id := range ids {
		cs = append(cs, store.Candidate{ID: id, Family: "toy", Repo: "o/r", Data: []byte(`{"n":` + fmt.Sprint(i) + `}`), Order: int64(i), Position: store.Position{State: store.Open}})
	}
	if _, err := s.AddCandidates(t.Context(), cs); err != nil {
		t.Fatal(err)
	}
}

func engine(s *store.Store, o Options) *Engine {
	o.Owner = "test"
	o.BackOff = func() backoff.BackOff { return &backoff.ZeroBackOff{} }
	return New(s, o)
}

// toy is a family of two stages: the first writes evidence, the second reads it and decides by the candidate's number.
func toy(calls *sync.Map, decide func(n int) (Outcome, error)) *Family {
	count := func(stage, id string) {
		v, _ := calls.LoadOrStore(stage+" "+id, new(atomic.Int64))
		v.(*atomic.Int64).Add(1)
	}
	type data struct{ N int }
	return &Family{Name: "toy", Stages: []Stage{
		{Name: "first", Version: 1, Pool: CPU, Makes: []string{"number"}, Run: func(ctx context.Context, c *Case) (Outcome, error) {
			count("first", c.ID())
			var d data
			if err := c.Data(&d); err != nil {
				return Outcome{}, err
			}
			return Pass(), c.Write(ctx, "number", d)
		}},
		{Name: "second", Version: 1, Pool: Sandbox, Reads: []string{"number"},
			Codes: []Code{{Name: "odd", Text: "The number is odd."}, {Name: "unsure", Text: "Nobody knows.", Hold: true}},
			Run: func(ctx context.Context, c *Case) (Outcome, error) {
				count("second", c.ID())
				var d data
				if err := c.Read(ctx, "number", &d); err != nil {
					return Outcome{}, err
				}
				return decide(d.N)
			}},
	}}
}

func called(calls *sync.Map) map[string]int64 {
	out := map[string]int64{}
	calls.Range(func(k, v any) bool { out[k.(string)] = v.(*atomic.Int64).Load(); return true })
	return out
}

func positions(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	cs, err := s.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range cs {
		out[c.ID] = fmt.Sprintf("%s at %s: %s %s", c.State, c.Stage, c.Code, c.Reason)
	}
	return out
}

func TestEnds(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b", "c", "d", "e")
	var calls sync.Map
	boom := errors.New("boom")
	decide := func(n int) (Outcome, error) {
		switch n {
		case 0:
			return Pass(), nil
		case 1:
			return Reject("odd", "1 is odd"), nil
		case 2:
			return Hold("unsure", "2?"), nil
		case 3:
			return Outcome{}, Permanent(boom)
		}
		return Outcome{}, boom
	}
	sum, err := engine(s, Options{}).Run(t.Context(), toy(&calls, decide), "o/r")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a": "admitted at second:  ", "b": "rejected at second: odd 1 is odd", "c": "held at second: unsure 2?",
		"d": "failed at second: error boom", "e": "failed at second: error boom",
	}
	if diff := cmp.Diff(want, positions(t, s)); diff != "" {
		t.Error(diff)
	}
	wantEnds := map[store.State]int{store.Admitted: 1, store.Rejected: 1, store.Held: 1, store.Failed: 2}
	if diff := cmp.Diff(wantEnds, sum.Ends); diff != "" {
		t.Error(diff)
	}
	if got := called(&calls); got["second d"] != 1 || got["second e"] != 3 {
		t.Errorf("a permanent error must end at once and a transient one after three tries: %v", got)
	}

	// A second run looks only at what another run may cure.
	sum, err = engine(s, Options{}).Run(t.Context(), toy(&calls, func(int) (Outcome, error) { return Pass(), nil }), "o/r")
	if err != nil {
		t.Fatal(err)
	}
	if sum.Candidates != 1 || positions(t, s)["e"] != "admitted at second:  " {
		t.Errorf("second run looked at %d candidates; %v", sum.Candidates, positions(t, s))
	}
	if got := called(&calls)["first e"]; got != 1 {
		t.Errorf("the first stage of e ran %d times, its stored outcome must count", got)
	}
}

func TestVersionRerunsOnlyWhatDependsOnIt(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b")
	var calls sync.Map
	pass := func(int) (Outcome, error) { return Pass(), nil }
	f := toy(&calls, pass)
	for range 2 {
		if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
	}
	f.Stages[1].Version = 2
	if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"first a": 1, "first b": 1, "second a": 2, "second b": 2}
	if diff := cmp.Diff(want, called(&calls)); diff != "" {
		t.Error(diff)
	}
	// Going back to old settings finds the old outcomes.
	f.Stages[1].Version = 1
	sum, err := engine(s, Options{}).Run(t.Context(), f, "")
	if err != nil || sum.Ran != 0 {
		t.Errorf("ran %d attempts, %v", sum.Ran, err)
	}
	// The same evidence from a new version of the first stage leaves the second alone.
	f.Stages[0].Version = 2
	if sum, err = engine(s, Options{}).Run(t.Context(), f, ""); err != nil || sum.Ran != 2 || sum.Memo != 2 {
		t.Errorf("ran %d, memo %d, %v", sum.Ran, sum.Memo, err)
	}
}

func TestReopenRunsAnew(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a")
	var calls sync.Map
	f := toy(&calls, func(int) (Outcome, error) { return Reject("odd", "no"), nil })
	run := func() {
		if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if err := s.Reopen(t.Context(), "a", store.Review{Candidate: "a", Decision: "reopen", Note: "look again", By: "me"}); err != nil {
		t.Fatal(err)
	}
	run()
	if diff := cmp.Diff(map[string]int64{"first a": 2, "second a": 2}, called(&calls)); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsOfAStage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		run  func(context.Context, *Case) (Outcome, error)
		want string
	}{
		{"panic", func(context.Context, *Case) (Outcome, error) { panic("bug") }, "panic: bug"},
		{"undeclared code", func(context.Context, *Case) (Outcome, error) { return Reject("nope", ""), nil }, `stage only gave reject with the undeclared code "nope"`},
		{"undeclared read", func(ctx context.Context, c *Case) (Outcome, error) {
			_, err := c.ReadBytes(ctx, "x")
			return Outcome{}, err
		}, `stage only reads evidence "x" that it does not declare`},
		{"undeclared write", func(ctx context.Context, c *Case) (Outcome, error) { return Pass(), c.Write(ctx, "x", 1) }, `stage only makes evidence "x" that it does not declare`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, t.TempDir())
			add(t, s, "a")
			f := &Family{Name: "toy", Stages: []Stage{{Name: "only", Version: 1, Pool: CPU, Run: tt.run}}}
			if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil {
				t.Fatal(err)
			}
			if got := positions(t, s)["a"]; got != "failed at only: error "+tt.want {
				t.Error(got)
			}
			if as, _ := s.Attempts(t.Context(), "a"); len(as) != 1 {
				t.Errorf("%d attempts, a fault of ours must not be retried", len(as))
			}
		})
	}
}

func TestOnceIsSharedAndSurvives(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b", "c", "d")
	var worked, failed atomic.Int64
	f := &Family{Name: "toy", Stages: []Stage{{Name: "only", Version: 1, Pool: CPU, Makes: []string{"x"}, Run: func(ctx context.Context, c *Case) (Outcome, error) {
		b, err := c.Once(ctx, Work{Kind: "work", Label: "one", Inputs: 7}, func(context.Context) ([]byte, error) {
			if failed.Add(1) == 1 {
				return nil, errors.New("first try fails and must not be stored")
			}
			worked.Add(1)
			return []byte("result"), nil
		})
		if err != nil {
			return Outcome{}, err
		}
		return Pass(), c.WriteBytes(ctx, "x", "text/plain", b)
	}}}}
	for range 2 {
		if _, err := engine(s, Options{Pools: map[Pool]int{CPU: 4}}).Run(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
		f.Stages[0].Version++
	}
	if n := worked.Load(); n != 1 {
		t.Errorf("the work was done %d times", n)
	}
}

func TestCancelStopsCleanly(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.Map
	f := toy(&calls, func(n int) (Outcome, error) {
		if n == 1 {
			cancel()
			return Outcome{}, ctx.Err()
		}
		return Pass(), nil
	})
	_, err := engine(s, Options{Pools: map[Pool]int{CPU: 1, Git: 1, GitHub: 1, Model: 1, Sandbox: 1}}).Run(ctx, f, "")
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if got := positions(t, s)["b"]; got[:4] != "open" {
		t.Errorf("the interrupted candidate is %s", got)
	}
	if sum, err := engine(s, Options{}).Run(t.Context(), toy(&calls, func(int) (Outcome, error) { return Pass(), nil }), ""); err != nil || sum.Ends[store.Admitted]+0 == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	for id, p := range positions(t, s) {
		if p != "admitted at second:  " {
			t.Errorf("%s: %s", id, p)
		}
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	wait := &Family{Name: "toy", Stages: []Stage{{Name: "only", Version: 1, Pool: CPU, Run: func(ctx context.Context, _ *Case) (Outcome, error) {
		<-ctx.Done()
		return Outcome{}, ctx.Err()
	}}}}
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		s := openStore(t, t.TempDir())
		add(t, s, "a")
		_, err := engine(s, Options{Budget: Budget{Wall: time.Millisecond}}).Run(t.Context(), wait, "")
		if !errors.Is(err, ErrBudget) || positions(t, s)["a"][:4] != "open" {
			t.Errorf("%v; %v", err, positions(t, s))
		}
	})
	t.Run("candidate", func(t *testing.T) {
		t.Parallel()
		s := openStore(t, t.TempDir())
		add(t, s, "a", "b")
		_, err := engine(s, Options{Budget: Budget{CandidateWall: time.Millisecond}}).Run(t.Context(), wait, "")
		want := "held at only: budget the candidate's time budget is used up"
		if diff := cmp.Diff(map[string]string{"a": want, "b": want}, positions(t, s)); diff != "" || err != nil {
			t.Error(err, diff)
		}
	})
	// What a stage says of money: the candidate's ends the candidate, with what it made; the run's ends the run.
	t.Run("candidate's money", func(t *testing.T) {
		t.Parallel()
		s := openStore(t, t.TempDir())
		add(t, s, "a", "b")
		for range 2 { // the second run meets the stored outcome
			_, err := engine(s, Options{}).Run(t.Context(), spend(ErrCandidateBudget), "")
			want := "held at only: budget asking: the candidate's budget is used up"
			if diff := cmp.Diff(map[string]string{"a": want, "b": want}, positions(t, s)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		}
		if _, ok, err := s.LatestEvidence(t.Context(), "a", "votes"); !ok || err != nil {
			t.Errorf("the evidence is lost: %v", err)
		}
	})
	t.Run("run's money", func(t *testing.T) {
		t.Parallel()
		s := openStore(t, t.TempDir())
		add(t, s, "a")
		_, err := engine(s, Options{}).Run(t.Context(), spend(ErrBudget), "")
		if !errors.Is(err, ErrBudget) || positions(t, s)["a"][:4] != "open" {
			t.Errorf("%v; %v", err, positions(t, s))
		}
		if as, err := s.Attempts(t.Context(), "a"); err != nil || len(as) > 0 {
			t.Errorf("an attempt that did not end is recorded: %v %v", as, err)
		}
	})
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		s := openStore(t, t.TempDir())
		add(t, s, "a")
		var calls sync.Map
		o := Options{Budget: Budget{MinFree: 10}, Free: func() (uint64, error) { return 9, nil }}
		_, err := engine(s, o).Run(t.Context(), toy(&calls, nil), "")
		if !errors.Is(err, ErrBudget) || len(called(&calls)) > 0 {
			t.Errorf("%v; %v", err, called(&calls))
		}
	})
}

// spend is a family whose stage ends so, with what it made.
func spend(end error) *Family {
	return &Family{Name: "toy", Stages: []Stage{{Name: "only", Version: 1, Pool: Model, Makes: []string{"votes"},
		Run: func(ctx context.Context, c *Case) (Outcome, error) {
			return Outcome{}, errors.Join(c.Write(ctx, "votes", 1), fmt.Errorf("asking: %w", end))
		}}}}
}

// TestBudgetRaised: a candidate that its budget held goes on when somebody opens it again, and nothing else is run for it.
func TestBudgetRaised(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a")
	for i, end := range []error{ErrCandidateBudget, ErrCandidateBudget, nil} {
		if i > 0 {
			if err := s.SetPosition(t.Context(), "a", store.Position{State: store.Open, Stage: "only"}); err != nil {
				t.Fatal(err)
			}
		}
		f := spend(end)
		if end == nil {
			f.Stages[0].Run = func(context.Context, *Case) (Outcome, error) { return Pass(), nil }
		}
		if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
		f.Stages = append(f.Stages, Stage{Name: "other", Version: 1, Pool: CPU, Run: func(context.Context, *Case) (Outcome, error) { return Pass(), nil }})
		if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil { // looked at again, it stands where it stood
			t.Fatal(err)
		}
		want := map[bool]string{true: "admitted at other:  ", false: "held at only: budget asking: the candidate's budget is used up"}[end == nil]
		if got := positions(t, s)["a"]; strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
	}
	if as, err := s.Attempts(t.Context(), "a"); err != nil || len(as) != 4 {
		t.Errorf("%d attempts: %v", len(as), err)
	}
}

func TestLeasedElsewhereIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b")
	if ok, err := s.Lease(t.Context(), "a", "somebody else", time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var calls sync.Map
	sum, err := engine(s, Options{}).Run(t.Context(), toy(&calls, func(int) (Outcome, error) { return Pass(), nil }), "")
	if err != nil || sum.Busy != 1 || called(&calls)["first a"] != 0 || called(&calls)["second b"] != 1 {
		t.Errorf("%+v %v %v", sum, err, called(&calls))
	}
}

func TestAbortEndsTheRunAndBlamesNobody(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b", "c")
	var calls sync.Map
	noEngine := errors.New("no engine answers")
	_, err := engine(s, Options{}).Run(t.Context(), toy(&calls, func(int) (Outcome, error) { return Outcome{}, Abort(noEngine) }), "")
	if !errors.Is(err, noEngine) {
		t.Fatalf("got %v", err)
	}
	for id, p := range positions(t, s) {
		if p[:4] != "open" {
			t.Errorf("%s is %s", id, p)
		}
		if n := called(&calls)["second "+id]; n > 1 {
			t.Errorf("%s was tried %d times", id, n)
		}
	}
}

func TestLeaseOfTheDeadIsTakenBack(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b")
	for id, owner := range map[string]string{"a": "dead", "b": "alive"} {
		if ok, err := s.Lease(t.Context(), id, owner, time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	var calls sync.Map
	o := Options{Dead: func(owner string) bool { return owner == "dead" }}
	sum, err := engine(s, o).Run(t.Context(), toy(&calls, func(int) (Outcome, error) { return Pass(), nil }), "")
	if err != nil || sum.Busy != 1 || called(&calls)["second a"] != 1 {
		t.Errorf("%+v %v %v", sum, err, called(&calls))
	}
}

func TestPoolsBound(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprint("c", i))
	}
	add(t, s, ids...)
	var now, most atomic.Int64
	f := &Family{Name: "toy", Stages: []Stage{{Name: "only", Version: 1, Pool: Sandbox, Run: func(context.Context, *Case) (Outcome, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return Pass(), nil
	}}}}
	if _, err := engine(s, Options{Pools: map[Pool]int{Sandbox: 3, CPU: 10}}).Run(t.Context(), f, ""); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 3 {
		t.Errorf("%d ran at once, the pool holds 3", most.Load())
	}
}

func TestFamilyCheck(t *testing.T) {
	t.Parallel()
	run := func(context.Context, *Case) (Outcome, error) { return Pass(), nil }
	good := func() *Family {
		return &Family{Name: "toy", Stages: []Stage{
			{Name: "a", Version: 1, Pool: CPU, Makes: []string{"x"}, Run: run},
			{Name: "b", Version: 1, Pool: Git, Reads: []string{"x"}, Run: run, Codes: []Code{{Name: "c", Text: "C."}}},
		}}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Family){
		"reads what nobody makes":      func(f *Family) { f.Stages[1].Reads = []string{"y"} },
		"reads what comes later":       func(f *Family) { f.Stages[0], f.Stages[1] = f.Stages[1], f.Stages[0] },
		"makes twice":                  func(f *Family) { f.Stages[1].Makes = []string{"x"} },
		"same name":                    func(f *Family) { f.Stages[1].Name = "a" },
		"no version":                   func(f *Family) { f.Stages[1].Version = 0 },
		"no function":                  func(f *Family) { f.Stages[1].Run = nil },
		"unknown pool":                 func(f *Family) { f.Stages[1].Pool = "gpu" },
		"code without a text":          func(f *Family) { f.Stages[1].Codes[0].Text = "" },
		"code that is no plain name":   func(f *Family) { f.Stages[1].Codes[0].Name = "C d" },
		"code that stands there twice": func(f *Family) { f.Stages[1].Codes = append(f.Stages[1].Codes, f.Stages[1].Codes[0]) },
	} {
		f := good()
		spoil(f)
		if f.Check() == nil {
			t.Errorf("%s: started", name)
		}
	}
}
