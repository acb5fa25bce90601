package judges

import (
	"fmt"
	"slices"
	"strings"

	"sluice/judges/evidence"
)

// OperationReply says whether a set-up obeyed its rules.
type OperationReply struct {
	Did      string `json:"did"`
	Compared string `json:"compared"`
	base
}

func operation() Spec {
	codes := []Code{
		{"ok", "by the rules", "No rule is broken.", true},
		{"edited_production", "edited production", "The program itself is not what it was.", false},
		{"weakened_test", "weakened a test", "Inputs, assertions, expected values, parameters or skips were altered.", false},
		{"skipped_required", "skipped a required test", "Required tests did not run, and nothing that the rules accept says why.", false},
		{"misreported", "misreported", "The report does not agree with the record.", false},
	}
	return spec(OperationCheck, codes, func(r OperationReply, seen *evidence.Seen) error {
		slots := []string{"commands", "changes", "report"}
		switch r.Code {
		case "ok":
			slots = []string{"commands"}
		case "edited_production", "weakened_test":
			slots = []string{"commands", "changes"}
		case "misreported":
			slots = []string{"report"}
		}
		return quoted(seen, "quote", r.Quote, slots...)
	})
}

// VerifierReply labels the tests of an introducing and a fixing change.
type VerifierReply struct {
	Bug        string      `json:"bug"`
	Regression string      `json:"regression"`
	Tests      []TestLabel `json:"tests"`
	base
}

// TestLabel is what a test's outcomes support.
type TestLabel struct {
	Test  string `json:"test"` // a label of the list of outcomes
	Cause string `json:"cause"`
	Quote string `json:"quote"`
	Label string `json:"label"` // supported, unrelated, environment, transplant
}

const supported = "supported"

// Supported are the labels of the tests that support the claim, in order.
func (r VerifierReply) Supported() []string {
	var out []string
	for _, t := range r.Tests {
		if t.Label == supported {
			out = append(out, t.Test)
		}
	}
	return out
}

func verifier() Spec {
	codes := []Code{
		{supported, "supported", "At least one test fails in its behaviour because of the first change and passes because of the second.", true},
		{"unrelated", "unrelated", "The failure is behavioural, and the two changes do not explain the difference.", false},
		{"transplant", "transplant", "The test is younger than the state that it was laid over.", false},
		{"environment", "environment", "The machine was not ready.", false},
	}
	return spec(RegressionVerifier, codes, func(r VerifierReply, seen *evidence.Seen) error {
		if err := r.checkTests(labels(seen, "outcomes")); err != nil {
			return err
		}
		support := []string{"tests", "failures", "intro_patch", "fix_patch", "setup"}
		for _, t := range r.Tests {
			if err := quoted(seen, "tests, "+t.Test, t.Quote, support...); err != nil {
				return err
			}
		}
		if want := r.whole(codes); r.Code != want {
			return fmt.Errorf("code %s does not agree with the labels of the tests, which make it %s", r.Code, want)
		}
		return quoted(seen, "quote", r.Quote, support...)
	})
}

// checkTests wants exactly one item for each entry that was sent.
func (r VerifierReply) checkTests(list []string) error {
	var named []string
	for i, t := range r.Tests {
		switch {
		case !slices.Contains(list, t.Test):
			return fmt.Errorf("tests, item %d: %s", i+1, noLabel(t.Test, list))
		case slices.Contains(named, t.Test):
			return fmt.Errorf("tests, item %d: %s is there twice", i+1, t.Test)
		}
		named = append(named, t.Test)
	}
	missing := slices.DeleteFunc(slices.Clone(list), func(l string) bool { return slices.Contains(named, l) })
	if len(missing) > 0 {
		return fmt.Errorf("tests: no item for %s", strings.Join(missing, ", "))
	}
	return nil
}

// whole is the code that the labels make: supported if one is, else the most frequent, the first of the codes on a tie.
func (r VerifierReply) whole(codes []Code) string {
	count := map[string]int{}
	for _, t := range r.Tests {
		count[t.Label]++
	}
	if count[supported] > 0 {
		return supported
	}
	best := ""
	for _, c := range codes {
		if count[c.Name] > count[best] {
			best = c.Name
		}
	}
	return best
}
