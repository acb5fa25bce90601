package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCandidateRoundTrip(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	want := Candidate{
		ID: "fs-1", Family: "foresight", Repo: "o/r", Data: []byte(`{"introducing":"é","n":[1]}`), Order: 7, Generation: 3,
		Position: Position{State: Failed, Stage: "env", Code: "timeout", Reason: "took too long", Transient: true, Plan: "sha256:1"},
	}
	_, err := s.AddCandidates(t.Context(), []Candidate{want})
	ok(t, err)
	got, err := s.Candidate(t.Context(), "fs-1")
	ok(t, err)
	same(t, "candidate", got, want)
	if _, err := s.Candidate(t.Context(), "fs-2"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestAddCandidatesLeavesOldOnes(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1")
	ok(t, s.SetPosition(t.Context(), "is-1", Position{State: Admitted, Stage: "last"}))
	changed := candidate("is-1")
	changed.Data = []byte(`{"n":2}`)
	n, err := s.AddCandidates(t.Context(), []Candidate{changed, candidate("is-2"), candidate("is-2")})
	ok(t, err)
	same(t, "added", n, 1)
	got, err := s.Candidate(t.Context(), "is-1")
	ok(t, err)
	same(t, "data", string(got.Data), `{"n":1}`)
	same(t, "state", got.State, Admitted)
}

func TestAddCandidatesInChunks(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	all := numbered(2*chunk + 3)
	add(t, s, all...)
	got, err := s.Candidates(t.Context(), Filter{})
	ok(t, err)
	same(t, "ids", ids(got), all)
}

func TestAddCandidatesRefusesNonsense(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	odd := candidate("is-1")
	odd.State = "lost"
	for _, c := range []Candidate{odd, candidate("")} {
		if n, err := s.AddCandidates(t.Context(), []Candidate{candidate("is-0"), c}); err == nil || n != 0 {
			t.Errorf("added %d of %+v: %v", n, c, err)
		}
	}
	got, err := s.Candidates(t.Context(), Filter{})
	ok(t, err)
	same(t, "candidates", got, nil)
}

func TestCandidatesFilterAndOrder(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	var cs []Candidate
	for _, d := range []struct {
		id, family, repo string
		order            int64
		state            State
		stage, code      string
	}{
		{"z-1", "issue", "a/a", 1, Open, "build", ""},
		{"a-1", "issue", "a/a", 2, Rejected, "build", "no-tests"},
		{"A-1", "issue", "a/a", 2, Held, "judge", "unclear"},
		{"b-1", "foresight", "b/b", 9, Rejected, "judge", "no-tests"},
		{"c-1", "issue", "B/b", 0, Admitted, "last", ""},
	} {
		cs = append(cs, Candidate{ID: d.id, Family: d.family, Repo: d.repo, Order: d.order,
			Position: Position{State: d.state, Stage: d.stage, Code: d.code}})
	}
	_, err := s.AddCandidates(t.Context(), cs)
	ok(t, err)
	for _, tc := range []struct {
		f    Filter
		want string
	}{
		{Filter{}, "b-1 c-1 z-1 A-1 a-1"},
		{Filter{Family: "issue"}, "c-1 z-1 A-1 a-1"},
		{Filter{Repo: "b/b"}, "b-1"},
		{Filter{Stage: "judge"}, "b-1 A-1"},
		{Filter{Code: "no-tests"}, "b-1 a-1"},
		{Filter{Code: "no-tests", Family: "issue"}, "a-1"},
		{Filter{IDPrefix: "a"}, "a-1"},
		{Filter{States: []State{Held, Rejected}}, "b-1 A-1 a-1"},
		{Filter{States: []State{Failed}}, ""},
		{Filter{IDPrefix: "%"}, ""},
		{Filter{Repo: "' OR 1=1 --"}, ""},
	} {
		got, err := s.Candidates(t.Context(), tc.f)
		ok(t, err)
		same(t, fmt.Sprintf("%+v", tc.f), strings.Join(ids(got), " "), tc.want)
	}
}

func TestCandidateByPrefix(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-ab", "is-abc", "is-b", "is-b1", "is-b2", "is-b3", "is-b4")
	for _, tc := range []struct {
		prefix, want string
		err          error
	}{
		{"is-abc", "is-abc", nil},
		{"is-ab", "is-ab", nil}, // an id is not ambiguous
		{"is-a", "", ErrAmbiguous},
		{"is-b4", "is-b4", nil},
		{"is-x", "", ErrNotFound},
		{"IS-ABC", "", ErrNotFound},
		{"", "", ErrNotFound},
	} {
		got, err := s.CandidateByPrefix(t.Context(), tc.prefix)
		if !errors.Is(err, tc.err) {
			t.Errorf("%q: got %v, want %v", tc.prefix, err, tc.err)
		}
		same(t, tc.prefix, got.ID, tc.want)
	}
	_, err := s.CandidateByPrefix(t.Context(), "is-a")
	if err == nil || !strings.Contains(err.Error(), "is-ab, is-abc") {
		t.Errorf("the error names no ids: %v", err)
	}
}

func TestSetPosition(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1", "is-2")
	want := Position{State: Failed, Stage: "env", Code: "error", Reason: "no network", Transient: true, Plan: "p"}
	ok(t, s.SetPosition(t.Context(), "is-1", want))
	got, err := s.Candidate(t.Context(), "is-1")
	ok(t, err)
	same(t, "position", got.Position, want)
	other, err := s.Candidate(t.Context(), "is-2")
	ok(t, err)
	same(t, "the other's", other.Position, Position{State: Open})
	if err := s.SetPosition(t.Context(), "is-3", want); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if err := s.SetPosition(t.Context(), "is-1", Position{State: "lost"}); err == nil {
		t.Error("an unknown state was taken")
	}
}

func TestFunnel(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1", "is-2", "is-3")
	other := candidate("fs-1")
	other.Family, other.Repo = "foresight", "x/y"
	_, err := s.AddCandidates(t.Context(), []Candidate{other})
	ok(t, err)
	for _, id := range []string{"is-1", "is-3"} {
		ok(t, s.SetPosition(t.Context(), id, Position{State: Rejected, Stage: "build", Code: "no-tests"}))
	}
	foresight := FunnelRow{"foresight", "", Open, "", 1}
	issue := []FunnelRow{{"issue", "", Open, "", 1}, {"issue", "build", Rejected, "no-tests", 2}}
	for _, tc := range []struct {
		family, repo string
		want         []FunnelRow
	}{
		{"", "", append([]FunnelRow{foresight}, issue...)},
		{"issue", "", issue},
		{"", "x/y", []FunnelRow{foresight}},
		{"issue", "x/y", nil},
	} {
		got, err := s.Funnel(t.Context(), tc.family, tc.repo)
		ok(t, err)
		same(t, tc.family+" "+tc.repo, got, tc.want)
	}
}
