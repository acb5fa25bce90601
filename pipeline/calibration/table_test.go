package calibration

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// chains makes n chains of one kind.
func chains(n int, c Chain) []Chain {
	out := make([]Chain, n)
	for i := range out {
		out[i] = c
		out[i].Candidate = fmt.Sprint(i)
	}
	return out
}

// TestTabulatePublished gives the figures that Foresight-SWE publishes of its 376 chains (A.4).
func TestTabulatePublished(t *testing.T) {
	t.Parallel()
	var all []Chain
	all = append(all, chains(114, Chain{Truth: "a", Why: "add-only"})...)
	all = append(all, chains(172-18, Chain{Truth: "a", Proposed: "a", Judged: true, Keeps: true, Code: "A"})...)
	all = append(all, chains(18, Chain{Truth: "a", Proposed: "a", Judged: true, Code: "C1"})...)
	all = append(all, chains(77, Chain{Truth: "a", Proposed: "b", Judged: true, Code: "C2"})...)
	all = append(all, chains(13, Chain{Truth: "a", Proposed: "b", Judged: true, Keeps: true, Code: "A"})...)
	got := Tabulate(all)
	if got.Chains != 376 || got.Abstained != 114 || got.Proposed != 262 || got.Matched != 172 || got.Missed != 90 {
		t.Errorf("counts %+v", got)
	}
	for _, s := range []struct {
		name           string
		share          Share
		want, low, top float64 // per cent, rounded as they are printed there; 0: not printed
	}{
		{"contamination before", got.Before, 34.4, 0, 0},
		{"contamination after", got.After, 7.8, 4.6, 12.9},
		{"yield", got.Yield, 89.5, 0, 0},
		{"rejected of the wrong", got.RejectedWrong, 85.6, 0, 0},
		{"rejected of the right", got.RejectedRight, 10.5, 0, 0},
	} {
		if r := round(s.share.Share); r != s.want {
			t.Errorf("%s: %v %%, want %v", s.name, r, s.want)
		}
		if s.low > 0 && (round(s.share.Interval.Low) != s.low || round(s.share.Interval.High) != s.top) {
			t.Errorf("%s: interval %+v, want [%v, %v]", s.name, s.share.Interval, s.low, s.top)
		}
	}
	if diff := cmp.Diff(map[string]int{"A": 13, "C2": 77}, got.CodesWrong); diff != "" {
		t.Error(diff)
	}
}

func round(share float64) float64 { return math.Round(share*1000) / 10 }

// TestTabulateLaws: every chain is counted once, failed ones are no verdicts, and of nothing nothing is known.
func TestTabulateLaws(t *testing.T) {
	t.Parallel()
	chain := rapid.Custom(func(t *rapid.T) Chain {
		c := Chain{Truth: "a", Proposed: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "proposed")}
		switch rapid.IntRange(0, 2).Draw(t, "end") {
		case 0:
			c.Judged, c.Keeps, c.Code = true, rapid.Bool().Draw(t, "keeps"), "A"
		case 1:
			c.Failed = "no answer"
		}
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(chain).Draw(t, "chains")
		got := Tabulate(all)
		if got.Abstained+got.Proposed != got.Chains || got.Matched+got.Missed != got.Proposed {
			t.Fatalf("%+v does not add up", got)
		}
		if got.RejectedRight.N+got.RejectedWrong.N != got.Judged || got.Judged+got.Failed > got.Proposed {
			t.Fatalf("%+v: judged and failed do not add up", got)
		}
		if got.Yield.K+got.RejectedRight.K != got.Yield.N || got.After.N != got.Judged-got.RejectedRight.K-got.RejectedWrong.K {
			t.Fatalf("%+v: kept ones do not add up", got)
		}
	})
	if s := Tabulate(nil).After; s.Share != 0 || s.Interval.Low != 0 || s.Interval.High != 1 {
		t.Errorf("of nothing: %+v", s)
	}
}
