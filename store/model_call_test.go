package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// question is one whose answer is expected to cost up to 500 millionths and 90 tokens.
func question(request, candidate string) ModelCall {
	return ModelCall{Request: request, Candidate: candidate, Stage: "judge", Run: "r1", Owner: "me", Prompt: "clarity", Version: 2, Model: "m-1",
		Reserved: 500, Tokens: 90}
}

func allow(ModelTotals) error { return nil }

func reserve(t tb, s *Store, c ModelCall) int64 {
	t.Helper()
	id, err := s.ReserveModelCall(t.Context(), c, allow)
	ok(t, err)
	return id
}

// settle ends a call with a reply that cost 120 millionths and 30 tokens.
func settle(t tb, s *Store, id int64, reply string) ModelCall {
	t.Helper()
	c := ModelCall{ID: id, MicroUSD: 120, Tokens: 30, Input: 20, Cached: 5, Output: 10, Latency: time.Second, Exchange: put(t, s, reply)}
	ok(t, s.SettleModelCall(t.Context(), c))
	return c
}

func TestModelCallEndsOnce(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1")
	want := question("q1", "is-1")
	want.ID, want.Began = reserve(t, s, want), c.Now()
	if _, err := s.ReserveModelCall(t.Context(), question("q1", ""), allow); !errors.Is(err, ErrAsked) {
		t.Errorf("asked twice at once: %v", err)
	}
	_, found, err := s.ModelCall(t.Context(), "q1")
	ok(t, err)
	same(t, "found before the reply", found, false)
	c.advance(time.Second)
	end := settle(t, s, want.ID, "yes")
	want.State, want.Ended = Settled, c.Now()
	want.MicroUSD, want.Tokens, want.Input, want.Cached, want.Output, want.Latency, want.Exchange =
		end.MicroUSD, end.Tokens, end.Input, end.Cached, end.Output, end.Latency, end.Exchange
	got, found, err := s.ModelCall(t.Context(), "q1")
	ok(t, err)
	same(t, "found", found, true)
	same(t, "call", got, want)
	for name, err := range map[string]error{
		"settle":  s.SettleModelCall(t.Context(), end),
		"release": s.ReleaseModelCall(t.Context(), want.ID, "again"),
		"lose":    s.LoseModelCall(t.Context(), want.ID, "again"),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	if _, err := s.ReserveModelCall(t.Context(), question("q1", ""), allow); !errors.Is(err, ErrExists) {
		t.Errorf("paid twice: %v", err)
	}
	clean(t, s)
}

// What was released or is uncertain may be asked anew; what is uncertain stays counted.
func TestModelCallAskedAnew(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1")
	ok(t, s.ReleaseModelCall(t.Context(), reserve(t, s, question("q1", "is-1")), "too many requests"))
	ok(t, s.LoseModelCall(t.Context(), reserve(t, s, question("q1", "is-1")), "silence"))
	settle(t, s, reserve(t, s, question("q1", "is-1")), "yes")
	reserve(t, s, question("q2", ""))
	var got ModelTotals
	refused := errors.New("no")
	c := question("q3", "is-1")
	c.Run, c.Owner = "r2", "you"
	if _, err := s.ReserveModelCall(t.Context(), c, func(m ModelTotals) error { got = m; return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v, want the gate's error", err)
	}
	same(t, "totals of another run", got, ModelTotals{Store: Sum{1120, 210}, Candidate: Sum{620, 120}})
	_, err := s.ReserveModelCall(t.Context(), question("q3", ""), func(m ModelTotals) error { got = m; return nil })
	ok(t, err)
	same(t, "totals", got, ModelTotals{Store: Sum{1120, 210}, Run: Sum{1120, 210}, Stage: Sum{1120, 210}})
	calls, err := s.ModelCalls(t.Context(), "is-1")
	ok(t, err)
	var states []CallState
	for _, c := range calls {
		states = append(states, c.State)
	}
	same(t, "states", states, []CallState{Released, Uncertain, Settled})
	clean(t, s)
}

func TestAbandonModelCalls(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	for _, owner := range []string{"dead", "living", "dead"} {
		c := question("q", "")
		c.Owner, c.Request = owner, owner+c.Request
		if owner == "dead" {
			_, err := s.AbandonModelCalls(t.Context(), "dead", func(c ModelCall) bool { return c.Owner == "dead" })
			ok(t, err)
		}
		reserve(t, s, c)
	}
	n, err := s.AbandonModelCalls(t.Context(), "dead", func(c ModelCall) bool { return c.Owner == "dead" })
	ok(t, err)
	same(t, "abandoned", n, 1)
	calls, err := s.ModelCalls(t.Context(), "")
	ok(t, err)
	var got [][2]string
	for _, c := range calls {
		got = append(got, [2]string{c.Owner, string(c.State)})
	}
	same(t, "calls", got, [][2]string{{"dead", "uncertain"}, {"living", "reserved"}, {"dead", "uncertain"}})
}

func TestModelCallRefuses(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	if _, err := s.ReserveModelCall(t.Context(), question("q1", "is-9"), allow); !errors.Is(err, ErrNotFound) {
		t.Errorf("for a candidate that is not there: %v", err)
	}
	id := reserve(t, s, question("q1", ""))
	if err := s.SettleModelCall(t.Context(), ModelCall{ID: id, Exchange: Digest([]byte("never put"))}); !errors.Is(err, ErrMissing) {
		t.Errorf("a reply that is not there: %v", err)
	}
	if err := s.UseModelCall(t.Context(), "q1", "", "judge"); !errors.Is(err, ErrNotFound) {
		t.Errorf("used before there was a reply: %v", err)
	}
	settle(t, s, id, "yes")
	for _, q := range []string{
		`DELETE FROM model_call`, `UPDATE model_call SET micro_usd = 0`, `UPDATE model_call SET state = 'reserved'`,
	} {
		if _, err := s.exec(t.Context(), q); err == nil {
			t.Errorf("%s: the ledger let it pass", q)
		}
	}
	open := reserve(t, s, question("q2", ""))
	if _, err := s.exec(t.Context(), `UPDATE model_call SET request = 'q3' WHERE id = ?`, open); err == nil {
		t.Error("a request was changed")
	}
	if _, err := s.exec(t.Context(), `UPDATE model_call SET state = 'settled' WHERE id = ?`, open); err == nil {
		t.Error("settled without a reply")
	}
}

// A use is noted without waiting for the disk; what is written next waits again.
func TestUseLeavesWritesDurable(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	settle(t, s, reserve(t, s, question("q1", "")), "yes")
	ok(t, s.UseModelCall(t.Context(), "q1", "", "judge"))
	if err := s.UseModelCall(t.Context(), "q1", "is-9", "judge"); !errors.Is(err, ErrNotFound) {
		t.Errorf("used for a candidate that is not there: %v", err)
	}
	ctx, cancel := cancelled(t)
	defer cancel()
	if err := s.UseModelCall(ctx, "q1", "", "leak"); err == nil {
		t.Error("noted for nobody")
	}
	modes, err := list(t.Context(), s.w, scanOne[string], `PRAGMA synchronous`)
	ok(t, err)
	same(t, "synchronous", modes, []string{"2"})
	uses, err := list(t.Context(), s.r, scanOne[string], `SELECT stage FROM model_use`)
	ok(t, err)
	same(t, "uses", uses, []string{"judge"})
}

func TestModelCosts(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1", "is-2")
	ok(t, s.SetPosition(t.Context(), "is-1", Position{State: Admitted, Stage: "judge"}))
	settle(t, s, reserve(t, s, question("q1", "is-1")), "yes")
	settle(t, s, reserve(t, s, question("q2", "is-1")), "no")
	ok(t, s.LoseModelCall(t.Context(), reserve(t, s, question("q3", "is-1")), "silence"))
	ok(t, s.ReleaseModelCall(t.Context(), reserve(t, s, question("q3", "is-1")), "busy"))
	reserve(t, s, question("q4", ""))
	for range 3 {
		ok(t, s.UseModelCall(t.Context(), "q1", "is-2", "judge"))
		ok(t, s.UseModelCall(t.Context(), "q1", "", "judge"))
	}
	one := ModelCost{Candidate: "is-1", State: Admitted, Stage: "judge", Model: "m-1", Settled: 2, Released: 1, Uncertain: 1, Input: 40, Cached: 10,
		Output: 20, Latency: 2 * time.Second, SettledUSD: 240, UncertainUSD: 500}
	two := ModelCost{Candidate: "is-2", State: Open, Stage: "judge", Model: "m-1", Used: 1}
	none := ModelCost{Stage: "judge", Model: "m-1", Used: 1, Reserved: 1, ReservedUSD: 500}
	for _, tc := range []struct {
		family, repo string
		want         []ModelCost
	}{
		{"", "", []ModelCost{none, one, two}},
		{"issue", "o/r", []ModelCost{one, two}},
		{"chain", "", nil},
	} {
		got, err := s.ModelCosts(t.Context(), tc.family, tc.repo)
		ok(t, err)
		same(t, "costs of "+tc.family+tc.repo, got, tc.want)
	}
}

// A store of the version before kept replies alone, without runs and stages.
func TestMigrationKeepsModelCalls(t *testing.T) {
	t.Parallel()
	db, err := connect(filepath.Join(t.TempDir(), "x.db"), map[string][]string{})
	ok(t, err)
	defer db.Close()
	m, err := migrator(db)
	ok(t, err)
	_, err = m.UpTo(t.Context(), 2)
	ok(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO candidate VALUES ('is-1', 'issue', 'o/r', 0, 0, 'open', '', '', '', 0, '', 0, '{}');
		INSERT INTO model_call VALUES ('q2', 'is-1', 'clarity', '3', 'm-1', 'sha256:b', 20, 10, 120, 1000, 5000),
			('q1', NULL, 'leak', 'v2', 'm-2', 'sha256:a', 1, 2, 3, 4, 50)`)
	ok(t, err)
	const dump = `SELECT request || ' ' || prompt || ' ' || prompt_version || ' ' || reply || ' ' || micro_usd || ' ' || at FROM model_call ORDER BY 1`
	schemaBefore := schema(t, db)
	_, err = m.Up(t.Context())
	ok(t, err)
	got, err := list(t.Context(), db, scanModelCall, `SELECT `+modelCallColumns+` FROM model_call ORDER BY id`)
	ok(t, err)
	note := "kept by an older sluice: the reply alone, prompt version "
	same(t, "calls", got, []ModelCall{
		{ID: 1, Request: "q1", Prompt: "leak", Version: 0, Model: "m-2", State: Settled, Reserved: 3, MicroUSD: 3, Tokens: 3, Input: 1, Output: 2,
			Latency: 4, Exchange: "sha256:a", Note: note + "v2", Began: moment(46), Ended: moment(50)},
		{ID: 2, Request: "q2", Candidate: "is-1", Prompt: "clarity", Version: 3, Model: "m-1", State: Settled, Reserved: 120, MicroUSD: 120,
			Tokens: 30, Input: 20, Output: 10, Latency: 1000, Exchange: "sha256:b", Note: note + "3", Began: moment(4000), Ended: moment(5000)},
	})
	totals, err := list(t.Context(), db, scanOne[string],
		`SELECT scope || ':' || name || ':' || micro_usd || ':' || tokens FROM model_total ORDER BY 1`)
	ok(t, err)
	same(t, "totals", totals, []string{"candidate:is-1:120:30", "run::123:33", "stage: :123:33", "store::123:33"})
	_, err = m.DownTo(t.Context(), 2)
	ok(t, err)
	same(t, "schema after down", schema(t, db), schemaBefore)
	back, err := list(t.Context(), db, scanOne[string], dump)
	ok(t, err)
	same(t, "calls after down", back, []string{"q1 leak 0 sha256:a 3 50", "q2 clarity 3 sha256:b 120 5000"})
}
