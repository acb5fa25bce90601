package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var near = cmpopts.EquateApprox(0, 5e-4)

func TestWilson(t *testing.T) {
	t.Parallel()
	tests := []struct {
		k, n int
		want Interval
	}{
		{0, 0, Interval{0, 1}},
		{0, 10, Interval{0, 0.2775}},
		{10, 10, Interval{0.7225, 1}},
		{5, 10, Interval{0.2366, 0.7634}},
		{12, 154, Interval{0.0452, 0.1314}},
		{-3, 10, Interval{0, 0.2775}},
		{99, 10, Interval{0.7225, 1}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Wilson(tt.k, tt.n), near); diff != "" {
			t.Errorf("Wilson(%d, %d) (-want +got):\n%s", tt.k, tt.n, diff)
		}
	}
}

func TestWilsonBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100_000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		i := Wilson(k, n)
		p := float64(k) / float64(n)
		if !(0 <= i.Low && i.Low <= p && p <= i.High && i.High <= 1) {
			t.Fatalf("Wilson(%d, %d) = %v does not hold %v", k, n, i, p)
		}
		if k < n {
			if j := Wilson(k+1, n); j.Low < i.Low || j.High < i.High {
				t.Fatalf("Wilson is not monotone in k: %v, then %v", i, j)
			}
		}
		if j := Wilson(2*k, 2*n); j.High-j.Low > i.High-i.Low {
			t.Fatalf("twice the cases give a wider interval: %v, then %v", i, j)
		}
	})
}

func TestMacro(t *testing.T) {
	t.Parallel()
	cases := []Case{{"b", 1}, {"a", 0}, {"a", 0}, {"a", 0}}
	if got := Macro(cases); got != 0.5 {
		t.Errorf("Macro = %v, want 0.5", got)
	}
	if got := Macro(nil); got != 0 {
		t.Errorf("Macro of nothing = %v, want 0", got)
	}
}

func TestLeaveOneOut(t *testing.T) {
	t.Parallel()
	got, ok := LeaveOneOut([]Case{{"a", 1}, {"a", 1}, {"b", 0}, {"c", 1}})
	if !ok {
		t.Fatal("LeaveOneOut says that three clusters are too few")
	}
	if diff := cmp.Diff(Interval{0.5, 1}, got, near); diff != "" {
		t.Errorf("LeaveOneOut (-want +got):\n%s", diff)
	}
	if _, ok := LeaveOneOut([]Case{{"a", 1}, {"a", 0}}); ok {
		t.Error("LeaveOneOut of one cluster is ok")
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	var cases []Case
	for i := range 40 {
		cases = append(cases, Case{string(rune('a' + i%8)), float64(i % 2)})
	}
	got := Bootstrap(cases, 7)
	if diff := cmp.Diff(got, Bootstrap(cases, 7)); diff != "" {
		t.Errorf("one seed, two intervals (-first +second):\n%s", diff)
	}
	if cmp.Equal(got, Bootstrap(cases[:35], 7)) {
		t.Error("other cases, same interval")
	}
	if got.Low > 0.5 || got.High < 0.5 || got.Low == got.High {
		t.Errorf("Bootstrap = %v does not lie around the mean 0.5", got)
	}
}

func TestBootstrapBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cases := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Case {
			return Case{rapid.StringMatching("[a-d]").Draw(t, "cluster"), rapid.Float64Range(0, 1).Draw(t, "value")}
		}), 1, 12).Draw(t, "cases")
		i := Bootstrap(cases, rapid.Uint64().Draw(t, "seed"))
		if !(0 <= i.Low && i.Low <= i.High && i.High <= 1+1e-12) || math.IsNaN(i.Low) {
			t.Fatalf("Bootstrap(%v) = %v", cases, i)
		}
	})
}
