package judges

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The words of the axes and of the tiers (spec: judges).
var (
	impacts       = []string{"corruption", "broken", "degraded", "cosmetic"}
	detectability = []string{"silent", "loud"}
	reaches       = []string{"broad", "narrow", "rare"}
	tiers         = []string{"critical", "major", "minor"} // the gravest first
)

// Axes are the facts about a defect that decide its severity, and two that do not.
type Axes struct {
	Impact        string `json:"impact"`        // corruption, broken, degraded, cosmetic
	Detectability string `json:"detectability"` // silent, loud
	Reach         string `json:"reach"`         // broad, narrow, rare
	Estimated     bool   `json:"estimated"`     // nothing in the evidence supports the reach: it is narrow by default
	Security      bool   `json:"security"`      // a mark only
	Mechanism     string `json:"mechanism"`     // regression, incomplete_coverage; a mark only
}

// SeverityRow is one line of the rule: the tiers of an impact by reach.
type SeverityRow struct {
	Impact        string `toml:"impact" json:"impact"`
	Detectability string `toml:"detectability" json:"detectability,omitempty"` // "": both
	Broad         string `toml:"broad" json:"broad"`
	Narrow        string `toml:"narrow" json:"narrow"`
	Rare          string `toml:"rare" json:"rare"`
}

// SeverityTable is the rule. It covers each pair of impact and detectability once.
type SeverityTable []SeverityRow

// DefaultSeverity is the published rule: a fixed table from the axes to a tier.
func DefaultSeverity() SeverityTable {
	return SeverityTable{
		{Impact: "corruption", Broad: "critical", Narrow: "critical", Rare: "major"},
		{Impact: "broken", Detectability: "loud", Broad: "critical", Narrow: "minor", Rare: "minor"},
		{Impact: "broken", Detectability: "silent", Broad: "major", Narrow: "major", Rare: "minor"},
		{Impact: "degraded", Broad: "major", Narrow: "minor", Rare: "minor"},
		{Impact: "cosmetic", Broad: "minor", Narrow: "minor", Rare: "minor"},
	}
}

// Check names every row that is wrong, every pair that is covered twice and every pair that is not covered.
func (t SeverityTable) Check() error {
	var errs []error
	covered := map[[2]string]int{}
	for i, row := range t {
		for _, err := range row.check() {
			errs = append(errs, fmt.Errorf("severity, row %d: %w", i+1, err))
		}
		for _, d := range detectability {
			if row.Detectability == "" || row.Detectability == d {
				covered[[2]string{row.Impact, d}]++
			}
		}
	}
	for _, impact := range impacts {
		for _, d := range detectability {
			if n := covered[[2]string{impact, d}]; n != 1 {
				errs = append(errs, fmt.Errorf("severity: %s, %s: %d rows say its tier, 1 is wanted", impact, d, n))
			}
		}
	}
	return errors.Join(errs...)
}

func (r SeverityRow) check() []error {
	var errs []error
	word := func(key, value string, known []string) {
		if !slices.Contains(known, value) {
			errs = append(errs, fmt.Errorf("%s is %q, it must be one of %s", key, value, strings.Join(known, ", ")))
		}
	}
	word("impact", r.Impact, impacts)
	if r.Detectability != "" {
		word("detectability", r.Detectability, detectability)
	}
	word("broad", r.Broad, tiers)
	word("narrow", r.Narrow, tiers)
	word("rare", r.Rare, tiers)
	return errs
}

// Severity is the tier (critical, major or minor) that the table gives to a defect. An empty table is the default one. Axes that
// are unknown or incomplete, and a table that fails its check, are errors: a tier is never guessed.
func Severity(a Axes, t SeverityTable) (string, error) {
	if len(t) == 0 {
		t = DefaultSeverity()
	}
	if err := t.Check(); err != nil {
		return "", err
	}
	for _, axis := range []struct {
		name, value string
		known       []string
	}{{"impact", a.Impact, impacts}, {"detectability", a.Detectability, detectability}, {"reach", a.Reach, reaches}} {
		if !slices.Contains(axis.known, axis.value) {
			return "", fmt.Errorf("severity: %s is %q, it must be one of %s", axis.name, axis.value, strings.Join(axis.known, ", "))
		}
	}
	i := slices.IndexFunc(t, func(r SeverityRow) bool {
		return r.Impact == a.Impact && (r.Detectability == "" || r.Detectability == a.Detectability)
	})
	switch a.Reach {
	case "broad":
		return t[i].Broad, nil
	case "narrow":
		return t[i].Narrow, nil
	}
	return t[i].Rare, nil
}

// PanelAxes joins the votes of a panel of the severity judge: each axis has the value that more than half of the valid votes give
// it. An axis without such a value is an error that names it. A reach counts as estimated unless more than half support it.
func PanelAxes(r Ruling) (Axes, error) {
	var votes []Axes
	for _, v := range r.Votes {
		if v.Verdict == nil {
			continue
		}
		reply, err := Read[SeverityReply](*v.Verdict)
		if err != nil {
			return Axes{}, err
		}
		votes = append(votes, reply.Axes())
	}
	if len(votes) == 0 {
		return Axes{}, errors.New("severity: no valid vote")
	}
	var out Axes
	var split []string
	most := func(axis string, of func(Axes) string) string {
		value, ok := majority(votes, of)
		if !ok {
			split = append(split, axis)
		}
		return value
	}
	out.Impact = most("impact", func(a Axes) string { return a.Impact })
	out.Detectability = most("detectability", func(a Axes) string { return a.Detectability })
	out.Reach = most("reach", func(a Axes) string { return a.Reach })
	out.Mechanism = most("mechanism", func(a Axes) string { return a.Mechanism })
	out.Security = most("security", func(a Axes) string { return yesNo(a.Security) }) == yes
	supported, ok := majority(votes, func(a Axes) string { return yesNo(!a.Estimated) })
	out.Estimated = !ok || supported != yes
	if len(split) > 0 {
		return Axes{}, fmt.Errorf("severity: the votes have no majority on %s", strings.Join(split, ", "))
	}
	return out, nil
}

const (
	yes = "yes"
	no  = "no"
)

func yesNo(b bool) string {
	if b {
		return yes
	}
	return no
}

// majority is the value that more than half of the votes give.
func majority(votes []Axes, of func(Axes) string) (string, bool) {
	count := map[string]int{}
	for _, v := range votes {
		value := of(v)
		if count[value]++; 2*count[value] > len(votes) {
			return value, true
		}
	}
	return "", false
}
