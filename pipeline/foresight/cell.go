package foresight

import (
	"context"
	"fmt"
	"maps"
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
	Broken map[string]string      `json:"broken,omitempty"` // of the first run
	// CutShort are prefixes of ids whose tests ended early in one of the runs: one that is missing there is no evidence.
	CutShort []string `json:"cut_short,omitempty"`
	// Unbound are tests that failed because they name what the state does not have: in Python that shows only when they run.
	Unbound []string `json:"unbound,omitempty"`
	Trouble *Verdict `json:"trouble,omitempty"`
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

// runCodes are the reasons that any cell may give.
var runCodes = []pipeline.Code{
	{Name: "run-timeout", Text: "The tests of a state did not end within the time limit (--timeout)."},
	{Name: "run-oom", Text: "The tests of a state used more memory than the limit (--memory)."},
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
			c.Flaky = append(c.Flaky, id)
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
func (m *matrix) merge(s spec, reports []replay.Report) Cell {
	return merge(s.Name, m.env.Recipes[s.State].Runner, reports)
}

func trouble(name string, r replay.Report) *Verdict {
	switch {
	case r.Stop == replay.Timeout:
		return &Verdict{"run-timeout", name + " reached the time limit"}
	case r.Stop == replay.OOM:
		return &Verdict{"run-oom", name + " reached the memory limit"}
	case r.Inconsistent != "":
		return &Verdict{"run-inconsistent", name + ": " + r.Inconsistent}
	}
	return nil
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
// all of them alike. first holds the reports that exist already.
func (m *matrix) rounds(ctx context.Context, specs []spec, first [][]replay.Report) ([]Cell, error) {
	reports := make([][]replay.Report, len(specs))
	for i := range specs {
		if i < len(first) {
			reports[i] = first[i]
		}
	}
	for n := 1; n <= m.set.Repeats; n++ {
		for i, s := range specs {
			if len(reports[i]) >= n {
				continue
			}
			r, err := m.run(ctx, s, n)
			if err != nil {
				return nil, err
			}
			reports[i] = append(reports[i], r)
		}
	}
	cells := make([]Cell, len(specs))
	for i, s := range specs {
		cells[i] = m.merge(s, reports[i])
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
