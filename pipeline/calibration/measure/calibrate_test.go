package measure

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline/calibration"
	"sluice/pipeline/foresight"
	"sluice/pipeline/judging"
	"sluice/store"
)

func (f fixture) names(chains []calibration.Chain) map[string]string {
	out := map[string]string{}
	for _, c := range chains {
		end := "abstains: " + c.Why
		if c.Proposed != "" {
			end = f.repo.Name(c.Proposed) + " " + c.Code + c.Failed
		}
		out[f.repo.Name(c.Fix)+" of "+f.repo.Name(c.Truth)] = end
	}
	return out
}

func TestRun(t *testing.T) {
	t.Parallel()
	f := build(t)
	s := modeltest.New(t, knowing)
	rep, err := Run(t.Context(), f.config(f.desk(t, s, false)))
	ok(t, err)
	want := map[string]string{
		"fixdivide of divide": "divide A", "fixjoin of join": "layout C2", "fixadd of join": "abstains: new-files-only", "fixboth of join": "both A",
	}
	if diff := cmp.Diff(want, f.names(rep.Judged[0].Chains)); diff != "" {
		t.Error(diff)
	}
	got := rep.Judged[0].Total
	if got.Chains != 4 || got.Abstained != 1 || got.Matched != 2 || got.Missed != 1 || got.Judged != 3 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	if got.Before.K != 1 || got.Before.N != 3 || got.After.K != 0 || got.After.N != 2 || got.Yield.K != 2 || got.RejectedWrong.K != 1 {
		t.Errorf("%+v", got)
	}
	if m := rep.Judged[0].Maker; m == nil || m.String() != "m, rule all, szz-attribution version 1" {
		t.Errorf("made by %v", m)
	}
	if s.Requests() != 3 || rep.Judged[0].Paid == 0 {
		t.Errorf("%d requests, $%s", s.Requests(), rep.Judged[0].Paid)
	}
	if r := rep.Judged[1]; r.Judge != calibration.RulesName || r.Total.Judged != 3 || r.Total.Before != got.Before {
		t.Errorf("rules: %+v", r.Total)
	}

	again, err := Run(t.Context(), f.config(f.desk(t, s, true)))
	ok(t, err)
	if s.Requests() != 3 || again.Judged[0].Paid != 0 {
		t.Errorf("the second run sent %d requests", s.Requests()-3)
	}
	again.Judged[0].Paid = rep.Judged[0].Paid
	if diff := cmp.Diff(rep, again); diff != "" {
		t.Error(diff)
	}
}

// TestBlind: nothing in a question names the change that testimony names, or says that somebody did.
func TestBlind(t *testing.T) {
	t.Parallel()
	f := build(t)
	s := modeltest.New(t, knowing)
	_, err := Run(t.Context(), f.config(f.desk(t, s, false)))
	ok(t, err)
	asked := 0
	for _, seen := range s.Seen() {
		body := string(seen.Body)
		for _, never := range []string{"regression from", "Fixes:", f.repo.IDs["join"][:7], f.repo.IDs["both"][:7], f.repo.IDs["divide"][:7], "(#"} {
			if strings.Contains(body, never) {
				t.Errorf("a question holds %q", never)
			}
		}
		// The title of the named change stands in the list of later changes or as the proposed change's own, never in the fix's words.
		if strings.Contains(body, "No words give no text") {
			asked++
			if strings.Contains(body, "Join words") {
				t.Error("the question about the fix of joining names the change that joins")
			}
		}
	}
	if asked != 1 {
		t.Errorf("%d questions about the fix of joining", asked)
	}
}

func TestRunWithoutModels(t *testing.T) {
	t.Parallel()
	f := build(t)
	rep, err := Run(t.Context(), f.config(nil))
	ok(t, err)
	if len(rep.Judged) != 1 || rep.Judged[0].Judge != calibration.RulesName || rep.Judged[0].Total.Missed != 1 || rep.Judged[0].Maker != nil {
		t.Fatalf("%+v", rep.Judged)
	}
	if len(rep.Rules) != 0 || len(rep.People) != 0 {
		t.Errorf("%+v %+v", rep.Rules, rep.People)
	}
}

