package stats

import (
	"math"
	"sort"
)

// Pair is what two raters said of one case, as codes.
type Pair struct{ A, B string }

// Cell is one cell of a confusion matrix.
type Cell struct {
	A string `json:"a"`
	B string `json:"b"`
	N int    `json:"n"`
}

// Agreement is how far two raters agree.
type Agreement struct {
	Cases     int      `json:"cases"`
	Same      int      `json:"same"`
	Share     Interval `json:"share"` // Wilson interval of Same of Cases
	Kappa     float64  `json:"kappa"` // Cohen's; 0 where it is not known
	Known     bool     `json:"kappa_known"`
	Confusion []Cell   `json:"confusion"` // cells that hold cases, by A, then B
}

// Agree compares two raters. Cohen's κ is unknown where chance alone gives full agreement (no case, or one code throughout).
func Agree(pairs []Pair) Agreement {
	a := Agreement{Cases: len(pairs), Confusion: []Cell{}}
	cells := map[Pair]int{}
	left, right := map[string]int{}, map[string]int{}
	for _, p := range pairs {
		cells[p]++
		left[p.A]++
		right[p.B]++
		if p.A == p.B {
			a.Same++
		}
	}
	a.Share = Wilson(a.Same, a.Cases)
	for p, n := range cells {
		a.Confusion = append(a.Confusion, Cell{p.A, p.B, n})
	}
	sort.Slice(a.Confusion, func(i, j int) bool {
		x, y := a.Confusion[i], a.Confusion[j]
		return x.A < y.A || x.A == y.A && x.B < y.B
	})
	a.Kappa, a.Known = kappa(a, left, right)
	return a
}

// kappa is (observed - expected) / (1 - expected), in whole numbers until the division.
func kappa(a Agreement, left, right map[string]int) (float64, bool) {
	expected := 0
	for code, n := range left {
		expected += n * right[code]
	}
	square := a.Cases * a.Cases
	if square == expected { // also when both are 0
		return 0, false
	}
	k := float64(a.Same*a.Cases-expected) / float64(square-expected)
	return math.Max(-1, k), true
}
