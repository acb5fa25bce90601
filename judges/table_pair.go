package judges

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/judges/evidence"
)

// EligibilityReply says what kind of fix a fix is.
type EligibilityReply struct {
	Defect     string `json:"defect"`
	Connection string `json:"connection"`
	base
}

func eligibility() Spec {
	codes := []Code{
		{"clean", "genuine miss", "The fix repairs a genuine defect of the earlier change's behaviour that could have been anticipated; security fixes and reverts for an objective fault count.", true},
		{"not_a_bug", "no defect", "Nobody who uses the program gets another result, and no attack is closed.", false},
		{"new_feature", "new ability", "The fix adds what was not promised, and its tests use the new thing.", false},
		{"unpredictable", "change of mind", "The fix takes back what was done on purpose, for reasons of policy or taste.", false},
		{"weak", "hardly a defect", "The defect hardly counts, or it cannot be told whether there is one.", false},
	}
	return spec(PairEligibility, codes, func(r EligibilityReply, seen *evidence.Seen) error {
		return quoted(seen, "quote", r.Quote, evidenceSlots(PairEligibility)...)
	})
}

// fairnessCodes are the published diagnostic codes of tasks, for a pair and for a single change.
func fairnessCodes(what string) []Code {
	return []Code{
		{"A", "fair", "The tests ask for " + what + " and for nothing that has to be guessed.", true},
		{"B1", "coupled tests", "The tests run through unrelated parts of the program.", false},
		{"B2", "names to be guessed", "The tests demand names, wordings or values that only the patch holds.", false},
		{"B3", "outside knowledge", "What is right stands only behind a link.", false},
		{"B4", "no clear right behaviour", "Several outcomes would be sensible, and nothing says which is wanted.", false},
		{"B5", "baggage", "The patch bundles something unrelated that the tests need.", false},
		{"B6", "inner workings", "The tests check a way of doing it that is neither stated nor the only sensible one.", false},
		{"B7", "test inside the source", "The tests stand in the source patch.", false},
		{"B8", "something to be seen", "A picture is needed, and no text says the same.", false},
		{"B9", "another language", "The description is wholly or partly not in English.", false},
		{"B10", "data only", "Only data files of the tests are changed.", false},
		{"B11", "several matters", "Two or more independent issues are settled, and the tests check more than one.", false},
	}
}

// FairnessReply says whether the fix's tests are a fair check of the missed case.
type FairnessReply struct {
	Case    string `json:"case"`
	Demands string `json:"demands"`
	base
}

func fairness() Spec {
	return spec(PairFairness, fairnessCodes("the right behaviour of the missed case"), func(r FairnessReply, seen *evidence.Seen) error {
		return quoted(seen, "quote", r.Quote, fairnessSlots(r.Code, "fix_patch", "fix_tests", PairFairness)...)
	})
}

// fairnessSlots are where the quotation of a code must come from: an assertion for A, the source patch for a test inside it.
func fairnessSlots(code, patch, tests, prompt string) []string {
	switch code {
	case "A", "B10":
		return []string{tests}
	case "B7":
		return []string{patch}
	}
	return evidenceSlots(prompt)
}

// AttributionReply says whether the earlier change itself created the flaw.
type AttributionReply struct {
	Defect      string    `json:"defect"`
	Role        string    `json:"role"`
	Related     []Related `json:"related"`
	LaterChange string    `json:"later_change"` // a label of the list, or "none"
	base
}

// Related is a change in between that concerns the same matter.
type Related struct {
	Change string `json:"change"` // a label of the list
	Why    string `json:"why"`
	Origin bool   `json:"origin"`
}

const (
	laterChanges = "later_changes"
	nothing      = "none"
)

func attribution() Spec {
	codes := []Code{
		{"A", "authored", "The earlier change's own diff brings the flaw in.", true},
		{"C1", "stale origin", "The lines were right when written; a named later change made them inadequate.", false},
		{"C2", "carried", "The flaw is older; the change moved, renamed or reshaped it.", false},
		{"C3", "unclear", "The evidence does not show enough.", false},
	}
	return spec(Attribution, codes, func(r AttributionReply, seen *evidence.Seen) error {
		if err := r.checkRelated(labels(seen, laterChanges)); err != nil {
			return err
		}
		return quoted(seen, "quote", r.Quote, "task_patch", "traced_lines")
	})
}

