package foresight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/recipe"
)

// The four states of a pair.
const (
	stateB1 = "b1" // base of the introducing change
	stateH1 = "h1" // its head
	stateB2 = "b2" // base of the fix
	stateH2 = "h2" // its head
)

var states = []string{stateB1, stateH1, stateB2, stateH2}

// Environment is what makes the four states executable.
type Environment struct {
	Commits map[string]string        `json:"commits"` // by state
	Recipes map[string]replay.Recipe `json:"recipes"`
	Failed  string                   `json:"failed,omitempty"` // the state whose environment did not install
	Log     string                   `json:"log,omitempty"`    // what that printed
}

// environment finds a recipe for each state and installs it, with the network that running tests will not have.
func (f *family) environment() pipeline.Stage {
	return pipeline.Stage{
		Name: "environment", Version: 1, Pool: pipeline.Sandbox,
		Reads: []string{evSplit, evLink, evTaskSplit}, Makes: []string{evEnvironment},
		Settings: struct{ Sandbox, Image string }{f.sandboxName(), f.Image},
		Codes: []pipeline.Code{
			{Name: "no-recipe", Text: "No heuristic knows how to make one of the states executable; the reason names the state and what was missing."},
			{Name: "install-failed", Text: "Installing the dependencies of one of the states failed; `sluice explain` shows the log. Check the network settings for building environments."},
		},
		Run: f.runEnvironment,
	}
}

func (f *family) sandboxName() string {
	if f.Sandbox == nil {
		return ""
	}
	return f.Sandbox.Name()
}

func (f *family) runEnvironment(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	p, link, err := f.pair(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	fix, task, err := splits(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	env := Environment{Recipes: map[string]replay.Recipe{}, Commits: map[string]string{
		stateB1: link.Intro.Base, stateH1: link.Intro.Head, stateB2: p.Fix.Base, stateH2: p.Fix.Head,
	}}
	for _, s := range states {
		paths := append(fix.Tests(), fix.Code()...)
		if s == stateB1 || s == stateH1 {
			paths = append(task.Tests(), task.Code()...)
		}
		o, out, err := f.prepare(ctx, c, &env, s, paths)
		if out || err != nil {
			return o, errors.Join(err, c.Write(ctx, evEnvironment, env))
		}
	}
	return pipeline.Pass(), c.Write(ctx, evEnvironment, env)
}

// prepare detects and installs one state's environment; out says that the candidate ends here.
func (f *family) prepare(ctx context.Context, c *pipeline.Case, env *Environment, state string, paths []string) (o pipeline.Outcome, out bool, err error) {
	tree, err := f.History.Tree(ctx, env.Commits[state])
	if err != nil {
		return o, false, err
	}
	r, err := recipe.Detect(ctx, tree, recipe.Options{Image: f.Image, Paths: paths})
	var none recipe.ErrNoRecipe
	if errors.As(err, &none) {
		return pipeline.Reject("no-recipe", fmt.Sprintf("%s (%.12s): %s", state, env.Commits[state], none.Reason)), true, nil
	}
	if err != nil {
		return o, false, fmt.Errorf("detecting the recipe of %s: %w", state, err)
	}
	env.Recipes[state] = r
	log, err := f.install(ctx, c, r, tree)
	if err != nil {
		return o, false, fmt.Errorf("preparing the environment of %s: %w", state, err)
	}
	if log.Failed {
		env.Failed, env.Log = state, log.Log
		return pipeline.Reject("install-failed", fmt.Sprintf("%s: %s", state, log.Error)), true, nil
	}
	return o, false, nil
}

// installed is the stored result of an installation.
type installed struct {
	Failed bool   `json:"failed,omitempty"`
	Error  string `json:"error,omitempty"`
	Log    string `json:"log,omitempty"`
}

func (f *family) install(ctx context.Context, c *pipeline.Case, r replay.Recipe, t replay.Tree) (installed, error) {
	var in installed
	w := pipeline.Work{Kind: "environment", Label: "environment " + r.Fingerprint, Inputs: []string{f.Sandbox.Name(), r.Fingerprint}}
	b, err := c.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		env, err := f.Sandbox.Prepare(ctx, r, t)
		var failed *replay.InstallError
		if errors.As(err, &failed) {
			return json.Marshal(installed{Failed: true, Error: failed.Error(), Log: failed.Log})
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(installed{Log: env.Log})
	})
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(b, &in)
}
