package calibration

import (
	"fmt"
	"strconv"
	"strings"
)

// String writes "90 of 262 (34.4 % [28.9, 40.3])".
func (s Share) String() string {
	if s.N == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %% [%.1f, %.1f])", s.K, s.N, 100*s.Share, 100*s.Interval.Low, 100*s.Interval.High)
}

// Line is a row of a table for people.
type Line struct {
	Name string
	Of   func(Table) string
}

// Lines are the rows in the order of the published table.
func Lines() []Line {
	number := func(f func(Table) int) func(Table) string { return func(t Table) string { return strconv.Itoa(f(t)) } }
	part := func(f func(Table) Share) func(Table) string { return func(t Table) string { return f(t).String() } }
	return []Line{
		{"chains", number(func(t Table) int { return t.Chains })},
		{"SZZ abstains", func(t Table) string { return counted(t.Abstained, t.Abstentions) }},
		{"SZZ proposes", number(func(t Table) int { return t.Proposed })},
		{"right", number(func(t Table) int { return t.Matched })},
		{"wrong", number(func(t Table) int { return t.Missed })},
		{"contamination before", part(func(t Table) Share { return t.Before })},
		{"judged", number(func(t Table) int { return t.Judged })},
		{"not judged", func(t Table) string { return counted(t.Failed, t.Failures) }},
		{"rejected of the wrong", part(func(t Table) Share { return t.RejectedWrong })},
		{"rejected of the right", part(func(t Table) Share { return t.RejectedRight })},
		{"contamination after", part(func(t Table) Share { return t.After })},
		{"yield", part(func(t Table) Share { return t.Yield })},
		{"codes of the wrong", func(t Table) string { return counts(t.CodesWrong) }},
		{"codes of the right", func(t Table) string { return counts(t.CodesRight) }},
	}
}

// counted writes "3: add-only 2, boundary 1".
func counted(n int, parts map[string]int) string {
	if list := counts(parts); n > 0 && list != "" {
		return fmt.Sprintf("%d: %s", n, list)
	}
	return strconv.Itoa(n)
}

func counts(m map[string]int) string {
	var out []string
	for _, k := range sortedKeys(m) {
		out = append(out, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(out, ", ")
}