// checkRelated holds the reply to the list: only its entries are named, and the code agrees with what is said of them.
func (r AttributionReply) checkRelated(list []string) error {
	var origins, named []string
	for i, rel := range r.Related {
		switch {
		case !slices.Contains(list, rel.Change):
			return fmt.Errorf("related, item %d: %s", i+1, noLabel(rel.Change, list))
		case slices.Contains(named, rel.Change):
			return fmt.Errorf("related, item %d: %s is there twice", i+1, rel.Change)
		case len(strings.Fields(rel.Why)) < 3:
			return fmt.Errorf("related, item %d: say why the flaw did or did not begin with %s", i+1, rel.Change)
		}
		named = append(named, rel.Change)
		if rel.Origin {
			origins = append(origins, rel.Change)
		}
	}
	if r.Code != "C1" {
		switch {
		case len(origins) > 0:
			return fmt.Errorf("code %s says that no entry is the origin, and %s is given as one", r.Code, strings.Join(origins, ", "))
		case r.LaterChange != nothing:
			return fmt.Errorf("later_change is %q: with code %s it is the word none", r.LaterChange, r.Code)
		}
		return nil
	}
	switch {
	case len(list) == 0:
		return errors.New("C1 needs an entry of the list of changes in between, and there is no such list")
	case !slices.Contains(list, r.LaterChange):
		return fmt.Errorf("later_change: %s", noLabel(r.LaterChange, list))
	case len(origins) != 1 || origins[0] != r.LaterChange:
		return fmt.Errorf("C1 names %s: exactly this entry must be the origin under related", r.LaterChange)
	}
	return nil
}

// noLabel says that a label is not on the list, and what is.
func noLabel(label string, list []string) string {
	if len(list) == 0 {
		return fmt.Sprintf("%q is no entry: there is no list", label)
	}
	return fmt.Sprintf("%q is no entry of the list, whose labels are %s", label, strings.Join(list, ", "))
}

// SeverityReply holds the axes with what supports each.
type SeverityReply struct {
	Before        string `json:"before"`
	Impact        axis   `json:"impact"`
	Detectability axis   `json:"detectability"`
	Reach         struct {
		Conditions string `json:"conditions"`
		Limiting   string `json:"limiting_condition"`
		Prevalence string `json:"prevalence"` // a quotation, or nothing
		Estimated  bool   `json:"estimated"`
		Value      string `json:"value"`
	} `json:"reach"`
	Security struct {
		Reason string `json:"reason"`
		Value  string `json:"value"`
	} `json:"security"`
	Mechanism  axis   `json:"mechanism"`
	UserImpact string `json:"user_impact"`
	base
}

type axis struct {
	Reason string `json:"reason"`
	Quote  string `json:"quote"`
	Value  string `json:"value"`
}

// Axes are the bare facts.
func (r SeverityReply) Axes() Axes {
	return Axes{
		Impact: r.Impact.Value, Detectability: r.Detectability.Value, Reach: r.Reach.Value, Estimated: r.Reach.Estimated,
		Security: r.Security.Value == yes, Mechanism: r.Mechanism.Value,
	}
}

func severityAxes() Spec {
	codes := []Code{
		{"described", "described", "All axes could be decided from the evidence.", true},
		{"unclear", "unclear", "The evidence does not show what the program did before the fix.", false},
	}
	return spec(SeverityAxes, codes, func(r SeverityReply, seen *evidence.Seen) error {
		if err := r.checkReach(seen); err != nil {
			return err
		}
		all := evidenceSlots(SeverityAxes)
		return allQuoted(seen, []quotation{
			{"impact.quote", r.Impact.Quote, all},
			{"detectability.quote", r.Detectability.Quote, []string{"fix_tests"}},
			{"mechanism.quote", r.Mechanism.Quote, all},
			{"quote", r.Quote, all},
		})
	})
}

// checkReach: a reach that nothing supports is narrow, and said to be estimated.
func (r SeverityReply) checkReach(seen *evidence.Seen) error {
	reach := r.Reach
	switch none := strings.TrimSpace(reach.Prevalence) == ""; {
	case none && !reach.Estimated:
		return errors.New("reach: without a passage under prevalence the reach is estimated")
	case !none && reach.Estimated:
		return errors.New("reach: with a passage under prevalence the reach is not estimated; without one, prevalence is the empty text")
	case none && reach.Value != "narrow":
		return fmt.Errorf("reach: %s needs a passage that supports it; without one the value is narrow", reach.Value)
	case none:
		return nil
	}
	return quoted(seen, "reach.prevalence", reach.Prevalence, evidenceSlots(SeverityAxes)...)
}
