package foresight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/miners/lang"
	"sluice/pipeline"
	"sluice/pipeline/recipes"
	"sluice/replay"
)

// The four states of a pair.
const (
	stateB1 = "b1" // base of the introducing change
	stateH1 = "h1" // its head
	stateB2 = "b2" // base of the fix
	stateH2 = "h2" // its head
)

// states are in the order in which their environments are made: the run that shows a recipe to work on the fix's head is the first that the
// matrix wants, of the others none is.
var states = []string{stateH2, stateB2, stateH1, stateB1}

// Environment is what makes the four states executable.
type Environment struct {
	Commits map[string]string        `json:"commits"` // by state
	Recipes map[string]replay.Recipe `json:"recipes"`
	Failed  string                   `json:"failed,omitempty"` // the state whose environment did not install
	Log     string                   `json:"log,omitempty"`    // what that printed
}

// Installed is what a state's environment has, as far as this store's runs saw it: a commit alone does not say which versions its dependencies
// had, and a rebuild that differs must be seen to differ; see github.com/SWE-bench/SWE-bench/issues/185. No stage reads it, so that what is
// decided depends on recipes alone.
type Installed struct {
	Environment string `json:"environment"`         // fingerprint of the recipe
	Image       string `json:"image,omitempty"`     // digest
	Installed   string `json:"installed,omitempty"` // the end of what installing printed
}

// environment finds a recipe for each state and installs it, with the network that running tests will not have: on the ladder of package
// recipes; where that ends, an agent may try, if there is one.
func (f *family) environment() pipeline.Stage {
	return pipeline.Stage{
		Name: "environment", Version: 5, Pool: pipeline.Sandbox,
		Reads: []string{evSplit, evLink, evTaskSplit}, Makes: []string{evEnvironment, evClimbs, evSetups, evInstalled},
		Settings: f.environmentSettings(),
		Codes: []pipeline.Code{
			{Name: "no-recipe", Text: "Neither heuristics nor a neighbouring state's recipe make one of the states executable, nor did an agent find out, if one was configured; the reason names the state and what was missing."},
			{Name: "install-failed", Text: "Installing the dependencies of one of the states failed, and neither its workflow, the versions of its day, a neighbour's recipe nor an agent, if one was configured, was another way; `sluice explain` shows each try with the end of its log. Check the network settings for building environments."},
		},
		Run: f.runEnvironment,
	}
}

// environmentSettings are what decides about recipes besides the states.
func (f *family) environmentSettings() any {
	s := struct {
		Sandbox, Image string
		Limits         replay.Limits
		Ladder         int
		Setup          any `json:",omitempty"`
	}{Sandbox: f.sandboxName(), Image: f.Image, Limits: f.set.Limits, Ladder: recipes.Version}
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
	setups, climbs, proven, have := Setups{}, Climbs{}, map[string]bool{}, map[string]Installed{}
	write := func() error {
		err := errors.Join(c.Write(ctx, evEnvironment, env), writeClimbs(ctx, c, climbs), writeSetups(ctx, c, setups))
		if len(have) > 0 {
			err = errors.Join(err, c.Write(ctx, evInstalled, have))
		}
		return err
	}
	for _, s := range states {
		paths := append(fix.Tests(), fix.Code()...)
		if s == stateB1 || s == stateH1 {
			paths = append(task.Tests(), task.Code()...)
		}
		tree, err := f.History.Tree(ctx, env.Commits[s])
		if err != nil {
			return pipeline.Outcome{}, err
		}
		o, out, err := f.prepare(ctx, attempt{c, &env, setups, climbs, proven, s, tree, paths, have})
		if out || err != nil {
			return o, errors.Join(err, write())
		}
	}
	return pipeline.Pass(), write()
}

// prepare finds and installs one state's environment; out says that the candidate ends here.
func (f *family) prepare(ctx context.Context, a attempt) (o pipeline.Outcome, out bool, err error) {
	ladder := recipes.Ladder{History: f.History, Sandbox: f.Sandbox, Image: f.Image, Limits: f.set.Limits}
	found, err := ladder.Find(ctx, recipes.Request{
		Once: a.c.Once, Commit: a.env.Commits[a.state], Paths: a.paths, Tests: testsOf(a.paths), Proven: a.proven, Last: a.env.Commits[stateH2],
	})
	if err != nil {
		return o, false, fmt.Errorf("finding a recipe for %s: %w", a.state, err)
	}
	if found.Climbed() {
		a.climbs[a.state] = found.Tries
	}
	r := found.Recipe
	if found.Trial.Failed == "" && r.Runner != "" {
		a.have[a.state] = Installed{r.Fingerprint, found.Trial.Image, found.Trial.Installed}
	}
	switch first := found.Tries[0]; {
	case found.OK:
		a.proven[r.Fingerprint] = true
	case r.Runner == "":
		why := fmt.Sprintf("%s (%.12s): %s", a.state, a.env.Commits[a.state], first.Reason)
		return f.orSecond(ctx, a, nil, pipeline.Reject("no-recipe", why+climbed(found.Tries)))
	case first.Result == recipes.InstallFailed:
		a.env.Recipes[a.state], a.env.Failed, a.env.Log = r, a.state, found.First.Log
		return f.orSecond(ctx, a, &r, pipeline.Reject("install-failed", fmt.Sprintf("%s: %s", a.state, first.Reason)+climbed(found.Tries)))
	}
	// What only installs stays: what the tests do on each state is for the replaying stages to say.
	a.env.Recipes[a.state] = r
	a.env.Recipes[a.state], err = f.improve(ctx, a, r)
	return o, false, err
}

// climbed says in a few words what else was tried.
func climbed(tries []recipes.Try) string {
	var b strings.Builder
	for _, t := range tries[1:] {
		fmt.Fprintf(&b, "; %s: %s", t.Rung, t.Result)
	}
	return b.String()
}

// testsOf are the test files among paths.
func testsOf(paths []string) []string {
	out := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return lang.Classify(p) != lang.Test })
	slices.Sort(out)
	return out
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
