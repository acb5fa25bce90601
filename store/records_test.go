package store

import (
	"context"
	"errors"
	"testing"
	"time"
)

func cancelled(t *testing.T) (context.Context, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}

func TestRuns(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1")
	late := Run{Key: "a", Kind: "test-run", Label: "h1 #2", Digest: put(t, s, "two"), Candidate: "is-1", Started: c.Now(), Ended: c.Now().Add(1)}
	early := Run{Key: "b", Kind: "test-run", Label: "h1 #1", Digest: put(t, s, "one"), Candidate: "is-1", Started: c.Now().Add(-1)}
	free := Run{Key: "c", Kind: "environment", Digest: put(t, s, "env")}
	for _, r := range []Run{late, early, free} {
		ok(t, s.PutRun(t.Context(), r))
		got, found, err := s.Run(t.Context(), r.Key)
		ok(t, err)
		same(t, "found", found, true)
		same(t, "run", got, r)
	}
	got, err := s.Runs(t.Context(), "is-1")
	ok(t, err)
	same(t, "runs", got, []Run{early, late})
	_, found, err := s.Run(t.Context(), "d")
	ok(t, err)
	same(t, "found another", found, false)
	clean(t, s)
}

func TestPutRunRefuses(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	first := Run{Key: "a", Digest: put(t, s, "one")}
	ok(t, s.PutRun(t.Context(), first))
	for _, tc := range []struct {
		r    Run
		want error
	}{
		{Run{Key: "a", Digest: put(t, s, "two")}, ErrExists},
		{Run{Key: "b", Digest: Digest([]byte("never put"))}, ErrMissing},
		{Run{Key: "c", Digest: first.Digest, Candidate: "is-9"}, ErrNotFound},
	} {
		if err := s.PutRun(t.Context(), tc.r); !errors.Is(err, tc.want) {
			t.Errorf("%+v: got %v, want %v", tc.r, err, tc.want)
		}
	}
	got, _, err := s.Run(t.Context(), "a")
	ok(t, err)
	same(t, "the first run", got, first)
}

func TestReopen(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1")
	lease(t, s, "is-1", "me")
	commit(t, s, attempt(t, s, "is-1", "k1", "reject", ""))
	r := Review{Candidate: "is-1", Decision: "reopen", Note: "the judge misread it", By: "ann", At: c.Now()}
	if err := s.Reopen(t.Context(), "is-1", r); !errors.Is(err, ErrLeased) {
		t.Errorf("re-opened under a process' hands: %v", err)
	}
	ok(t, s.Unlease(t.Context(), "is-1", "me"))
	note := Review{Candidate: "is-1", Decision: "agree", By: "bob", At: c.Now()}
	ok(t, s.AddReview(t.Context(), note))
	ok(t, s.Reopen(t.Context(), "is-1", r))
	got, err := s.Candidate(t.Context(), "is-1")
	ok(t, err)
	want := candidate("is-1")
	want.Generation, want.State = 1, Open
	same(t, "candidate", got, want)
	rs, err := s.Reviews(t.Context(), "is-1")
	ok(t, err)
	same(t, "reviews", rs, []Review{note, r})
	for _, of := range []struct {
		family, repo string
		want         []Review
	}{{"", "", rs}, {want.Family, want.Repo, rs}, {"another", "", []Review{}}, {"", "another/one", []Review{}}} {
		all, err := s.AllReviews(t.Context(), of.family, of.repo)
		ok(t, err)
		if len(all) != len(of.want) {
			t.Errorf("reviews of %q %q: %+v", of.family, of.repo, all)
		}
	}
	if err := s.Reopen(t.Context(), "is-2", r); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestReleases(t *testing.T) {
	t.Parallel()
	s, c := fresh(t)
	add(t, s, "is-1", "is-2", "is-3")
	second := Release{Name: "a", Digest: put(t, s, "manifest 2"), Created: c.Now().Add(time.Hour), Candidates: []string{"is-3", "is-1"}}
	first := Release{Name: "b", Digest: put(t, s, "manifest 1"), Created: c.Now()}
	ok(t, s.PutRelease(t.Context(), second))
	ok(t, s.PutRelease(t.Context(), first))
	for _, tc := range []struct {
		r    Release
		want error
	}{
		{Release{Name: "a", Digest: first.Digest}, ErrExists},
		{Release{Name: "c", Digest: first.Digest, Candidates: []string{"is-1", "is-1"}}, ErrExists},
		{Release{Name: "c", Digest: first.Digest, Candidates: []string{"is-9"}}, ErrNotFound},
		{Release{Name: "c", Digest: Digest(nil)}, ErrMissing},
	} {
		if err := s.PutRelease(t.Context(), tc.r); !errors.Is(err, tc.want) {
			t.Errorf("%+v: got %v, want %v", tc.r, err, tc.want)
		}
	}
	got, err := s.Releases(t.Context())
	ok(t, err)
	same(t, "releases", got, []Release{first, second})
}

func TestMarks(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	read := func(want string, wantFound bool) {
		t.Helper()
		got, found, err := s.Mark(t.Context(), "mined:issue:o/r")
		ok(t, err)
		same(t, "value", got, want)
		same(t, "found", found, wantFound)
	}
	read("", false)
	ok(t, s.PutMark(t.Context(), "mined:issue:o/r", "1"))
	ok(t, s.PutMark(t.Context(), "mined:issue:x/y", "3"))
	ok(t, s.PutMark(t.Context(), "mined:issue:o/r", "2"))
	read("2", true)
}
