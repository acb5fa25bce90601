// Package calibration says how far attribution and judges can be trusted: the tables of what they said of fixes whose origin is
// known, and where a store keeps them for the card of a release.
//
// It asks nobody (see its folder measure), decides about no candidate and changes none.
package calibration

import (
	"slices"

	"sluice/pipeline/evaluate/stats"
)

// Chain is a candidate whose introducing change somebody named, and what the methods said without knowing it.
type Chain struct {
	Candidate string   `json:"candidate"`
	Repo      string   `json:"repo"`
	Fix       string   `json:"fix"`                // head of the change that repairs
	Link      string   `json:"link"`               // digest of the evidence that this was read from
	Truth     string   `json:"truth"`              // head of the change that testimony names
	Also      []string `json:"also,omitempty"`     // heads of others that it names in the same way; each is right too
	Proposed  string   `json:"proposed,omitempty"` // head of the change that SZZ proposes; "" when it abstains
	Why       string   `json:"why,omitempty"`      // it abstains
	Code      string   `json:"code,omitempty"`     // of the panel's ruling on what is proposed
	Judged    bool     `json:"judged"`
	Keeps     bool     `json:"keeps"`
	Failed    string   `json:"failed,omitempty"` // the kind of failure when there is no ruling
	Reason    string   `json:"reason,omitempty"` // one line on it
}

// Right reports whether the proposed change is one that testimony names.
func (c Chain) Right() bool {
	return c.Proposed != "" && (c.Proposed == c.Truth || slices.Contains(c.Also, c.Proposed))
}

// Share is k of n with its Wilson 95 % interval.
type Share struct {
	K        int            `json:"k"`
	N        int            `json:"n"`
	Share    float64        `json:"share"` // 0 of nothing
	Interval stats.Interval `json:"interval"`
}

// ShareOf is k of n.
func ShareOf(k, n int) Share {
	s := Share{K: k, N: n, Interval: stats.Wilson(k, n)}
	if n > 0 {
		s.Share = float64(k) / float64(n)
	}
	return s
}

// Table is what calibration reports (the form is that of Foresight-SWE, A.4).
type Table struct {
	Chains    int   `json:"chains"`
	Abstained int   `json:"abstained"`
	Proposed  int   `json:"proposed"`
	Matched   int   `json:"matched"`
	Missed    int   `json:"missed"`
	Before    Share `json:"contamination_before"` // of all proposed, those that miss
	// What follows is of the proposed ones that have a ruling.
	Judged        int   `json:"judged"`
	RejectedWrong Share `json:"rejected_wrong"` // of the judged misses, those that the panel rejects
	RejectedRight Share `json:"rejected_right"` // of the judged matches
	After         Share `json:"contamination_after"`
	Yield         Share `json:"yield"` // of the judged matches, those that stay
	// Codes counts rulings by code, for matches and for misses.
	CodesRight map[string]int `json:"codes_right,omitempty"`
	CodesWrong map[string]int `json:"codes_wrong,omitempty"`
	Failed     int            `json:"failed"` // proposed, but without a ruling
	// Abstentions and Failures count by reason.
	Abstentions map[string]int `json:"abstentions,omitempty"`
	Failures    map[string]int `json:"failures,omitempty"`
}

// Tabulate counts chains. A chain that failed is in Failed and in no share of judged ones: it is no verdict.
func Tabulate(chains []Chain) Table {
	t := Table{Chains: len(chains), CodesRight: map[string]int{}, CodesWrong: map[string]int{}, Abstentions: map[string]int{}, Failures: map[string]int{}}
	var rejectedRight, rejectedWrong, judgedRight, judgedWrong int
	for _, c := range chains {
		if c.Proposed == "" {
			t.Abstained++
			t.Abstentions[c.Why]++
			continue
		}
		t.Proposed++
		right := c.Right()
		if right {
			t.Matched++
		} else {
			t.Missed++
		}
		if c.Failed != "" {
			t.Failed++
			t.Failures[c.Failed]++
		}
		if !c.Judged {
			continue
		}
		t.Judged++
		codes, judged, rejected := t.CodesWrong, &judgedWrong, &rejectedWrong
		if right {
			codes, judged, rejected = t.CodesRight, &judgedRight, &rejectedRight
		}
		codes[c.Code]++
		*judged++
		if !c.Keeps {
			*rejected++
		}
	}
	t.Before = ShareOf(t.Missed, t.Proposed)
	t.RejectedWrong = ShareOf(rejectedWrong, judgedWrong)
	t.RejectedRight = ShareOf(rejectedRight, judgedRight)
	keptWrong, keptRight := judgedWrong-rejectedWrong, judgedRight-rejectedRight
	t.After = ShareOf(keptWrong, keptWrong+keptRight)
	t.Yield = ShareOf(keptRight, judgedRight)
	return t
}

// RulesName stands for the rules judge where a judge is named.
const RulesName = "rules"
