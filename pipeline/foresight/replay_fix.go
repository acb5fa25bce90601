package foresight

import (
	"context"
	"fmt"
	"slices"

	"sluice/pipeline"
	"sluice/pipeline/recipes"
	"sluice/replay"
)

// FixRuns is the evidence of runs 3, 4 and 5: what the fix's tests do before and after the fix, and after the introducing change.
type FixRuns struct {
	Before       Cell     `json:"before"` // run 3: b2 + T2
	After        Cell     `json:"after"`  // run 4: h2
	Origin       Cell     `json:"origin"` // run 5: h1 + T2, narrowed where it had to be
	FailToPass   []string `json:"fail_to_pass"`
	Anticipation []string `json:"anticipation"`
	Narrowed     Narrowed `json:"narrowed"`
	Verdict      *Verdict `json:"verdict,omitempty"` // the reason to reject, under --all-runs kept until the matrix is done
}

// fixCodes are the reasons that runs 3 to 5 give.
var fixCodes = append([]pipeline.Code{
	{Name: "no-test-files", Text: "None of the fix's test files is left to run (only submodules, or all deleted)."},
	{Name: "fix-does-not-build", Text: "The source or the tests of the fix's own head do not build in the environment."},
	{Name: "fix-tests-do-not-pass", Text: "No test passes on the fix's own head (run 4)."},
	{Name: "no-fail-to-pass", Text: "Every test that passes after the fix passes before it too (run 3): its tests do not show the defect."},
	{Name: "anticipation-not-executable", Text: "Laid over the introducing change (run 5), tests that show the fix do not build, also after narrowing, or only fail on a name that came later, and no other one fails: no evidence that the defect was there, nor that it came later."},
	{Name: "not-anticipation", Text: "All tests that show the fix pass on the introducing change's head, or are skipped there (run 5): the defect came later."},
	{Name: "flaky-only", Text: "All tests that decide are flaky: their outcomes differ between runs of one state."},
}, runCodes...)

// replayFix runs the fix's tests on b2, h2 and h1, cheapest first: one run each tells most pairs apart; only what stands after that is repeated.
func (f *family) replayFix() pipeline.Stage {
	r := replayed{split: evSplit, state: stateH2, makes: evFixRuns, run: func(ctx context.Context, m *matrix, t2 replay.Overlay) (any, *Verdict, error) {
		runs, err := m.fixRuns(ctx, t2)
		return runs, runs.Verdict, err
	}}
	return pipeline.Stage{
		Name: "replay-fix", Version: 7, Pool: pipeline.Sandbox,
		Reads: []string{evSplit, evEnvironment}, Makes: []string{evFixRuns},
		Settings: f.runSettings(), Codes: fixCodes, Run: r.stage(f),
	}
}

// runSettings are what every replaying stage reads besides evidence.
func (f *family) runSettings() any {
	return struct {
		Sandbox string
		Repeats int
		AllRuns bool
		Limits  replay.Limits
		Version int
	}{f.sandboxName(), f.set.Repeats, f.set.AllRuns, f.set.Limits, recipes.RunVersion}
}

// fixSpecs are runs 4, 3 and 5, in the order in which they are cheapest to stop at.
func fixSpecs(t2, t2OnH1 replay.Overlay) []spec {
	paths := overlayPaths(t2)
	return []spec{
		{Name: "h2", State: stateH2, Target: paths},
		{Name: "b2+T2", State: stateB2, Overlays: []replay.Overlay{t2}, Target: paths},
		{Name: "h1+T2", State: stateH1, Overlays: []replay.Overlay{t2OnH1}, Target: overlayPaths(t2OnH1)},
	}
}

func overlayPaths(o replay.Overlay) []string {
	paths := make([]string, len(o.Files))
	for i, f := range o.Files {
		paths[i] = f.Path
	}
	slices.Sort(paths)
	return paths
}

