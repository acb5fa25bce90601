package foresight

import (
	"context"
	"slices"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/touched"
)

// Decisive says of the tests that decide about an instance whether the change that brings them touched them itself: a test that a fix
// did not touch shows the defect for another reason than that somebody wrote it for the fix.
type Decisive struct {
	Task         touched.Marks `json:"task"`         // the tests that the task makes pass, and the introducing change
	Anticipation touched.Marks `json:"anticipation"` // the anticipation tests, and the fix
}

// touched marks the decisive tests. It rejects nothing.
func (f *family) touched() pipeline.Stage {
	return pipeline.Stage{
		Name: "touched", Version: 2, Pool: pipeline.Git,
		Reads: []string{evLink, evEnvironment, evGold}, Makes: []string{evDecisive},
		Run: f.runTouched,
	}
}

func (f *family) runTouched(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	p, link, err := f.pair(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	var env Environment
	var g Gold
	for name, v := range map[string]any{evEnvironment: &env, evGold: &g} {
		if err := c.Read(ctx, name, v); err != nil {
			return pipeline.Outcome{}, err
		}
	}
	var out Decisive
	for _, side := range []struct {
		change gitrepo.Change
		state  string
		ids    []string
		into   *touched.Marks
	}{
		{*link.Intro, stateH1, g.TaskFailToPass, &out.Task},
		{p.Fix, stateH2, g.Anticipation, &out.Anticipation},
	} {
		change, err := touched.Of(ctx, f.History, side.change)
		if err != nil {
			return pipeline.Outcome{}, err
		}
		*side.into = change.Mark(env.Recipes[side.state], slices.Clone(side.ids))
	}
	return pipeline.Pass(), c.Write(ctx, evDecisive, out)
}
