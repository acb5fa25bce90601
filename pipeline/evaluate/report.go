package evaluate

import (
	"fmt"
	"path/filepath"

	"sluice/replay"
)

// Schema is the version of report.json.
const Schema = 1

// Report is an evaluation's outcome. Its first keys are those of a SWE-bench 5 summary, so that what reads those reads it;
// everything but Timing is the same whenever the same predictions are evaluated on the same release.
type Report struct {
	Summary
	Schema    int               `json:"sluice_schema"`
	Release   ReleaseRef        `json:"release"`
	Evaluator int               `json:"evaluator_version"`
	Sandbox   string            `json:"sandbox"`
	Model     string            `json:"model"`
	Settings  map[string]string `json:"settings"`
	Preflight PreflightReport   `json:"preflight"`
	// Complete is false when an instance has no prediction: they are in incomplete_ids.
	Complete  bool              `json:"complete"`
	Ignored   []string          `json:"ignored_ids"`
	Counts    map[State]int     `json:"counts"`
	Metrics   []Metric          `json:"metrics"`
	Instances []InstanceReport  `json:"instances"`
	Timing    map[string]Timing `json:"timing"` // by instance
}

// ReleaseRef names the release that was evaluated on.
type ReleaseRef struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Family string `json:"family"`
}

// Timing is what took how long; it differs from run to run.
type Timing struct {
	Seconds float64 `json:"seconds"`
}

// Summary holds the keys of a SWE-bench 5 summary, schema version 2. There an instance is completed when its tests were
// graded, and in error when they could not be.
type Summary struct {
	Total          int               `json:"total_instances"`
	Submitted      int               `json:"submitted_instances"`
	Completed      int               `json:"completed_instances"`
	Resolved       int               `json:"resolved_instances"`
	Unresolved     int               `json:"unresolved_instances"`
	Infra          int               `json:"infra_failure_instances"`
	Ambiguous      int               `json:"ambiguous_failure_instances"`
	Empty          int               `json:"empty_patch_instances"`
	Errors         int               `json:"error_instances"`
	CompletedIDs   []string          `json:"completed_ids"`
	IncompleteIDs  []string          `json:"incomplete_ids"`
	EmptyIDs       []string          `json:"empty_patch_ids"`
	SubmittedIDs   []string          `json:"submitted_ids"`
	ResolvedIDs    []string          `json:"resolved_ids"`
	UnresolvedIDs  []string          `json:"unresolved_ids"`
	InfraIDs       []string          `json:"infra_failure_ids"`
	AmbiguousIDs   []string          `json:"ambiguous_failure_ids"`
	FailureReasons map[string]string `json:"failure_reasons"`
	ErrorIDs       []string          `json:"error_ids"`
	SchemaVersion  int               `json:"schema_version"`
}

// InstanceReport is a result as the report has it: the tests that pass in the long list are a number.
type InstanceReport struct {
	Result
	Checks []CheckReport `json:"checks,omitempty"`
}

// CheckReport replaces the list of pass-to-pass tests by what is not passing in it. The full list is in the result's file.
type CheckReport struct {
	CheckResult
	PassToPass List `json:"pass_to_pass"`
	Passing    int  `json:"pass_to_pass_passing"`
}

// makeReport puts everything together.
func makeReport(o Options, p Predictions, pre PreflightReport, recs []record) *Report {
	results := make([]Result, len(recs))
	for i, rec := range recs {
		results[i] = rec.Result
	}
	m := o.Release.Manifest
	r := &Report{
		Summary: summarise(results), Schema: Schema, Release: ReleaseRef{m.Name, o.Release.Digest, m.Family},
		Evaluator: Version, Sandbox: o.Sandbox.Name(), Model: p.Model, Settings: map[string]string{}, Preflight: pre,
		Ignored: append([]string{}, p.Ignored...), Counts: count(results), Metrics: Generic(results), Timing: map[string]Timing{},
	}
	for k, v := range o.Settings {
		r.Settings[k] = v
	}
	r.Complete = r.Counts[NotRun] == 0
	if o.Scorer != nil {
		r.Metrics = append(o.Scorer(results), r.Metrics...)
	}
	for i, res := range results {
		r.Instances = append(r.Instances, instanceReport(res))
		if recs[i].Seconds > 0 {
			r.Timing[res.ID] = Timing{recs[i].Seconds}
		}
	}
	return r
}

