package judging

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"sluice/judges/model"
	"sluice/store"
)

func TestPer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		u    USD
		n    int
		want USD
	}{{7, 0, 0}, {7, 1, 7}, {7, 2, 4}, {6, 4, 2}, {5, 4, 1}, {0, 3, 0}, {2_000_000, 3, 666_667}} {
		same(t, fmt.Sprint(tc.u, " by ", tc.n), tc.u.Per(tc.n), tc.want)
	}
}

// Whatever was asked: stages, models and ends each sum up to the total, the total is what budgets count, and the admitted candidates are
// one of the ends.
func TestCostsSumUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		s := openStore(t, t.TempDir(), c)
		ok(rt, s.SetPosition(t.Context(), "a", store.Position{State: store.Admitted, Stage: "judge"}))
		l := ledger(rt, s, c, "me", Budget{})
		for i := range rapid.IntRange(0, 12).Draw(rt, "calls") {
			r := question(fmt.Sprint("k", i), rapid.Int64Range(0, 1000).Draw(rt, "usd"))
			r.Model = rapid.SampledFrom([]string{"m1", "m2"}).Draw(rt, "model")
			r.Charge = model.Charge{Candidate: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "candidate"), Stage: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "stage")}
			id := reserve(rt, l, r)
			switch rapid.SampledFrom([]string{"settle", "release", "uncertain", "none"}).Draw(rt, "end") {
			case "settle":
				ok(rt, l.Settle(t.Context(), id, settlement(r.MicroUSD/2)))
				ok(rt, l.Hit(t.Context(), r.Key, model.Charge{Candidate: "b", Stage: "x"}))
			case "release":
				ok(rt, l.Release(t.Context(), id, "refused"))
			case "uncertain":
				ok(rt, l.Uncertain(t.Context(), id, "silence"))
			}
		}
		got, err := ReadCosts(t.Context(), s, "", "")
		ok(rt, err)
		counted, _ := totals(rt, s)
		same(rt, "what counts", got.Total.Counted(), USD(counted))
		var stages, models, ends Cost
		for _, st := range got.Stages {
			sum(&stages, st.Cost)
		}
		for _, m := range got.Models {
			sum(&models, m.Cost)
		}
		for _, e := range got.Ends {
			sum(&ends, e.Cost)
			if e.State == store.Admitted {
				same(rt, "admitted", e.Cost, got.Instances[0].Cost)
				same(rt, "paid for the admitted", got.Total.OnAdmitted, e.Paid)
			}
		}
		same(rt, "stages", stages, got.Total.Cost)
		same(rt, "models", models, got.Total.Cost)
		same(rt, "ends", ends, got.Total.Cost)
		toy, err := ReadCosts(t.Context(), s, "toy", "o/r")
		ok(rt, err)
		same(rt, "instances of the family", toy.Instances, got.Instances)
	})
}

func sum(to *Cost, c Cost) {
	to.Calls, to.Used, to.Released, to.Lost, to.OnTheWay = to.Calls+c.Calls, to.Used+c.Used, to.Released+c.Released, to.Lost+c.Lost, to.OnTheWay+c.OnTheWay
	to.Input, to.Cached, to.Output, to.Wall = to.Input+c.Input, to.Cached+c.Cached, to.Output+c.Output, to.Wall+c.Wall
	to.Paid, to.LostUSD, to.WayUSD = to.Paid+c.Paid, to.LostUSD+c.LostUSD, to.WayUSD+c.WayUSD
}
