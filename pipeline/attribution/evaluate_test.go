package attribution

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
	"sluice/miners/szz"
)

const ledger = `
commit root "m"
commit one "Start (#1)"
commit two "Add y (#2)"
commit fix "Fix x"
commit add "Add z"
commit refix "Fix both"
orphan island
commit stray "m"
-- root/README --
-- one/a.py --
x = 1
-- two/a.py --
x = 1
y = 1
-- fix/a.py --
x = 2
y = 1
-- add/a.py --
x = 2
y = 1
z = 1
-- refix/a.py --
x = 3
y = 3
z = 1
-- stray/b.py --
b = 1
`

// ticking is a clock that moves a millisecond at each look.
func ticking() func() time.Time {
	now := make(chan time.Time, 1)
	now <- time.Unix(0, 0)
	return func() time.Time {
		t := (<-now).Add(time.Millisecond)
		now <- t
		return t
	}
}

func open(t *testing.T) (*gittest.Repo, *Repository) {
	t.Helper()
	g := gittest.Build(t, ledger)
	r, err := Open(t.Context(), g.Dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return g, r
}

// evaluate runs one variant over rows.
func evaluate(t *testing.T, r *Repository, variant string, rows []Truth) Report {
	t.Helper()
	variants, err := ParseVariants(variant)
	if err != nil {
		t.Fatal(err)
	}
	e := Evaluation{Variant: variants[0]}
	if err := e.Add(t.Context(), NewKit(r, nil), rows, Options{Workers: 2, Clock: ticking()}); err != nil {
		t.Fatal(err)
	}
	return e.Report(2)
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	g, r := open(t)
	zeros := strings.Repeat("0", 40)
	rows := []Truth{
		{Repo: "o/r", Fix: g.ID("fix")[:12], Intro: []string{g.ID("one")[:12]}},
		{Repo: "o/r", Fix: g.ID("refix"), Intro: []string{g.ID("two"), zeros}},
		{Repo: "o/r", Fix: g.ID("add"), Intro: []string{g.ID("two")}},
		{Repo: "o/r", Fix: g.ID("two"), Intro: []string{g.ID("stray")}},
		{Repo: "o/r", Fix: zeros, Intro: []string{g.ID("two")}},
		{Repo: "o/r", Fix: g.ID("fix"), Intro: []string{strings.Repeat("1", 40)}},
	}
	for _, variant := range []string{"b", "lines"} {
		got := evaluate(t, r, variant, rows)
		if s := brief(got.Total.Commits); s != "4 rows, set 2/3 2/4 0.57, first 1/2 1/4 0.33, top 1 2" {
			t.Errorf("%s: %s", variant, s)
		}
		if diff := cmp.Diff([]Missing{
			{"o/r", g.ID("refix"), zeros, NoIntroducer}, {"o/r", zeros, "", NoFix}, {"o/r", g.ID("fix"), strings.Repeat("1", 40), NoIntroducer},
			{"o/r", g.ID("two"), g.ID("stray"), Unrelated},
		}, got.Missing); diff != "" {
			t.Errorf("%s: -want +got\n%s", variant, diff)
		}
		if diff := cmp.Diff(map[string]int{szz.AddOnly: 2}, got.Total.Abstentions); diff != "" {
			t.Errorf("%s: -want +got\n%s", variant, diff)
		}
		if got.Total.Time.Workers != 2 || got.Total.Time.FixesPerSecond <= 0 || len(got.Repos) != 1 || got.Repos[0].Repo != "o/r" || got.Strategy == "" {
			t.Errorf("%s: %+v", variant, got)
		}
		if c := got.Total.Changes; c.Rows != 3 {
			t.Errorf("%s: %d rows at the level of changes", variant, c.Rows)
		}
	}
}

// broken fails at one fix.
type broken struct{ at string }

func (broken) Name() string { return "broken" }

func (b broken) Attribute(_ context.Context, fix szz.Fix) (szz.Answer, error) {
	if fix.Commit == b.at {
		return szz.Answer{}, errors.New("git died")
	}
	return szz.Answer{Fix: fix.Commit, Suspects: []szz.Suspect{{Commit: fix.Base}}, Confidence: 0.5}, nil
}

// A fix that fails is named and counts as not answered; the others go on.
func TestEvaluateGoesOn(t *testing.T) {
	t.Parallel()
	g, r := open(t)
	v := Variant{Name: "broken", New: func(context.Context, *Kit) (szz.Strategy, error) { return broken{g.ID("fix")}, nil }}
	e := Evaluation{Variant: v}
	rows := []Truth{{Repo: "o/r", Fix: g.ID("fix"), Intro: []string{g.ID("two")}}, {Repo: "o/r", Fix: g.ID("add"), Intro: []string{g.ID("fix")}}}
	if err := e.Add(t.Context(), NewKit(r, nil), rows, Options{Clock: ticking()}); err != nil {
		t.Fatal(err)
	}
	e.Lost([]Truth{{Repo: "o/gone", Fix: idA}})
	got := e.Report(0)
	if diff := cmp.Diff([]Missing{{"o/gone", idA, "", NoRepository}, {"o/r", g.ID("fix"), "", "failed: git died"}}, got.Missing); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"failed": 1, "repository": 1}, got.NotThere); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.Total.Commits.Top1.N != 1 || got.Total.Abstentions[Failed] != 1 || len(got.Total.Calibration) == 0 {
		t.Errorf("%+v", got.Total)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	g, r := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, broken{}, []szz.Fix{{Commit: g.ID("fix")}}, Options{Clock: ticking()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := NewKit(r, nil).Attribute(ctx, Variants()[0], []string{g.ID("fix")}, Options{Clock: ticking()}); err == nil {
		t.Error("no error")
	}
}

// Every fix has a result, in the order of asking.
func TestAttribute(t *testing.T) {
	t.Parallel()
	g, r := open(t)
	zeros := strings.Repeat("0", 40)
	done := make(chan struct{}, 10)
	o := Options{Workers: 3, Clock: ticking(), Done: func() { done <- struct{}{} }}
	got, err := NewKit(r, nil).Attribute(t.Context(), Variants()[0], []string{g.ID("refix")[:8], zeros, g.ID("add"), g.ID("fix")}, o)
	if err != nil {
		t.Fatal(err)
	}
	var brief []string
	for _, r := range got {
		s := g.Name(r.Fix) + ":"
		for _, x := range r.Suspects {
			s += " " + g.Name(x.Commit)
		}
		brief = append(brief, s+r.Abstained)
	}
	if diff := cmp.Diff([]string{"refix: fix two", zeros + ":missing-object", "add:add-only", "fix: one"}, brief); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(done) != 3 {
		t.Errorf("told %d times", len(done))
	}
}

func TestParseVariants(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{"": "ours", "R, b": "r b", "all": "b ag ma l r ra ours lines"} {
		got, err := ParseVariants(list)
		var names []string
		for _, v := range got {
			names = append(names, v.Name)
			if v.About == "" {
				t.Errorf("nothing is said of %s", v.Name)
			}
		}
		if s := strings.Join(names, " "); err != nil || s != want {
			t.Errorf("%q: %s, %v", list, s, err)
		}
	}
	if _, err := ParseVariants("b,x"); !errors.Is(err, ErrUnknownVariant) {
		t.Errorf("got %v", err)
	}
}
