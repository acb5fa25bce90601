package judging

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/judges"
	"sluice/judges/evidence"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline"
	"sluice/store"
)

func openDesk(t testing.TB, s *store.Store, c Config, o Options) *Desk {
	t.Helper()
	o.Clock = time.Now
	d, err := Open(t.Context(), s, c, o)
	ok(t, err)
	t.Cleanup(func() { ok(t, d.Close(context.WithoutCancel(t.Context()))) })
	return d
}

func ask(ctx context.Context, b judges.Bench, text string) (model.Answer, error) {
	return b.Asker.Ask(ctx, model.Request{Model: "m", Prompt: "clarity", Version: 1,
		Messages: []model.Message{{Role: model.User, Content: text}}}, b.Charge)
}

// judged is a family whose stage asks two questions about each candidate.
func judged(d *Desk) *pipeline.Family {
	return &pipeline.Family{Name: "toy", Stages: []pipeline.Stage{{Name: "judge", Version: 1, Pool: pipeline.Model,
		Run: func(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
			for i := range 2 {
				if _, err := ask(ctx, d.Bench(c.ID(), "judge"), fmt.Sprintf("%d about %s", i, c.ID())); err != nil {
					return pipeline.Outcome{}, Fault(err)
				}
			}
			return pipeline.Pass(), nil
		}}}}
}

// build runs the family as a process of its own would.
func build(t *testing.T, s *store.Store, d *Desk) error {
	t.Helper()
	_, err := pipeline.New(s, pipeline.Options{Pools: map[pipeline.Pool]int{pipeline.Model: 1}, Owner: "me", Tries: 1}).Run(t.Context(), judged(d), "")
	return err
}

func states(t *testing.T, s *store.Store) (out map[string]string) {
	t.Helper()
	cs, err := s.Candidates(t.Context(), store.Filter{})
	ok(t, err)
	out = map[string]string{}
	for _, c := range cs {
		out[c.ID] = strings.TrimSpace(string(c.State) + " " + c.Code)
	}
	return out
}

func TestBuildIsPaidOnce(t *testing.T) {
	t.Parallel()
	c := newClock()
	dir, server := t.TempDir(), modeltest.New(t, script)
	s := openStore(t, dir, c)
	config := Config{Config: server.Config("m")}
	ok(t, build(t, s, openDesk(t, s, config, Options{})))
	same(t, "states", states(t, s), map[string]string{"a": "admitted", "b": "admitted"})
	same(t, "requests", server.Requests(), 4)
	spent, _ := totals(t, s)
	same(t, "spent", spent, 4*replyCosts)

	// Judged anew, from the store alone and without a key or a server.
	for _, id := range []string{"a", "b"} {
		ok(t, s.Reopen(t.Context(), id, store.Review{Decision: "reopen", By: "me"}))
	}
	ok(t, build(t, s, openDesk(t, s, config, Options{ReplayOnly: true})))
	same(t, "states", states(t, s), map[string]string{"a": "admitted", "b": "admitted"})
	same(t, "requests", server.Requests(), 4)
	_, err := s.AddCandidates(t.Context(), []store.Candidate{{ID: "c", Family: "toy", Repo: "o/r", Data: []byte("{}")}})
	ok(t, err)
	if err := build(t, s, openDesk(t, s, config, Options{ReplayOnly: true})); !errors.Is(err, model.ErrNotStored) {
		t.Errorf("got %v, want ErrNotStored", err)
	}
	same(t, "states", states(t, s), map[string]string{"a": "admitted", "b": "admitted", "c": "open"})
	sound(t, s)
}

// A question of these may cost some 2,100 millionths, and costs 20.
func TestBuildWithinBudgets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		budget Budget
		want   error
		ends   map[string]int // how many candidates stand how
	}{
		{"enough", Budget{RunUSD: usd(2300), CandidateUSD: usd(2300)}, nil, map[string]int{"admitted": 2}},
		{"too little for a candidate", Budget{CandidateUSD: usd(100)}, nil, map[string]int{"held budget": 2}},
		{"too little for the run", Budget{RunUSD: usd(100)}, pipeline.ErrBudget, map[string]int{"open": 2}},
		{"too little for the stage", Budget{StageUSD: map[string]USD{"judge": 0}}, pipeline.ErrBudget, map[string]int{"open": 2}},
		{"too little for both candidates", Budget{StoreUSD: usd(2150)}, pipeline.ErrBudget, map[string]int{"admitted": 1, "open": 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t, script)
			s := openStore(t, t.TempDir(), newClock())
			err := build(t, s, openDesk(t, s, Config{Config: server.Config("m"), Budget: tc.budget}, Options{}))
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			ends := map[string]int{}
			for _, state := range states(t, s) {
				ends[state]++
			}
			same(t, "ends", ends, tc.ends)
			spent, _ := totals(t, s)
			same(t, "spent", spent, int64(server.Requests()*replyCosts))
			sound(t, s)
		})
	}
}

