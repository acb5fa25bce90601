package judges

import (
	"cmp"
	"maps"
	"slices"
)

// Comparison is how far rules and a model's rulings say the same of the same candidates, for one judge.
type Comparison struct {
	Judge      string      `json:"judge"`
	Candidates int         `json:"candidates"` // with a ruling of this judge, whether rules spoke or not
	Spoke      int         `json:"spoke"`      // of these, how many rules had a code for
	Agreed     int         `json:"agreed"`     // of those, how often the model's code was one of the rules'
	Contra     int         `json:"contra"`     // how often rules had a code that drops, and the model kept
	Missed     int         `json:"missed"`     // how often the model dropped and rules said nothing
	Confusion  []Confusion `json:"confusion"`  // most frequent first
}

// Confusion counts one pair of answers. Rules is "" where they said nothing. A candidate with two codes of the rules counts in both.
type Confusion struct {
	Rules string `json:"rules"`
	Model string `json:"model"`
	Count int    `json:"count"`
}

// Agreement is the share of the candidates with a code of the rules to which the model gave the same; ok is false where there are none.
func (c Comparison) Agreement() (share float64, ok bool) {
	if c.Spoke == 0 {
		return 0, false
	}
	return float64(c.Agreed) / float64(c.Spoke), true
}

// CompareRules holds the findings of rules against the rulings of models. Both are by candidate; candidates without a ruling, and
// rulings without a code, do not count. The comparisons are in the order of the judges' names.
func CompareRules(findings map[string][]Finding, rulings map[string][]Ruling) []Comparison {
	byJudge := map[string]*Comparison{}
	counts := map[string]map[Confusion]int{}
	for candidate, list := range rulings {
		for _, r := range list {
			if r.Code == "" {
				continue
			}
			c := byJudge[r.Judge]
			if c == nil {
				c = &Comparison{Judge: r.Judge}
				byJudge[r.Judge], counts[r.Judge] = c, map[Confusion]int{}
			}
			codes := codesOf(findings[candidate], r.Judge)
			c.count(codes, r)
			if len(codes) == 0 {
				codes = []string{""}
			}
			for _, code := range codes {
				counts[r.Judge][Confusion{Rules: code, Model: r.Code}]++
			}
		}
	}
	var out []Comparison
	for _, name := range slices.Sorted(maps.Keys(byJudge)) {
		c := byJudge[name]
		c.Confusion = sortConfusion(counts[name])
		out = append(out, *c)
	}
	return out
}

// count adds one candidate. All codes of rules are ones that drop: they have no word for what is well.
func (c *Comparison) count(codes []string, r Ruling) {
	c.Candidates++
	switch {
	case len(codes) == 0:
		if !r.Keeps {
			c.Missed++
		}
		return
	case slices.Contains(codes, r.Code):
		c.Agreed++
	}
	c.Spoke++
	if r.Keeps {
		c.Contra++
	}
}

// codesOf are the different codes that rules found for a judge, in order.
func codesOf(findings []Finding, judge string) []string {
	var out []string
	for _, f := range findings {
		if f.Judge == judge && f.Code != "" {
			out = append(out, f.Code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sortConfusion(counts map[Confusion]int) []Confusion {
	out := make([]Confusion, 0, len(counts))
	for c, n := range counts {
		c.Count = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rules, b.Rules), cmp.Compare(a.Model, b.Model))
	})
	return out
}
