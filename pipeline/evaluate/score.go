package evaluate

import (
	"math"
	"sort"

	"sluice/pipeline/evaluate/stats"
	"sluice/replay"
)

// Seed is what the bootstrap of every report draws with.
const Seed = 1

// Scorer makes a family's metrics of all results of a release, in the order of the release.
type Scorer func([]Result) []Metric

// Metric is one figure of a report. Instances that the machinery failed count as 0 in Value; WithoutInfra leaves them out.
type Metric struct {
	Name         string    `json:"name"`
	Text         string    `json:"text"` // what it says, one line
	Kind         string    `json:"kind"` // "share" or "mean"
	Figure                 // over all instances
	WithoutInfra Figure    `json:"without_infra"`
	Macro        float64   `json:"macro"` // mean over repositories of their means
	Strata       []Stratum `json:"strata"`
	// LeaveOneOut is the range when one repository is left out; nil with fewer than two.
	LeaveOneOut *stats.Interval `json:"leave_one_repository_out,omitempty"`
	// Cluster is the bootstrap interval over repositories, drawn with Seed; nil with fewer than two.
	Cluster *stats.Interval `json:"repository_bootstrap,omitempty"`
}

// Figure is a share or a mean with what it was made of.
type Figure struct {
	N     int     `json:"n"`
	Sum   float64 `json:"sum"` // for a share: how many
	Value float64 `json:"value"`
	// Interval is Wilson's 95 % interval of a share. A mean has none: its bootstrap is in Metric.Cluster.
	*stats.Interval
}

// Stratum is the figure of one group.
type Stratum struct {
	By    string `json:"by"`
	Group string `json:"group"`
	Figure
}

// By divides results into groups; "" leaves one out.
type By struct {
	Name  string
	Group func(Result) string
}

// ByLabel divides by a label of the release.
func ByLabel(name string) By {
	return By{name, func(r Result) string { return r.Labels[name] }}
}

// Usual are the strata that every release has.
func Usual() []By {
	return []By{
		{"language", func(r Result) string { return r.Language }},
		{"repository", func(r Result) string { return r.Repo }},
	}
}

// Share makes the metric of the share of results that hold.
func Share(name, text string, results []Result, holds func(Result) bool, by ...By) Metric {
	m := Mean(name, text, results, func(r Result) float64 {
		if holds(r) {
			return 1
		}
		return 0
	}, by...)
	m.Kind = "share"
	m.Figure, m.WithoutInfra = m.Figure.wilson(), m.WithoutInfra.wilson()
	for i := range m.Strata {
		m.Strata[i].Figure = m.Strata[i].Figure.wilson()
	}
	return m
}

// Mean makes the metric of the mean of a value in [0, 1].
func Mean(name, text string, results []Result, value func(Result) float64, by ...By) Metric {
	m := Metric{Name: name, Text: text, Kind: "mean", Strata: []Stratum{}}
	var cases []stats.Case
	for _, r := range results {
		v := value(r)
		cases = append(cases, stats.Case{Cluster: r.Repo, Value: v})
		m.Figure.add(v)
		if r.State != Infra {
			m.WithoutInfra.add(v)
		}
	}
	m.Macro = round(stats.Macro(cases))
	if i, ok := stats.LeaveOneOut(cases); ok {
		m.LeaveOneOut, m.Cluster = rounded(i), rounded(stats.Bootstrap(cases, Seed))
	}
	for _, b := range by {
		m.Strata = append(m.Strata, strata(b, results, value)...)
	}
	return m
}

// strata makes the figures of the groups, in order.
func strata(b By, results []Result, value func(Result) float64) []Stratum {
	groups := map[string]*Figure{}
	var names []string
	for _, r := range results {
		g := b.Group(r)
		if g == "" {
			continue
		}
		if groups[g] == nil {
			groups[g] = &Figure{}
			names = append(names, g)
		}
		groups[g].add(value(r))
	}
	sort.Strings(names)
	var out []Stratum
	for _, n := range names {
		out = append(out, Stratum{b.Name, n, *groups[n]})
	}
	return out
}

func (f *Figure) add(v float64) {
	f.N++
	f.Sum += v
	f.Value = round(f.Sum / float64(f.N))
}

// round cuts a figure to what all processors agree on.
func round(v float64) float64 { return math.Round(v*1e9) / 1e9 }

func rounded(i stats.Interval) *stats.Interval {
	return &stats.Interval{Low: round(i.Low), High: round(i.High)}
}

func (f Figure) wilson() Figure {
	f.Interval = rounded(stats.Wilson(int(f.Sum), f.N))
	return f
}

// Generic makes the metrics that every family has.
func Generic(results []Result) []Metric {
	return []Metric{
		Share("resolved", "instances whose task is resolved", results, func(r Result) bool { return r.State == Resolved }, Usual()...),
		Share("full", "instances of which every test of every check passes", results, Result.Full, Usual()...),
		Mean("fail-to-pass", "mean share of an instance's fail-to-pass tests, of all its checks, that pass", results, passing, Usual()...),
	}
}

// passing is the share of all fail-to-pass tests of an instance that pass.
func passing(r Result) float64 {
	n, pass := 0, 0
	for _, c := range r.Checks {
		n += c.FailToPass.Size()
		if c.Graded() {
			pass += len(c.FailToPass[replay.Pass])
		}
	}
	if n == 0 {
		return 0
	}
	return float64(pass) / float64(n)
}