// count counts the states. Every state has an entry, and the counts add up to the number of results: anything else is a
// defect of this package, and no report may come of it.
func count(results []Result) map[State]int {
	counts := map[State]int{}
	for _, s := range States {
		counts[s] = 0
	}
	for _, r := range results {
		if _, ok := counts[r.State]; !ok {
			panic(fmt.Sprintf("evaluate: %s ended in the unknown state %q", r.ID, r.State))
		}
		counts[r.State]++
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if sum != len(results) {
		panic(fmt.Sprintf("evaluate: %d states for %d instances", sum, len(results)))
	}
	return counts
}

// summarise sorts the results into SWE-bench's classes.
func summarise(results []Result) Summary {
	s := Summary{
		Total: len(results), SchemaVersion: 2, FailureReasons: map[string]string{},
		CompletedIDs: []string{}, IncompleteIDs: []string{}, EmptyIDs: []string{}, SubmittedIDs: []string{}, ResolvedIDs: []string{},
		UnresolvedIDs: []string{}, InfraIDs: []string{}, AmbiguousIDs: []string{}, ErrorIDs: []string{},
	}
	for _, r := range results {
		if r.Why != "" && r.State != NotRun {
			s.FailureReasons[r.ID] = r.Why
		}
		if r.State == NotRun {
			s.IncompleteIDs = append(s.IncompleteIDs, r.ID)
			continue
		}
		s.SubmittedIDs = append(s.SubmittedIDs, r.ID)
		switch r.State {
		case EmptyPatch:
			s.EmptyIDs = append(s.EmptyIDs, r.ID)
		case Resolved:
			s.CompletedIDs, s.ResolvedIDs = append(s.CompletedIDs, r.ID), append(s.ResolvedIDs, r.ID)
		case Unresolved, BuildFailed, Tampered, Invalid:
			s.CompletedIDs, s.UnresolvedIDs = append(s.CompletedIDs, r.ID), append(s.UnresolvedIDs, r.ID)
		case Infra:
			s.ErrorIDs, s.InfraIDs = append(s.ErrorIDs, r.ID), append(s.InfraIDs, r.ID)
		default:
			s.ErrorIDs = append(s.ErrorIDs, r.ID)
		}
	}
	s.Submitted, s.Completed, s.Resolved = len(s.SubmittedIDs), len(s.CompletedIDs), len(s.ResolvedIDs)
	s.Unresolved, s.Infra, s.Empty, s.Errors = len(s.UnresolvedIDs), len(s.InfraIDs), len(s.EmptyIDs), len(s.ErrorIDs)
	return s
}

// instanceReport leaves out the long lists of tests that kept passing.
func instanceReport(r Result) InstanceReport {
	out := InstanceReport{Result: r}
	out.Result.Checks = nil
	for _, c := range r.Checks {
		cr := CheckReport{CheckResult: c, PassToPass: List{}, Passing: len(c.PassToPass[replay.Pass])}
		for o, ids := range c.PassToPass {
			if o != replay.Pass {
				cr.PassToPass[o] = ids
			}
		}
		out.Checks = append(out.Checks, cr)
	}
	return out
}

// write leaves the report and its page in the output folder.
func (r *Report) write(out string) error {
	if err := writeJSON(filepath.Join(out, "report.json"), r); err != nil {
		return err
	}
	return writeAtomic(filepath.Join(out, "report.md"), r.page())
}
