package store

import (
	"errors"
	"testing"
	"time"
)

func TestCommitRoundTrip(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1", "is-2")
	lease(t, s, "is-1", "me")
	a := attempt(t, s, "is-1", "k1", "reject", "the log")
	a.Evidence = append(a.Evidence, Evidence{Name: "diff", MediaType: "text/x-diff", Digest: put(t, s, "+x"), Size: 2})
	id := commit(t, s, a)
	c.advance(time.Second)
	failed := attempt(t, s, "is-1", "k1", "error", "")
	failed.Transient, failed.Started = true, time.Time{}
	failedID := commit(t, s, failed)

	a.ID, failed.ID = id, failedID
	a.Evidence[0], a.Evidence[1] = a.Evidence[1], a.Evidence[0] // in the order of the names
	got, err := s.Attempts(t.Context(), "is-1")
	ok(t, err)
	same(t, "attempts", got, []Attempt{a, failed})
	one, found, err := s.AttemptByKey(t.Context(), "is-1", "k1")
	ok(t, err)
	same(t, "found", found, true)
	same(t, "attempt by key", one, a)
	cand, err := s.Candidate(t.Context(), "is-1")
	ok(t, err)
	want := place(failed)
	want.Attempt = failedID
	same(t, "position", cand.Position, want)
	none, err := s.Attempts(t.Context(), "is-2")
	ok(t, err)
	same(t, "attempts of another", none, nil)
}

// What Commit refuses leaves nothing behind.
func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(a *Attempt, p *Position, c *clock)
		want   error
	}{
		{"another owner", func(a *Attempt, _ *Position, _ *clock) { a.Owner = "you" }, ErrLeased},
		{"no owner", func(a *Attempt, _ *Position, _ *clock) { a.Owner = "" }, ErrLeased},
		{"no lease", func(a *Attempt, _ *Position, _ *clock) { a.Candidate = "is-2" }, ErrLeased},
		{"expired lease", func(_ *Attempt, _ *Position, c *clock) { c.advance(time.Minute) }, ErrLeased},
		{"same key", func(a *Attempt, _ *Position, _ *clock) { a.Key = "k0" }, ErrExists},
		{"evidence twice", func(a *Attempt, _ *Position, _ *clock) { a.Evidence = append(a.Evidence, a.Evidence[0]) }, ErrExists},
		{"evidence that was never put", func(a *Attempt, _ *Position, _ *clock) { a.Evidence[0].Digest = Digest([]byte("x")) }, ErrMissing},
		{"evidence without a digest", func(a *Attempt, _ *Position, _ *clock) { a.Evidence[0].Digest = "../../etc/passwd" }, nil},
		{"unknown outcome", func(a *Attempt, _ *Position, _ *clock) { a.Outcome = "maybe" }, nil},
		{"unknown state", func(_ *Attempt, p *Position, _ *clock) { p.State = "lost" }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, c := fresh(t)
			add(t, s, "is-1", "is-2")
			lease(t, s, "is-1", "me")
			commit(t, s, attempt(t, s, "is-1", "k0", "pass", ""))
			a := attempt(t, s, "is-1", "k1", "reject", "log")
			p := place(a)
			tc.change(&a, &p, c)
			_, err := s.Commit(t.Context(), a, p)
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			as, err := s.Attempts(t.Context(), "is-1")
			ok(t, err)
			same(t, "attempts", len(as), 1)
			cand, err := s.Candidate(t.Context(), "is-1")
			ok(t, err)
			same(t, "state", cand.State, Open)
			clean(t, s)
		})
	}
}

func TestCommitCancelled(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1")
	lease(t, s, "is-1", "me")
	ctx, cancel := cancelled(t)
	defer cancel()
	a := attempt(t, s, "is-1", "k1", "pass", "")
	if _, err := s.Commit(ctx, a, place(a)); err == nil {
		t.Error("committed")
	}
	commit(t, s, a) // the connection is still good
}

func TestAttemptByKeyNeedsAnOutcome(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1", "is-2")
	lease(t, s, "is-1", "me")
	lease(t, s, "is-2", "me")
	for range 2 { // errors may repeat
		commit(t, s, attempt(t, s, "is-1", "k1", "error", ""))
	}
	_, found, err := s.AttemptByKey(t.Context(), "is-1", "k1")
	ok(t, err)
	same(t, "found an error", found, false)
	commit(t, s, attempt(t, s, "is-1", "k1", "pass", ""))
	commit(t, s, attempt(t, s, "is-2", "k1", "pass", "")) // a key is unique for a candidate only
	commit(t, s, attempt(t, s, "is-1", "k1", "error", ""))
	_, found, err = s.AttemptByKey(t.Context(), "is-1", "k1")
	ok(t, err)
	same(t, "found the pass", found, true)
}

func TestLatestEvidence(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1", "is-2")
	lease(t, s, "is-1", "me")
	_, found, err := s.LatestEvidence(t.Context(), "is-1", "log")
	ok(t, err)
	same(t, "found before", found, false)
	for _, step := range []struct{ key, outcome, data string }{
		{"k1", "pass", "first"}, {"k2", "pass", "second"}, {"k3", "error", "of an error"}, {"k4", "pass", ""},
	} {
		commit(t, s, attempt(t, s, "is-1", step.key, step.outcome, step.data))
	}
	got, found, err := s.LatestEvidence(t.Context(), "is-1", "log")
	ok(t, err)
	same(t, "found", found, true)
	same(t, "evidence", got, Evidence{Name: "log", MediaType: "text/plain", Digest: Digest([]byte("second")), Size: 6})
	_, found, err = s.LatestEvidence(t.Context(), "is-2", "log")
	ok(t, err)
	same(t, "found for another", found, false)
	// When settings return, an older attempt decides again, and its evidence counts.
	old, found, err := s.AttemptByKey(t.Context(), "is-1", "k1")
	ok(t, err)
	same(t, "found the old attempt", found, true)
	ok(t, s.SetPosition(t.Context(), "is-1", Position{State: Admitted, Stage: old.Stage, Attempt: old.ID}))
	got, _, err = s.LatestEvidence(t.Context(), "is-1", "log")
	ok(t, err)
	same(t, "evidence of the deciding attempt", got.Digest, Digest([]byte("first")))
}

func TestLedgerIsAppendOnly(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1")
	lease(t, s, "is-1", "me")
	commit(t, s, attempt(t, s, "is-1", "k1", "pass", "log"))
	for _, q := range []string{
		`UPDATE attempt SET outcome = 'reject'`,
		`DELETE FROM attempt`,
		`UPDATE evidence SET size = 0`,
		`DELETE FROM evidence`,
		`REPLACE INTO evidence SELECT * FROM evidence`, // deletes without saying so
	} {
		if _, err := s.exec(t.Context(), q); err == nil {
			t.Errorf("%s: no error", q)
		}
	}
}
