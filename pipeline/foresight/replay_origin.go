package foresight

import (
	"context"
	"errors"
	"slices"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
)

// Achievable says whether the anticipation tests can be reached from h1 at all (run 7).
type Achievable string

// The answers of run 7.
const (
	Proven   Achievable = "proven"    // the fix's source patch applies to h1 and the tests pass
	NotShown Achievable = "not-shown" // it applies and they still do not pass
	Unclear  Achievable = "unknown"   // it does not apply
)

// The mechanisms: did the introducing change break something, or leave a case out?
const (
	Regression         = "regression"
	IncompleteCoverage = "incomplete_coverage"
	UnknownMechanism   = "unknown" // run 6 is evidence of nothing: it timed out, or its report is inconsistent
)

// OriginRuns is the evidence of runs 6 and 7.
type OriginRuns struct {
	Base       *Cell      `json:"base,omitempty"`    // run 6: b1 + T2
	Carried    *Cell      `json:"carried,omitempty"` // run 7: h1 + the fix's source patch, with T2
	Suite      *Cell      `json:"suite,omitempty"`   // h1 + the fix's source patch, the task's own tests: the gold keeps them; not run where there is no gold
	Mechanism  string     `json:"mechanism"`
	Achievable Achievable `json:"achievable"`
	Conflict   string     `json:"conflict,omitempty"` // git's words where the patch does not apply
	SuiteKept  bool       `json:"suite_kept"`         // the task's own tests still pass on h1 + the fix's source patch
	// Gold is a patch on b1 that earns full credit: the task's and the fix's source changes together. Empty unless the
	// anticipation is proven and the task's own tests are kept.
	Gold pipeline.Text `json:"gold,omitempty"`
}

// replayOrigin asks whether the behaviour was right before the introducing change, and whether the fix can be reached from it.
func (f *family) replayOrigin() pipeline.Stage {
	return pipeline.Stage{
		Name: "replay-origin", Version: 4, Pool: pipeline.Sandbox,
		Reads: []string{evSplit, evTaskSplit, evEnvironment, evFixRuns, evTaskRuns}, Makes: []string{evOriginRuns},
		Settings: f.runSettings(), Run: f.runReplayOrigin,
	}
}

func (f *family) runReplayOrigin(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	m, err := f.matrix(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	s, err := readSides(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	t2, err := f.History.Overlay(ctx, m.env.Commits[stateH2], s.fix)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	out := OriginRuns{Achievable: Unclear}
	t2 = s.fixRuns.Narrowed.apply(t2)
	patch, err := f.History.Patch(ctx, m.env.Commits[stateB2], m.env.Commits[stateH2], s.fix.Code())
	if err != nil {
		return pipeline.Outcome{}, err
	}
	carried, err := m.carry(ctx, patch, &out)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	specs := originSpecs(t2, carried)
	cells, err := m.rounds(ctx, specs[:min(2, len(specs))], nil, nil)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	out.read(cells, s.fixRuns)
	if len(specs) > 2 && (out.Achievable == Proven || f.set.AllRuns) { // a whole suite: only for a gold that there may be
		if cells, err = m.rounds(ctx, specs[2:], nil, nil); err != nil {
			return pipeline.Outcome{}, err
		}
		out.keep(cells[0], s.taskRuns)
	}
	if out.Achievable == Proven && out.SuiteKept {
		if out.Gold, err = m.goldPatch(ctx, s.task, s.fix, patch); err != nil {
			return pipeline.Outcome{}, err
		}
	}
	return pipeline.Pass(), c.Write(ctx, evOriginRuns, out)
}

// originSpecs are run 6 and, where the fix's patch applies to h1, run 7 and the task's suite on the same tree.
func originSpecs(t2 replay.Overlay, carried *gitrepo.Applied) []spec {
	paths := overlayPaths(t2)
	specs := []spec{{Name: "b1+T2", State: stateB1, Overlays: []replay.Overlay{t2}, Target: paths}}
	if carried == nil {
		return specs
	}
	fix := replay.Overlay{Remove: carried.Removed}
	for _, f := range carried.Files {
		fix.Files = append(fix.Files, replay.File(f))
	}
	return append(specs,
		spec{Name: "h1+fix+T2", State: stateH1, Overlays: []replay.Overlay{fix, t2}, Target: paths},
		spec{Name: "h1+fix", State: stateH1, Overlays: []replay.Overlay{fix}})
}

// carry applies the fix's source patch to h1, three-way. A patch that does not apply is a finding, not an error.
func (m *matrix) carry(ctx context.Context, patch []byte, out *OriginRuns) (*gitrepo.Applied, error) {
	applied, err := m.History.Mirror.ApplyOnto(ctx, m.env.Commits[stateH1], patch)
	if errors.Is(err, gitrepo.ErrConflict) {
		out.Conflict = err.Error()
		return nil, nil
	}
	return &applied, err
}

// read draws the conclusions from the cells.
func (r *OriginRuns) read(cells []Cell, fr FixRuns) {
	r.Base = &cells[0]
	r.Mechanism = IncompleteCoverage
	if r.Base.Trouble != nil {
		r.Mechanism = UnknownMechanism
	}
	if slices.ContainsFunc(fr.Anticipation, r.Base.passes) {
		r.Mechanism = Regression
	}
	if len(cells) < 2 {
		return
	}
	r.Carried = &cells[1]
	r.Achievable = NotShown
	if slices.ContainsFunc(fr.Anticipation, r.Carried.passes) && allPass(r.Carried, fr.Anticipation) {
		r.Achievable = Proven
	}
}

// keep asks whether the task's own tests still pass with the fix's source patch.
func (r *OriginRuns) keep(suite Cell, tr TaskRuns) {
	r.Suite = &suite
	r.SuiteKept = allPass(r.Suite, tr.FailToPass) && allPass(r.Suite, tr.PassToPass)
}

// allPass leaves flaky tests out, since they leave every list (see goldOf).
func allPass(c *Cell, ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !c.passes(id) && !slices.Contains(c.Flaky, id) })
}

// goldPatch is the difference between b1 and h1 with the fix's source changes, without test files.
func (m *matrix) goldPatch(ctx context.Context, task, fix history.Split, patch []byte) (pipeline.Text, error) {
	paths := append(task.Untested(), fix.Code()...)
	return m.History.Mirror.PatchOnto(ctx, m.env.Commits[stateB1], m.env.Commits[stateH1], patch, paths)
}
