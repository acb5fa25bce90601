package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAgree(t *testing.T) {
	t.Parallel()
	repeat := func(n int, p Pair) (out []Pair) {
		for range n {
			out = append(out, p)
		}
		return out
	}
	var textbook []Pair // 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed .7, expected .5
	textbook = append(textbook, repeat(20, Pair{"yes", "yes"})...)
	textbook = append(textbook, repeat(5, Pair{"yes", "no"})...)
	textbook = append(textbook, repeat(10, Pair{"no", "yes"})...)
	textbook = append(textbook, repeat(15, Pair{"no", "no"})...)
	for _, tt := range []struct {
		name  string
		pairs []Pair
		same  int
		kappa float64
		known bool
	}{
		{"nothing", nil, 0, 0, false},
		{"one code throughout", repeat(4, Pair{"A", "A"}), 4, 0, false},
		{"full agreement", []Pair{{"A", "A"}, {"B", "B"}}, 2, 1, true},
		{"none", []Pair{{"A", "B"}, {"B", "A"}}, 0, -1, true},
		{"textbook", textbook, 35, .4, true},
		{"disjoint codes", []Pair{{"A", "B"}, {"A", "B"}}, 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Agree(tt.pairs)
			if got.Same != tt.same || got.Known != tt.known || math.Abs(got.Kappa-tt.kappa) > 1e-9 {
				t.Errorf("same %d, κ %v (known %v); want %d, %v (%v)", got.Same, got.Kappa, got.Known, tt.same, tt.kappa, tt.known)
			}
		})
	}
	want := []Cell{{"no", "no", 15}, {"no", "yes", 10}, {"yes", "no", 5}, {"yes", "yes", 20}}
	if diff := cmp.Diff(want, Agree(textbook).Confusion); diff != "" {
		t.Error(diff)
	}
}

// TestAgreeLaws: raters may change places, cases may change order, and κ stays in its bounds.
func TestAgreeLaws(t *testing.T) {
	t.Parallel()
	code := rapid.SampledFrom([]string{"A", "C1", "C2"})
	pair := rapid.Custom(func(t *rapid.T) Pair { return Pair{code.Draw(t, "a"), code.Draw(t, "b")} })
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.SliceOf(pair).Draw(t, "pairs")
		swapped := make([]Pair, len(pairs))
		for i, p := range pairs {
			swapped[len(pairs)-1-i] = Pair{p.B, p.A}
		}
		a, b := Agree(pairs), Agree(swapped)
		if a.Same != b.Same || a.Known != b.Known || math.Abs(a.Kappa-b.Kappa) > 1e-12 {
			t.Fatalf("%+v, swapped %+v", a, b)
		}
		sum := 0
		for _, c := range a.Confusion {
			sum += c.N
		}
		if sum != len(pairs) || a.Kappa < -1 || a.Kappa > 1 {
			t.Fatalf("%d cells' cases of %d, κ %v", sum, len(pairs), a.Kappa)
		}
	})
}
