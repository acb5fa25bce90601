package foresight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/pipeline"
)

// Gold is the lists of tests that grade an instance, all of them steady in every state that was run.
type Gold struct {
	TaskFailToPass []string          `json:"task_fail_to_pass"`
	TaskPassToPass []string          `json:"task_pass_to_pass"`
	TaskKinds      map[string]string `json:"task_kinds"`
	Anticipation   []string          `json:"anticipation"`
	Flaky          []string          `json:"flaky,omitempty"`
	// AnticipationKinds say how each anticipation test failed on the introducing change's head.
	AnticipationKinds map[string]string `json:"anticipation_kinds"`
	// Excluded are the tests that no list has, each with the reason and what it did.
	Excluded []pipeline.Excluded `json:"excluded,omitempty"`
	Clock    Sensitive           `json:"clock_sensitive"`
}

// gold applies the rule of admission: at least one task and one anticipation test that go from failing to passing, all steady.
func (f *family) gold() pipeline.Stage {
	codes := slices.Concat(fixCodes, taskCodes, []pipeline.Code{{Name: "clock-sensitive-only", Text: "All anticipation tests, or all that tell the introducing change's head from its base, fail when the clock is years ahead: what they showed would not stay true."}})
	slices.SortFunc(codes, func(a, b pipeline.Code) int { return strings.Compare(a.Name, b.Name) })
	codes = slices.CompactFunc(codes, func(a, b pipeline.Code) bool { return a.Name == b.Name })
	return pipeline.Stage{
		Name: "gold", Version: 2, Pool: pipeline.CPU,
		Reads: []string{evFixRuns, evTaskRuns, evOriginRuns, evClockRuns}, Makes: []string{evGold},
		Codes: codes, Run: runGold,
	}
}

func runGold(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	var fr FixRuns
	var tr TaskRuns
	var or OriginRuns
	var cr ClockRuns
	for name, v := range map[string]any{evFixRuns: &fr, evTaskRuns: &tr, evOriginRuns: &or, evClockRuns: &cr} {
		if err := c.Read(ctx, name, v); err != nil {
			return pipeline.Outcome{}, err
		}
	}
	for _, v := range []*Verdict{fr.Verdict, tr.Verdict} { // only under --all-runs does a candidate with a verdict come so far
		if v != nil {
			return v.reject(), nil
		}
	}
	g := goldOf(fr, tr, or, cr)
	if err := c.Write(ctx, evGold, g); err != nil {
		return pipeline.Outcome{}, err
	}
	flaky := len(g.Flaky) > 0
	switch {
	case !flaky && (len(g.Anticipation) == 0 || len(g.TaskFailToPass) == 0):
		return pipeline.Reject("clock-sensitive-only", fmt.Sprintf("%s: %s", cr.Excluded[0].State, cr.Excluded[0].Test)), nil
	case len(g.Anticipation) == 0:
		return pipeline.Reject("flaky-only", fmt.Sprintf("the anticipation tests are flaky in another state: %s", g.Flaky[0])), nil
	case len(g.TaskFailToPass) == 0:
		return pipeline.Reject("task-flaky-only", fmt.Sprintf("the task's tests are flaky in another state: %s", g.Flaky[0])), nil
	}
	return pipeline.Pass(), nil
}

// goldOf takes every test out of the lists that was flaky anywhere, or fails when the clock is ahead.
func goldOf(fr FixRuns, tr TaskRuns, or OriginRuns, cr ClockRuns) Gold {
	cells := []Cell{fr.Before, fr.After, fr.Origin, tr.Before, tr.After}
	for _, c := range []*Cell{or.Base, or.Carried, or.Suite} {
		if c != nil {
			cells = append(cells, *c)
		}
	}
	g := Gold{Flaky: unsteady(cells...), TaskKinds: map[string]string{}, AnticipationKinds: map[string]string{}, Clock: cr.Sensitive}
	g.Excluded = append(quarantined(cells), cr.Excluded...)
	out := map[string]bool{}
	for _, e := range g.Excluded {
		out[e.Test] = true
	}
	steady := func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return out[id] })
	}
	g.TaskFailToPass, g.TaskPassToPass, g.Anticipation = steady(tr.FailToPass), steady(tr.PassToPass), steady(fr.Anticipation)
	for _, id := range g.TaskFailToPass {
		g.TaskKinds[id] = tr.Kinds[id]
	}
	for _, id := range g.Anticipation {
		g.AnticipationKinds[id] = failureKind(fr.Origin, id)
	}
	return g
}

// quarantined lists the flaky tests of the cells, state by state.
func quarantined(cells []Cell) []pipeline.Excluded {
	var out []pipeline.Excluded
	for _, c := range cells {
		for _, id := range c.Flaky {
			out = append(out, pipeline.Excluded{Test: id, Reason: "flaky", State: c.Name, Outcomes: c.Seen[id]})
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
