package foresight

import "sluice/pipeline/evaluate"

// strata are the groups of the family's scores, fixed before any evaluation. A label that a release lacks makes none.
func strata() []evaluate.By {
	by := evaluate.Usual()
	for _, label := range []string{"mechanism", "difficulty", "fix_difficulty", "severity", "detectability", "linked", "achievable", "judged"} {
		by = append(by, evaluate.ByLabel(label))
	}
	return by
}

// Score makes the family's metrics of all results of a release. FRR is the primary one: the share of instances where
// everything passes, the task's tests and those of the defect that its real implementation had.
func Score(results []evaluate.Result) []evaluate.Metric {
	return []evaluate.Metric{
		evaluate.Share("FRR", "foresight resolve rate (primary): the task is resolved and every anticipation test passes",
			results, evaluate.Result.Full, strata()...),
		evaluate.Share("RR", "resolve rate: every test of the task passes", results, resolved, strata()...),
		evaluate.Mean("anticipation", "mean share of an instance's anticipation tests that pass", results, anticipation, strata()...),
	}
}

// resolved reports whether the task is. A forged run resolves nothing, whatever its task check says.
func resolved(r evaluate.Result) bool { return r.State == evaluate.Resolved }

// anticipation is the share of the anticipation tests that pass; 0 where they did not run, or where something was forged.
func anticipation(r evaluate.Result) float64 {
	if r.State == evaluate.Tampered {
		return 0
	}
	c, _ := r.Check("anticipation")
	return c.Passing()
}