func TestFault(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), newClock())
	aborts := func(err error) bool {
		f := &pipeline.Family{Name: "toy", Stages: []pipeline.Stage{{Name: "judge", Version: 1, Pool: pipeline.Model,
			Run: func(context.Context, *pipeline.Case) (pipeline.Outcome, error) { return pipeline.Outcome{}, Fault(err) }}}}
		_, rerr := pipeline.New(s, pipeline.Options{Owner: "me", Tries: 1}).Run(t.Context(), f, "")
		return rerr != nil
	}
	for _, tc := range []struct {
		err                error
		abort, isPermanent bool
	}{
		{model.ErrConfig, true, false},
		{model.ErrNotStored, true, false},
		{model.ErrTooLong, false, true},
		{model.ErrFiltered, false, true},
		{model.ErrRejected, false, true},
		{evidence.ErrCase, false, true},
		{judges.ErrNoVerdict, false, true},
		{model.ErrTransient, false, false},
		{model.ErrBusy, false, false},
	} {
		err := fmt.Errorf("asking: %w", tc.err)
		if !errors.Is(Fault(err), tc.err) || pipeline.IsPermanent(Fault(err)) != tc.isPermanent || aborts(err) != tc.abort {
			t.Errorf("%v: permanent %v, ends the run %v", tc.err, pipeline.IsPermanent(Fault(err)), aborts(err))
		}
	}
	same(t, "no error", Fault(nil), nil)
}

func TestOpenChecks(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), newClock())
	if _, err := Open(t.Context(), s, Config{Disagree: "maybe"}, Options{Clock: time.Now}); !errors.Is(err, model.ErrConfig) {
		t.Errorf("got %v, want ErrConfig", err)
	}
	d := openDesk(t, s, Config{}, Options{})
	same(t, "panel without models", d.Panel("clarity").Models, nil)
	same(t, "disagreement", d.Disagreement(), DisagreeRejects)
	if _, err := ask(t.Context(), d.Bench("", ""), "?"); !errors.Is(err, model.ErrConfig) {
		t.Errorf("got %v, want ErrConfig", err)
	}
}

// What a run leaves reserved, since its end could not be recorded, is uncertain when the run closes.
func TestCloseEndsTheRun(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), newClock())
	first, second := openDesk(t, s, Config{}, Options{}), openDesk(t, s, Config{}, Options{})
	for _, d := range []*Desk{first, second} {
		reserve(t, d.ledger, question("of "+d.Run(), 5))
	}
	ok(t, first.Close(t.Context()))
	calls, err := s.ModelCalls(t.Context(), "")
	ok(t, err)
	got := map[string]store.CallState{}
	for _, c := range calls {
		got[c.Run] = c.State
	}
	same(t, "states", got, map[string]store.CallState{first.Run(): store.Uncertain, second.Run(): store.Reserved})
}

// BenchmarkCached measures answers that are in the store: found, verified, and their use noted. A question has 20 kB of evidence.
func BenchmarkCached(b *testing.B) {
	server := modeltest.New(b, modeltest.Always(modeltest.Reply{Text: strings.Repeat("because ", 200), Input: 10, Output: 5}))
	s := openStore(b, b.TempDir(), newClock())
	d := openDesk(b, s, Config{Config: server.Config("m")}, Options{})
	const questions = 500
	text := strings.Repeat("+\tif a < b && c > 0 { return errors.New(\"a line of a diff\") }\n", 320)
	for i := range questions {
		_, err := ask(b.Context(), d.Bench("", "judge"), fmt.Sprint(i, text))
		ok(b, err)
	}
	n := 0
	for b.Loop() {
		a, err := ask(b.Context(), d.Bench("", fmt.Sprint("stage-", n/questions)), fmt.Sprint(n%questions, text)) // each use is a new one
		if ok(b, err); !a.Cached {
			b.Fatal("it was asked again")
		}
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(n)*10, "s/10000")
	same(b, "requests", server.Requests(), questions)
}

// BenchmarkPaid measures new questions of a server that takes 50 ms for each and is asked 16 at once, by 24 that ask: of-ideal is the share
// of the rate that the server allows. Money is put aside, and each reply is on disk before its question counts as answered.
func BenchmarkPaid(b *testing.B) {
	const latency, at, callers = 50 * time.Millisecond, 16, 24
	server := modeltest.New(b, modeltest.Always(modeltest.Reply{Text: strings.Repeat("because ", 200), Input: 10, Output: 5, Wait: latency}))
	s := openStore(b, b.TempDir(), newClock())
	d := openDesk(b, s, Config{Config: server.Config("m"), Budget: Budget{RunUSD: usd(most), StoreUSD: usd(most), CandidateUSD: usd(most)}}, Options{})
	const questions = 1000
	text, n := strings.Repeat("+\tif a < b && c > 0 { return errors.New(\"a line of a diff\") }\n", 320), 0
	for b.Loop() {
		var g errgroup.Group
		g.SetLimit(callers)
		for range questions {
			n++
			question := fmt.Sprint(n, text)
			g.Go(func() error {
				_, err := ask(b.Context(), d.Bench("a", "judge"), question)
				return err
			})
		}
		ok(b, g.Wait())
	}
	ideal := time.Duration(n) * latency / at
	b.ReportMetric(ideal.Seconds()/b.Elapsed().Seconds(), "of-ideal")
	same(b, "requests", server.Requests(), n)
}
