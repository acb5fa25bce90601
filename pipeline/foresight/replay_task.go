package foresight

import (
	"context"
	"fmt"
	"slices"

	"sluice/pipeline"
	"sluice/replay"
)

// TaskRuns is the evidence of runs 1 and 2: the introducing change's own tests before and after it, with the whole suite.
type TaskRuns struct {
	Before     Cell              `json:"before"` // run 1: b1 + T1
	After      Cell              `json:"after"`  // run 2: h1
	FailToPass []string          `json:"fail_to_pass"`
	PassToPass []string          `json:"pass_to_pass"`
	Kinds      map[string]string `json:"kinds"` // how each fail-to-pass test failed in run 1: "missing", "build", "assertion", …
	Verdict    *Verdict          `json:"verdict,omitempty"`
}

var taskCodes = append([]pipeline.Code{
	{Name: "introducing-side-not-runnable", Text: "The introducing change's head does not build or none of its tests passes (run 2): the pair may still serve as an issue instance of the fix."},
	{Name: "no-task-fail-to-pass", Text: "No test tells the introducing change's head from its base (runs 1 and 2): the task cannot be checked."},
	{Name: "task-flaky-only", Text: "All tests that tell the introducing change's head from its base are flaky."},
}, runCodes...)

// replayTask runs the whole suite on h1, and with the introducing change's tests on b1.
func (f *family) replayTask() pipeline.Stage {
	r := replayed{split: evTaskSplit, state: stateH1, makes: evTaskRuns, run: func(ctx context.Context, m *matrix, t1 replay.Overlay) (any, *Verdict, error) {
		runs, err := m.taskRuns(ctx, t1)
		return runs, runs.Verdict, err
	}}
	return pipeline.Stage{
		Name: "replay-task", Version: 3, Pool: pipeline.Sandbox,
		Reads: []string{evTaskSplit, evEnvironment}, Makes: []string{evTaskRuns},
		Settings: f.runSettings(), Codes: taskCodes, Run: r.stage(f),
	}
}

func (m *matrix) taskRuns(ctx context.Context, t1 replay.Overlay) (TaskRuns, error) {
	var out TaskRuns
	specs := []spec{{Name: "h1", State: stateH1}, {Name: "b1+T1", State: stateB1, Overlays: []replay.Overlay{t1}}}
	first := make([][]observed, len(specs))
	for i, s := range specs {
		r, err := m.runs(ctx, s, 1)
		if err != nil {
			return out, err
		}
		first[i] = []observed{r}
		out.set(i, m.merge(s, first[i]))
		if out.decide(); out.Verdict != nil && !m.set.AllRuns {
			return out, nil
		}
	}
	cells, err := m.rounds(ctx, specs, first, func(cells []Cell) bool {
		so := out
		so.judge(cells)
		return so.Verdict != nil
	})
	if err != nil {
		return out, err
	}
	out.judge(cells)
	return out, nil
}

// judge decides by the cells of runs 2 and 1. As with the fix's runs, further repeats only take tests out of the lists.
func (r *TaskRuns) judge(cells []Cell) {
	r.After, r.Before, r.Verdict = cells[0], cells[1], nil
	r.decide()
}

func (r *TaskRuns) set(i int, c Cell) {
	if i == 0 {
		r.After = c
	} else {
		r.Before = c
	}
}

// decide fills the lists from the cells that there are.
func (r *TaskRuns) decide() {
	switch {
	case r.Verdict != nil:
	case r.After.Trouble != nil:
		r.Verdict = r.After.Trouble
	case len(r.After.passing()) == 0:
		r.Verdict = &Verdict{"introducing-side-not-runnable", fmt.Sprintf("%d tests ran on h1, none passes%s", len(r.After.Tests), firstBroken(r.After))}
	case r.Before.Runs == 0:
	case r.Before.Trouble != nil:
		r.Verdict = r.Before.Trouble
	default:
		r.lists()
	}
}

func (r *TaskRuns) lists() {
	r.FailToPass, r.PassToPass, r.Kinds = nil, nil, map[string]string{}
	flaky := unsteady(r.Before, r.After)
	for _, id := range r.After.passing() {
		o := r.Before.outcome(id)
		switch {
		case slices.Contains(flaky, id) || o == replay.Skip || r.Before.unknown(id):
		case o == replay.Pass:
			r.PassToPass = append(r.PassToPass, id)
		default:
			r.FailToPass = append(r.FailToPass, id)
			r.Kinds[id] = failureKind(r.Before, id)
		}
	}
	switch {
	case len(r.FailToPass) > 0:
	case len(flaky) > 0:
		r.Verdict = &Verdict{"task-flaky-only", flaky[0]}
	default:
		r.Verdict = &Verdict{"no-task-fail-to-pass", r.Before.describe(r.After.passing())}
	}
}

// failureKind says how a test did not pass: by its kind where it has one, else by its outcome. A test that is missing while
// its package did not build is the normal case of a new feature in a compiled language.
func failureKind(c Cell, id string) string {
	t, ok := c.Tests[id]
	switch {
	case ok && t.Kind != "":
		return string(t.Kind)
	case ok:
		return string(t.Outcome)
	case len(c.Broken) > 0:
		return string(replay.Build)
	}
	return string(replay.Missing)
}
