package foresight

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
)

// Cell is what the repeats of one spec say together.
type Cell struct {
	Name   string                 `json:"name"`
	Runs   int                    `json:"runs"`
	Phases []Phases               `json:"phases"` // of each run
	Tests  map[string]replay.Test `json:"tests"`  // by id; only tests whose outcomes agree in all runs
	Flaky  []string               `json:"flaky,omitempty"`
	// Seen are the outcomes of the flaky tests, run by run: the evidence for their quarantine.
	Seen   map[string][]string `json:"seen,omitempty"`
	Broken map[string]string   `json:"broken,omitempty"` // of the first run
	// CutShort are prefixes of ids whose tests ended early in one of the runs: one that is missing there is no evidence.
	CutShort []string `json:"cut_short,omitempty"`
	// Unbound are tests that failed because they name what the state does not have: in Python that shows only when they run.
	Unbound []string `json:"unbound,omitempty"`
	Trouble *Verdict `json:"trouble,omitempty"`
	// Conditions are those of the runs: one entry if all had the same.
	Conditions []replay.Conditions `json:"conditions,omitempty"`
}

// Phases are the three outcomes of a run that are recorded apart.
type Phases struct {
	BuildSource replay.Phase `json:"build_source"`
	BuildTests  replay.Phase `json:"build_tests"`
	RunTests    replay.Phase `json:"run_tests"`
}

// Verdict is a reason code with its line.
type Verdict struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

func (v *Verdict) reject() pipeline.Outcome { return pipeline.Reject(v.Code, v.Reason) }

const codeOOM = "run-oom"

// runCodes are the reasons that any cell may give.
var runCodes = []pipeline.Code{
	{Name: "run-timeout", Text: "The tests of a state did not end within the time limit (--timeout)."},
	{Name: codeOOM, Text: "The tests of a state used more memory than the limit (--memory)."},
	{Name: "run-disk", Text: "The tests of a state filled what the files of one run may take."},
	{Name: "setup-failure", Text: "A run ended before its first test though everything was built: what prepares the tests failed (an initialiser, a hook, the tool itself), which is evidence of nothing."},
	{Name: "run-inconsistent", Text: "Report, exit code and log of a run disagree (or there is no report): such a run is evidence of nothing."},
}

// merge makes a cell of the reports of a spec's repeats. A test that one run lacks is missing there; outcomes that differ make it flaky.
func merge(name, tool string, reports []replay.Report) Cell {
	c := Cell{Name: name, Runs: len(reports), Tests: map[string]replay.Test{}}
	seen := map[string][]replay.Test{}
	for _, r := range reports {
		c.Phases = append(c.Phases, Phases{r.BuildSource, r.BuildTests, r.RunTests})
		for _, t := range r.Tests {
			seen[t.ID] = append(seen[t.ID], t)
		}
		if c.Trouble == nil {
			c.Trouble = trouble(name, r)
		}
		c.CutShort = append(c.CutShort, tools.CutShort(tool, r.Tests)...)
	}
	for id, tests := range seen {
		if len(tests) < len(reports) || slices.ContainsFunc(tests, func(t replay.Test) bool { return t.Outcome != tests[0].Outcome }) {
			c.quarantine(id, reports)
			continue
		}
		c.Tests[id] = tests[0]
		if tools.Unbound(tool, tests[0]) {
			c.Unbound = append(c.Unbound, id)
		}
	}
	slices.Sort(c.Flaky)
	slices.Sort(c.Unbound)
	slices.Sort(c.CutShort)
	c.CutShort = slices.Compact(c.CutShort)
	if len(reports) > 0 {
		c.Broken = reports[0].Broken
	}
	return c
}

// merge makes the cell of a spec.
func (m *matrix) merge(s spec, runs []observed) Cell {
	reports := make([]replay.Report, len(runs))
	var conditions []replay.Conditions
	for i, r := range runs {
		reports[i] = r.Report
		if !slices.ContainsFunc(conditions, func(c replay.Conditions) bool { return reflect.DeepEqual(c, r.Conditions) }) {
			conditions = append(conditions, r.Conditions)
		}
	}
	c := merge(s.Name, m.env.Recipes[s.State].Runner, reports)
	c.Conditions = conditions
	if i := slices.IndexFunc(runs, func(r observed) bool { return r.Report.Stop == replay.OOM }); i >= 0 && c.Trouble != nil && c.Trouble.Code == codeOOM {
		c.Trouble.Reason += fmt.Sprintf(" of %d MiB", runs[i].Conditions.Memory>>20)
	}
	return c
}