// fixRuns runs one round with an early end, then the repeats of what still stands.
func (m *matrix) fixRuns(ctx context.Context, t2 replay.Overlay) (FixRuns, error) {
	var out FixRuns
	if len(t2.Files) == 0 {
		out.Verdict = &Verdict{"no-test-files", "the fix's head holds none of its test files"}
		return out, nil
	}
	specs := fixSpecs(t2, t2)
	first := make([][]observed, len(specs))
	cells := []*Cell{&out.After, &out.Before, &out.Origin}
	for i := range specs {
		var err error
		if specs[i].Name == "h1+T2" {
			first[i], err = m.originRound(ctx, t2, &specs[i], &out)
		} else {
			var r observed
			r, err = m.runs(ctx, specs[i], 1)
			first[i] = []observed{r}
		}
		if err != nil {
			return out, err
		}
		*cells[i] = m.merge(specs[i], first[i])
		if out.decide(i); out.Verdict != nil && !m.set.AllRuns {
			return out, nil
		}
	}
	repeated, err := m.rounds(ctx, specs, first, func(cells []Cell) bool {
		so := out
		so.judge(cells)
		return so.Verdict != nil
	})
	if err != nil {
		return out, err
	}
	out.judge(repeated)
	return out, nil
}

// judge decides by the cells of runs 4, 3 and 5. A verdict stands whatever further repeats say: they only take tests out of the lists.
func (r *FixRuns) judge(cells []Cell) {
	r.After, r.Before, r.Origin, r.Verdict = cells[0], cells[1], cells[2], nil
	for i := range cells {
		r.decide(i)
	}
}

// decide looks at the cells up to the i-th run and says why the candidate is out, if it is.
func (r *FixRuns) decide(i int) {
	switch {
	case r.Verdict != nil:
	case i == 0:
		r.Verdict = r.decideAfter()
	case i == 1:
		r.Verdict = r.decideBefore()
	default:
		r.Verdict = r.decideOrigin()
	}
}

func (r *FixRuns) decideAfter() *Verdict {
	if r.After.Trouble != nil {
		return r.After.Trouble
	}
	if len(r.After.passing()) > 0 {
		return nil
	}
	for _, p := range r.After.Phases {
		if p.BuildSource == replay.Failed || p.BuildTests == replay.Failed {
			return &Verdict{"fix-does-not-build", fmt.Sprintf("source %s, tests %s%s", p.BuildSource, p.BuildTests, firstBroken(r.After))}
		}
	}
	return &Verdict{"fix-tests-do-not-pass", fmt.Sprintf("%d tests ran on h2, none passes%s", len(r.After.Tests), firstBroken(r.After))}
}

func (r *FixRuns) decideBefore() *Verdict {
	if r.Before.Trouble != nil {
		return r.Before.Trouble
	}
	r.FailToPass = nil
	flaky := unsteady(r.Before, r.After)
	for _, id := range r.After.passing() {
		if !r.Before.passes(id) && !r.Before.unknown(id) && !slices.Contains(flaky, id) {
			r.FailToPass = append(r.FailToPass, id)
		}
	}
	switch {
	case len(r.FailToPass) > 0:
		return nil
	case len(flaky) > 0:
		return &Verdict{"flaky-only", fmt.Sprintf("%d flaky tests, and no steady one fails before the fix: %s", len(flaky), flaky[0])}
	}
	return &Verdict{"no-fail-to-pass", r.Before.describe(r.After.passing())}
}

// decideOrigin applies the compile-failure rule: an anticipation test counts only if it ran on h1. Flaky tests say nothing, and that the
// defect came later is said only if every steady test ran.
func (r *FixRuns) decideOrigin() *Verdict {
	if r.Origin.Trouble != nil {
		return r.Origin.Trouble
	}
	r.Anticipation = nil
	flaky, steady, executed := unsteady(r.Before, r.After, r.Origin), 0, 0
	for _, id := range r.FailToPass {
		if slices.Contains(flaky, id) {
			continue
		}
		steady++
		switch o := r.Origin.outcome(id); {
		case r.Narrowed.hides(id):
		case r.Origin.ranAndFailed(id):
			r.Anticipation = append(r.Anticipation, id)
		case o == replay.Pass || o == replay.Skip:
			executed++
		}
	}
	switch {
	case len(r.Anticipation) > 0:
		return nil
	case steady == 0:
		return &Verdict{"flaky-only", fmt.Sprintf("%d flaky tests, and no steady one shows the fix", len(r.FailToPass))}
	case executed == steady:
		return &Verdict{"not-anticipation", r.Origin.describe(r.FailToPass)}
	}
	return &Verdict{"anticipation-not-executable", r.Origin.describe(r.FailToPass) + firstBroken(r.Origin)}
}

// firstBroken quotes the first line of what did not build, for reasons.
func firstBroken(c Cell) string {
	for _, k := range sortedKeys(c.Broken) {
		return "; " + k + ": " + firstLine(c.Broken[k])
	}
	return ""
}
