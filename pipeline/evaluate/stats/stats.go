// Package stats holds the statistics of reports and cards: intervals of shares and of means over clustered cases.
//
// Everything is a pure function of its arguments; what is random takes a seed, so that a report can be made again.
package stats

import (
	"math"
	"math/rand/v2"
	"sort"
)

// z95 is the 97.5 % quantile of the standard normal distribution.
const z95 = 1.959963984540054

// Resamples is how often Bootstrap draws.
const Resamples = 10_000

// Interval is a 95 % interval; both ends are shares in [0, 1].
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Wilson returns the Wilson score interval of k successes among n. Of nothing nothing is known: n = 0 gives [0, 1].
// k outside [0, n] is taken as the nearer end.
func Wilson(k, n int) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	k = min(max(k, 0), n)
	nf, p := float64(n), float64(k)/float64(n)
	z2 := z95 * z95
	centre := (p + z2/(2*nf)) / (1 + z2/nf)
	half := z95 / (1 + z2/nf) * math.Sqrt(p*(1-p)/nf+z2/(4*nf*nf))
	i := Interval{math.Max(0, centre-half), math.Min(1, centre+half)}
	// Rounding leaves the ends a hair off where they are known exactly.
	if k == 0 {
		i.Low = 0
	}
	if k == n {
		i.High = 1
	}
	return i
}

// Mean returns the arithmetic mean, 0 of nothing.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Case is one scored case and the cluster (the repository) that it comes from.
type Case struct {
	Cluster string
	Value   float64
}

// clusters returns the values by cluster, in the order of the clusters' names.
func clusters(cases []Case) [][]float64 {
	by := map[string][]float64{}
	for _, c := range cases {
		by[c.Cluster] = append(by[c.Cluster], c.Value)
	}
	names := make([]string, 0, len(by))
	for n := range by {
		names = append(names, n)
	}
	sort.Strings(names)
	out := make([][]float64, 0, len(names))
	for _, n := range names {
		out = append(out, by[n])
	}
	return out
}

// Macro returns the mean over clusters of each cluster's mean.
func Macro(cases []Case) float64 {
	var means []float64
	for _, c := range clusters(cases) {
		means = append(means, Mean(c))
	}
	return Mean(means)
}

// Bootstrap draws clusters uniformly with replacement, as many as there are, each with all its cases, and returns
// the 2.5 and 97.5 percentiles of the case-weighted mean. The same seed gives the same interval.
func Bootstrap(cases []Case, seed uint64) Interval {
	cl := clusters(cases)
	if len(cl) == 0 {
		return Interval{0, 1}
	}
	sums := make([]float64, len(cl))
	for i, c := range cl {
		sums[i] = Mean(c) * float64(len(c))
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, Resamples)
	for r := range means {
		sum, n := 0.0, 0
		for range cl {
			i := rng.IntN(len(cl))
			sum += sums[i]
			n += len(cl[i])
		}
		means[r] = sum / float64(n)
	}
	sort.Float64s(means)
	return Interval{percentile(means, 0.025), percentile(means, 0.975)}
}

// percentile reads the p-quantile of sorted values, between neighbours by straight line.
func percentile(sorted []float64, p float64) float64 {
	pos := p * float64(len(sorted)-1)
	lo := int(math.Floor(pos))
	hi := int(math.Ceil(pos))
	return sorted[lo] + (sorted[hi]-sorted[lo])*(pos-float64(lo))
}

// LeaveOneOut returns the lowest and highest case-weighted mean that is left when one cluster is taken away. With fewer
// than two clusters there is no such mean, and ok is false.
func LeaveOneOut(cases []Case) (i Interval, ok bool) {
	cl := clusters(cases)
	if len(cl) < 2 {
		return Interval{}, false
	}
	i = Interval{math.Inf(1), math.Inf(-1)}
	for skip := range cl {
		var rest []float64
		for j, c := range cl {
			if j != skip {
				rest = append(rest, c...)
			}
		}
		m := Mean(rest)
		i.Low, i.High = math.Min(i.Low, m), math.Max(i.High, m)
	}
	return i, true
}