// quarantine notes a test whose outcomes differ, with what it did in each run.
func (c *Cell) quarantine(id string, reports []replay.Report) {
	c.Flaky = append(c.Flaky, id)
	if c.Seen == nil {
		c.Seen = map[string][]string{}
	}
	for _, r := range reports {
		seen := string(replay.Missing)
		if i := slices.IndexFunc(r.Tests, func(t replay.Test) bool { return t.ID == id }); i >= 0 {
			seen = ended(r.Tests[i])
		}
		c.Seen[id] = append(c.Seen[id], seen)
	}
}

// ended is a test's end in words: its outcome, with the kind of its failure.
func ended(t replay.Test) string {
	if t.Kind == "" {
		return string(t.Outcome)
	}
	return string(t.Outcome) + ": " + string(t.Kind)
}

func trouble(name string, r replay.Report) *Verdict {
	switch {
	case r.Stop == replay.Timeout:
		return &Verdict{"run-timeout", name + " reached the time limit"}
	case r.Stop == replay.OOM:
		return &Verdict{codeOOM, name + " reached the memory limit"}
	case r.Stop == replay.DiskFull:
		return &Verdict{"run-disk", name + " reached the limit of its files"}
	case setupFailed(r):
		return &Verdict{"setup-failure", name + " ended before its first test" + firstBroken(Cell{Broken: r.Broken}) + because(r.Inconsistent)}
	case r.Inconsistent != "":
		return &Verdict{"run-inconsistent", name + ": " + r.Inconsistent}
	}
	return nil
}

// setupFailed reports whether a run broke down before any test ended, though nothing failed to build.
func setupFailed(r replay.Report) bool {
	built := r.BuildSource != replay.Failed && r.BuildTests != replay.Failed
	return r.RunTests == replay.Failed && built && len(r.Tests) == 0
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// outcome of a test; one that the cell does not hold is missing.
func (c Cell) outcome(id string) replay.Outcome {
	if t, ok := c.Tests[id]; ok {
		return t.Outcome
	}
	return replay.Missing
}

// unknown reports whether a test is missing because its package ended early.
func (c Cell) unknown(id string) bool {
	return c.outcome(id) == replay.Missing && slices.ContainsFunc(c.CutShort, func(scope string) bool { return strings.HasPrefix(id, scope) })
}

func (c Cell) passes(id string) bool { return c.outcome(id) == replay.Pass }

// ranAndFailed reports whether the test itself ran and did not pass: a package that does not build is no evidence, and neither is a
// name that came later.
func (c Cell) ranAndFailed(id string) bool {
	t := c.Tests[id]
	switch t.Outcome {
	case replay.Fail, replay.Error, replay.TimedOut:
		return t.Kind != replay.Build && t.Kind != replay.Collection && !slices.Contains(c.Unbound, id)
	}
	return false
}

// passing lists the tests that pass, sorted.
func (c Cell) passing() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for id, t := range c.Tests {
			if t.Outcome == replay.Pass && !yield(id) {
				return
			}
		}
	})
}

// unsteady joins the flaky tests of several cells.
func unsteady(cells ...Cell) []string {
	set := map[string]bool{}
	for _, c := range cells {
		for _, id := range c.Flaky {
			set[id] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// rounds runs the specs from one repeat to another, all specs of a round before the next round: a slow drift of the machine hits
// all of them alike. first holds the runs that exist already. It stops as soon as sure says that the cells so far decide, whatever the
// repeats that are left would say; nil: never.
func (m *matrix) rounds(ctx context.Context, specs []spec, first [][]observed, sure func([]Cell) bool) ([]Cell, error) {
	runs, cells := make([][]observed, len(specs)), make([]Cell, len(specs))
	for i, s := range specs {
		if i < len(first) {
			runs[i] = slices.Clone(first[i])
			cells[i] = m.merge(s, runs[i])
		}
	}
	for n := 1; n <= m.set.Repeats; n++ {
		for i, s := range specs {
			if len(runs[i]) >= n {
				continue
			}
			s.Share = n > 1 && m.set.Repeats > 2 && s.Ahead == 0 && runs[i][0].Wall >= shareFrom
			r, err := m.runs(ctx, s, n)
			if err != nil {
				return nil, err
			}
			runs[i] = append(runs[i], r)
			cells[i] = m.merge(s, runs[i])
			if sure != nil && !m.set.AllRuns && sure(cells) {
				return cells, nil
			}
		}
	}
	return cells, nil
}

// describe says in a few words what became of the tests that matter on a state.
func (c Cell) describe(ids []string) string {
	count := map[replay.Outcome]int{}
	for _, id := range ids {
		count[c.outcome(id)]++
	}
	s := ""
	for _, o := range slices.Sorted(maps.Keys(count)) {
		s += fmt.Sprintf(", %d %s", count[o], o)
	}
	if s == "" {
		return c.Name + ": none"
	}
	return c.Name + ": " + s[2:]
}