// TestRunFailures: what concerns a question costs its chain; what every question would meet ends the run and loses nothing.
func TestRunFailures(t *testing.T) {
	t.Parallel()
	f := build(t)
	s := modeltest.New(t, func(r modeltest.Request) modeltest.Reply {
		switch text := slot(r, "task_text"); {
		case strings.Contains(text, "Divide"):
			return modeltest.TooLong()["OpenAI"]
		case strings.Contains(text, "Count"):
			return modeltest.Text("I would rather not say.")
		}
		return knowing(r)
	})
	rep, err := Run(t.Context(), f.config(f.desk(t, s, false)))
	ok(t, err)
	want := map[string]string{
		"fixdivide of divide": "divide too-long", "fixjoin of join": "layout C2", "fixadd of join": "abstains: new-files-only", "fixboth of join": "both no-verdict",
	}
	if diff := cmp.Diff(want, f.names(rep.Judged[0].Chains)); diff != "" {
		t.Error(diff)
	}
	got := rep.Judged[0].Total
	if diff := cmp.Diff(map[string]int{"too-long": 1, "no-verdict": 1}, got.Failures); diff != "" || got.Failed != 2 || got.Judged != 1 {
		t.Errorf("%+v %s", got, diff)
	}

	g := build(t)
	if _, err = Run(t.Context(), g.config(g.desk(t, s, true))); !errors.Is(err, model.ErrNotStored) {
		t.Errorf("nothing stored: %v", err)
	}
	little := judging.USD(1)
	_, err = Run(t.Context(), g.config(g.desk(t, s, false, func(c *judging.Config) { c.Budget.RunUSD = &little })))
	if !errors.Is(err, model.ErrBudget) {
		t.Errorf("no budget: %v", err)
	}
	if _, kept, err := calibration.Load(t.Context(), g, foresight.Name, "ada/words"); kept || err != nil {
		t.Errorf("half a run is kept: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = Run(ctx, g.config(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	f := build(t)
	if _, kept, err := calibration.Load(t.Context(), f, foresight.Name, "ada/words"); kept || err != nil {
		t.Fatalf("%v %v", kept, err)
	}
	s := modeltest.New(t, knowing)
	_, err := Run(t.Context(), f.config(f.desk(t, s, false)))
	ok(t, err)
	_, err = Run(t.Context(), f.config(nil)) // without models: the panel's part stays
	ok(t, err)
	k, kept, err := calibration.Load(t.Context(), f, foresight.Name, "ada/words")
	ok(t, err)
	panel, both := k.Of(judges.Attribution)
	if _, rules := k.Of(calibration.RulesName); !kept || !both || !rules || k.Stale != 0 || len(panel.Chains) != 4 {
		t.Fatalf("%+v", k)
	}
	if string(panel.Maker.Models) != `{"m":{"id":"m","max_output":1000,"temperature":0}}` {
		t.Errorf("%s", panel.Maker.Models)
	}
	if n, _, err := f.GC(t.Context(), -365*24*time.Hour); err != nil || n != 0 { // both runs left the same
		t.Errorf("%d blobs collected, %v", n, err)
	}
	if _, kept, err := calibration.Load(t.Context(), f, foresight.Name, "ada/words"); !kept || err != nil {
		t.Errorf("kept %v, %v", kept, err)
	}
	ok(t, f.Reopen(t.Context(), panel.Chains[0].Candidate, store.Review{Decision: "reopen", By: "robin", At: day()}))
	ps, err := f.Check(t.Context())
	if err != nil || len(ps) > 0 {
		t.Errorf("%v %v", ps, err)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	f := build(t)
	s := modeltest.New(t, knowing)
	all, err := f.Candidates(t.Context(), store.Filter{Family: foresight.Name})
	ok(t, err)
	byTitle := map[string]string{}
	for _, c := range all {
		p, err := foresight.Decode(c)
		ok(t, err)
		byTitle[f.repo.Name(p.Fix.Head)] = c.ID
	}
	for _, r := range []struct{ fix, judge, code, by string }{
		{"fixdivide", judges.Attribution, "A", "ada"}, {"fixdivide", judges.Attribution, "C3", "ada"}, // the first counts
		{"fixdivide", judges.Attribution, "C2", "bob"}, {"fixjoin", judges.Attribution, "C2", "ada"}, {"fixjoin", judges.Attribution, "C2", "bob"},
	} {
		d, err := Decision(r.judge, r.code)
		ok(t, err)
		ok(t, f.AddReview(t.Context(), store.Review{Candidate: byTitle[r.fix], Decision: d, By: r.by, At: day()}))
	}
	ok(t, f.AddReview(t.Context(), store.Review{Candidate: byTitle["fixadd"], Decision: "looks fine", By: "ada", At: day()}))
	rep, err := Run(t.Context(), f.config(f.desk(t, s, false)))
	ok(t, err)
	var got []string
	for _, p := range rep.People {
		got = append(got, strings.Join([]string{p.Judge, p.A, p.B}, " "), calibration.ShareOf(p.Same, p.Cases).String())
	}
	// The judge's blind verdict counts where it was about the change that is named: fixdivide alone.
	want := []string{
		"szz-attribution people judge", "1 of 2 (50.0 % [9.5, 90.5])", "szz-attribution ada judge", "1 of 1 (100.0 % [20.7, 100.0])",
		"szz-attribution bob judge", "0 of 1 (0.0 % [0.0, 79.3])", "szz-attribution ada bob", "1 of 2 (50.0 % [9.5, 90.5])",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(rep.Rules) != 1 || rep.Rules[0].Judge != judges.Attribution || rep.Rules[0].Candidates != 3 {
		t.Errorf("%+v", rep.Rules)
	}
}

func TestDecision(t *testing.T) {
	t.Parallel()
	for _, j := range judges.Judges() {
		for _, c := range j.Codes() {
			d, err := Decision(j.Name(), c.Name)
			judge, code, isVerdict := Verdict(d)
			if err != nil || judge != j.Name() || code != c.Name || !isVerdict {
				t.Errorf("%s %s: %q, %v", j.Name(), c.Name, d, err)
			}
		}
	}
	for _, bad := range [][2]string{{"nobody", "A"}, {judges.Attribution, "B2"}, {judges.Attribution, ""}, {"", ""}} {
		if _, err := Decision(bad[0], bad[1]); !errors.Is(err, ErrReview) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, other := range []string{"reopen", "judge:", "judge:x", "="} {
		if _, _, ok := Verdict(other); ok {
			t.Errorf("%q is taken for a verdict", other)
		}
	}
}
