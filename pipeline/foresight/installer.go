package foresight

import (
	"context"
	"fmt"
	"path"
	"slices"

	"sluice/judges/model"
	"sluice/judges/operation"
	"sluice/miners/lang"
	"sluice/pipeline"
	"sluice/pipeline/recipes"
	"sluice/pipeline/setup"
	"sluice/replay"
	"sluice/replay/tools"
)

// Installer finds recipes where the heuristics fail; *setup.Setup is one.
type Installer interface {
	// Settings are what decides about its recipes.
	Settings() any
	// Accept says whether a recipe can run tests of the state.
	Accept(context.Context, setup.Request, replay.Recipe) (setup.Trial, error)
	Find(context.Context, setup.Request) (setup.Result, error)
}

// Setups is the evidence of what the installer did, by state: only of those for which it was asked.
type Setups map[string]setup.Result

// Climbs is the evidence of how recipes were found, by state: only of those for which heuristics were not enough.
type Climbs map[string][]recipes.Try

// attempt is one state on its way to an environment.
type attempt struct {
	c      *pipeline.Case
	env    *Environment
	done   Setups
	climbs Climbs
	proven map[string]bool // fingerprints of recipes that ran tests on an earlier state of the candidate
	state  string
	tree   replay.Tree
	paths  []string // that the state's change touches
	have   map[string]Installed
}

// second gives a state without a working recipe to the installer. It returns the accepted recipe, or ok=false.
func (f *family) second(ctx context.Context, a attempt, heuristic *replay.Recipe, why string) (r replay.Recipe, ok bool, err error) {
	if f.Setup == nil {
		return r, false, nil
	}
	q, err := f.request(ctx, a, heuristic, why)
	if err != nil || q.Runner == "" {
		return r, false, err
	}
	res, err := f.Setup.Find(ctx, q)
	if err != nil {
		return r, false, err
	}
	a.done[a.state] = res
	return res.Recipe, res.Accepted, nil
}

// request says what is known of a state.
func (f *family) request(ctx context.Context, a attempt, heuristic *replay.Recipe, why string) (setup.Request, error) {
	q := setup.Request{
		Once: a.c.Once, Charge: model.Charge{Candidate: a.c.ID(), Stage: "environment"}, Label: a.state + " of " + a.c.ID(),
		Tree: a.tree, Recipe: heuristic, Runner: tools.ForPaths(a.paths), Image: f.Image, Why: why,
	}
	if heuristic != nil {
		q.Runner = heuristic.Runner
	}
	failures, err := a.c.Failures(ctx)
	if err != nil {
		return q, err
	}
	q.Round = a.c.Generation() + failures
	names, err := tools.Names(ctx, a.tree, a.paths)
	if err != nil {
		return q, fmt.Errorf("reading the names of %s: %w", a.state, err)
	}
	if len(names) == 0 {
		names = []string{path.Base(f.Repo)}
	}
	q.Self = operation.Self{Repo: f.Repo, Names: names}
	for _, s := range states {
		if res, ok := a.done[s]; ok && res.Accepted {
			q.Hints = append(q.Hints, res.Recipe)
		}
	}
	q.Target.Paths, err = present(ctx, a.tree, a.paths)
	return q, err
}

// present are the test files among the paths that the state has: those of a later change it may lack, or fail to collect.
func present(ctx context.Context, t replay.Tree, paths []string) ([]string, error) {
	var out []string
	err := t.Select(ctx, func(f replay.File) bool {
		if slices.Contains(paths, f.Path) && lang.Classify(f.Path) == lang.Test {
			out = append(out, f.Path)
		}
		return false
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("listing test files: %w", err)
	}
	slices.Sort(out)
	return out, nil
}

// improve asks whether a recipe that installs can run tests, and looks for a better one if not. Without one the recipe stays: what
// the tests do on each state is for the replaying stages to say.
func (f *family) improve(ctx context.Context, a attempt, r replay.Recipe) (replay.Recipe, error) {
	if f.Setup == nil {
		return r, nil
	}
	q, err := f.request(ctx, a, &r, "")
	if err != nil {
		return r, err
	}
	trial, err := f.Setup.Accept(ctx, q, r)
	if err != nil || trial.OK || trial.Ended {
		return trial.Mark(r), err
	}
	better, ok, err := f.second(ctx, a, &r, trial.Reason+"\n"+trial.Log)
	if err != nil || !ok {
		return r, err
	}
	return better, nil
}

func writeClimbs(ctx context.Context, c *pipeline.Case, k Climbs) error {
	if len(k) == 0 {
		return nil
	}
	return c.Write(ctx, evClimbs, k)
}

// writeSetups keeps what the installer did.
func writeSetups(ctx context.Context, c *pipeline.Case, s Setups) error {
	if len(s) == 0 {
		return nil
	}
	return c.Write(ctx, evSetups, s)
}
