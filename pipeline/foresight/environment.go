package foresight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
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

// environment finds a recipe for each state and installs it, with the network that running tests will not have. Heuristics come
// first; where they fail, an agent may try, if there is one.
func (f *family) environment() pipeline.Stage {
	return pipeline.Stage{
		Name: "environment", Version: 2, Pool: pipeline.Sandbox,
		Reads: []string{evSplit, evLink, evTaskSplit}, Makes: []string{evEnvironment, evSetups},
		Settings: f.environmentSettings(),
		Codes: []pipeline.Code{
			{Name: "no-recipe", Text: "No heuristic knows how to make one of the states executable, nor did an agent find out, if one was configured; the reason names the state and what was missing."},
			{Name: "install-failed", Text: "Installing the dependencies of one of the states failed, and no agent found another way, if one was configured; `sluice explain` shows the log. Check the network settings for building environments."},
		},
		Run: f.runEnvironment,
	}
}

// environmentSettings are what decides about recipes besides the states.
func (f *family) environmentSettings() any {
	s := struct {
		Sandbox, Image string
		Setup          any `json:",omitempty"`
	}{Sandbox: f.sandboxName(), Image: f.Image}
	if f.Setup != nil {
		s.Setup = f.Setup.Settings()
	}
	return s
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
	setups := Setups{}
	for _, s := range states {
		paths := append(fix.Tests(), fix.Code()...)
		if s == stateB1 || s == stateH1 {
			paths = append(task.Tests(), task.Code()...)
		}
		tree, err := f.History.Tree(ctx, env.Commits[s])
		if err != nil {
			return pipeline.Outcome{}, err
		}
		o, out, err := f.prepare(ctx, attempt{c: c, env: &env, done: setups, state: s, tree: tree, paths: paths})
		if out || err != nil {
			return o, errors.Join(err, c.Write(ctx, evEnvironment, env), writeSetups(ctx, c, setups))
		}
	}
	return pipeline.Pass(), errors.Join(c.Write(ctx, evEnvironment, env), writeSetups(ctx, c, setups))
}

// prepare finds and installs one state's environment; out says that the candidate ends here.
func (f *family) prepare(ctx context.Context, a attempt) (o pipeline.Outcome, out bool, err error) {
	r, err := tools.Detect(ctx, a.tree, tools.Options{Image: f.Image, Paths: a.paths})
	var none tools.ErrNoRecipe
	if errors.As(err, &none) {
		why := fmt.Sprintf("%s (%.12s): %s", a.state, a.env.Commits[a.state], none.Reason)
		return f.orSecond(ctx, a, nil, pipeline.Reject("no-recipe", why))
	}
	if err != nil {
		return o, false, fmt.Errorf("detecting the recipe of %s: %w", a.state, err)
	}
	a.env.Recipes[a.state] = r
	log, err := f.install(ctx, a.c, r, a.tree)
	if err != nil {
		return o, false, fmt.Errorf("preparing the environment of %s: %w", a.state, err)
	}
	if log.Failed {
		a.env.Failed, a.env.Log = a.state, log.Log
		return f.orSecond(ctx, a, &r, pipeline.Reject("install-failed", fmt.Sprintf("%s: %s", a.state, log.Error)))
	}
	a.env.Recipes[a.state], err = f.improve(ctx, a, r)
	return o, false, err
}

// orSecond rejects, unless the installer finds a recipe.
func (f *family) orSecond(ctx context.Context, a attempt, heuristic *replay.Recipe, reject pipeline.Outcome) (pipeline.Outcome, bool, error) {
	why := reject.Reason
	if a.env.Failed == a.state {
		why += "\n" + a.env.Log
	}
	r, ok, err := f.second(ctx, a, heuristic, why)
	if err != nil {
		return pipeline.Outcome{}, false, err
	}
	if !ok {
		if res, asked := a.done[a.state]; asked {
			reject.Reason += "; the agent: " + res.Reason
		}
		return reject, true, nil
	}
	a.env.Recipes[a.state] = r
	a.env.Failed, a.env.Log = "", ""
	return pipeline.Outcome{}, false, nil
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
