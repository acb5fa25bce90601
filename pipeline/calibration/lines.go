package calibration

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/judges"
	"sluice/prompts"
)

// String writes "90 of 262 (34.4 % [28.9, 40.3])".
func (s Share) String() string {
	if s.N == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %% [%.1f, %.1f])", s.K, s.N, 100*s.Share, 100*s.Interval.Low, 100*s.Interval.High)
}

// ShareOf is k of n.
func ShareOf(k, n int) Share { return share(k, n) }

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

// JudgeInfo is what there is to know of a judge before it is asked.
type JudgeInfo struct {
	Name    string        `json:"judge"`
	Purpose string        `json:"question"`
	Version int           `json:"prompt_version"`
	Masked  bool          `json:"masked"` // numbers of changes and commit ids are replaced in its evidence
	Codes   []judges.Code `json:"codes"`
	Slots   []SlotInfo    `json:"slots"`
}

// SlotInfo is one piece of a judge's evidence.
type SlotInfo struct {
	Name     string       `json:"name"`
	Kind     prompts.Kind `json:"kind"`
	Bytes    int          `json:"bytes"` // its share of the budget
	Optional bool         `json:"optional"`
}

// List describes all judges, in the order of the rubric.
func List() ([]JudgeInfo, error) {
	var out []JudgeInfo
	for _, j := range judges.Judges() {
		p, err := prompts.Load(j.Name())
		if err != nil {
			return nil, fmt.Errorf("listing judges: %w", err)
		}
		info := JudgeInfo{j.Name(), p.Purpose, p.Version, p.Mask, j.Codes(), nil}
		for _, s := range p.Slots {
			info.Slots = append(info.Slots, SlotInfo{s.Name, s.Kind, s.Bytes, s.Optional})
		}
		out = append(out, info)
	}
	return out, nil
}
