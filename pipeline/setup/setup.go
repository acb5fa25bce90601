// Package setup finds, with an agent, the recipe of a state for which no heuristic has one.
//
// The agent looks for commands; what counts is only their replay: the commands that it reports, each of which the transcript shows
// to have run and succeeded, become a recipe; the recipe is installed from nothing in a fresh sandbox, and the test tool's canonical
// command must then write a report with at least one test, without a network. Whether tests pass does not matter.
//
// A request may lay tests over the state and name those that have to run. The agent may then adapt the files that support them, and
// leave tests out by name; the others must all be in the report of the replay, with any outcome.
//
// It decides nothing about a candidate, never takes an agent's word for anything, and accepts no recipe that changes the project's
// own files, installs a release of the project, or writes a report itself. What rules cannot tell is for a judge; without one it
// refuses.
package setup

import (
	"context"
	"errors"
	"fmt"

	"sluice/judges"
	"sluice/judges/agent"
	"sluice/judges/model"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/pipeline/judging"
	"sluice/prompts"
	"sluice/replay"
	"sluice/replay/tools"
)

// The prompts of this agent: for a state as it is, and for given tests.
const (
	PromptName  = "agent-setup"
	ScopePrompt = "agent-validation"
)

// Deps are what setups work with.
type Deps struct {
	Crew agents.Crew
	// Limits bound the runs that decide about a recipe.
	Limits replay.Limits
	// Judge rules on what the operation check leaves open. Without one, a recipe with an open question is refused.
	Judge *Judge
}

// Setup finds recipes. It is safe for concurrent use.
type Setup struct {
	Deps
	state, scope prompts.Prompt
}

// New checks that the prompts are there.
func New(d Deps) (*Setup, error) {
	state, err := prompts.Load(PromptName)
	if err != nil {
		return nil, fmt.Errorf("opening the set-up agent: %w", err)
	}
	scope, err := prompts.Load(ScopePrompt)
	if err != nil {
		return nil, fmt.Errorf("opening the set-up agent: %w", err)
	}
	return &Setup{Deps: d, state: state, scope: scope}, nil
}

// Settings are what decides about recipes of states as they are, for the memo key of a stage.
func (s *Setup) Settings() any { return s.settings(s.state) }

// ScopeSettings are the same for requests with a scope.
func (s *Setup) ScopeSettings() any { return s.settings(s.scope) }

func (s *Setup) settings(p prompts.Prompt) any {
	out := struct {
		Crew   agents.Settings
		Prompt string
		Limits replay.Limits
		Accept int
		Judge  any `json:",omitempty"`
	}{Crew: s.Crew.Settings(), Prompt: p.Digest, Limits: s.Limits, Accept: acceptVersion}
	if s.Judge != nil {
		out.Judge = s.Judge.Settings
	}
	return out
}

// Request is one state without a recipe that works.
type Request struct {
	Once   agents.Once
	Charge model.Charge
	Label  string // for people: "h1"
	Tree   replay.Tree
	// Recipe is the heuristic one, if there was one. Else Runner names the test tool.
	Recipe *replay.Recipe
	Runner string
	Image  string
	Why    string          // how the heuristic failed, with what it printed
	Hints  []replay.Recipe // found for other states of the candidate: tried first, since trying costs no model
	Target replay.Target   // which tests must be able to run
	Self   operation.Self
	Round  int // of the judge's questions; see judges.Bench
	// Overlays lie over the tree: the tests of a later change, say. They are part of the state.
	Overlays []replay.Overlay
	// Scope are ids of tests of the state that have to run; none: any test of the tree is enough. An id stands for all cases that
	// the test tool makes of it.
	Scope []string
	// Support are the files that may be adapted, or added, so that the scope runs: fixtures, helpers, data, the tests'
	// configuration. What the agent makes of them is part of what it found. A file with tests of the scope is never one.
	Support []string
}

// Result is what came of a request, with all that shows why.
type Result struct {
	Accepted bool          `json:"accepted"`
	Reason   string        `json:"reason"`           // one line
	Recipe   replay.Recipe `json:"recipe,omitzero"`  // also one that was not accepted
	Hinted   bool          `json:"hinted,omitempty"` // it came from another state: no model was asked
	// Session is the agent's; nil when none was needed.
	Session  *agents.Log         `json:"session,omitempty"`
	Findings []operation.Finding `json:"findings,omitempty"`
	// Ruling is the judge's on what the findings left open; nil when nothing was, or when there is no judge.
	Ruling *judges.Ruling `json:"ruling,omitempty"`
	// Scope is what became of the request's; Adapted are its support files as the agent left them, to be laid over the tree.
	Scope   *Scope        `json:"scope,omitempty"`
	Adapted []agents.File `json:"adapted,omitempty"`
	Trials  []Trial       `json:"trials"` // of recipes, in order; the last one decided
	Spent   agent.Spent   `json:"-"`
}

// Find looks for a recipe. An agent that finds none is no error.
func (s *Setup) Find(ctx context.Context, q Request) (Result, error) {
	r, err := s.find(ctx, q.laid())
	if err != nil {
		return r, judging.Fault(fmt.Errorf("setting up %s: %w", q.Label, err))
	}
	return r, nil
}

// laid makes the overlays part of the tree, so that installing, sessions and runs all see the same state.
func (q Request) laid() Request {
	q.Tree, q.Overlays = agents.Lay(q.Tree, q.Overlays...), nil
	return q
}

func (s *Setup) find(ctx context.Context, q Request) (Result, error) {
	var out Result
	for _, hint := range q.Hints {
		if hint.Runner != q.start().Runner {
			continue
		}
		t, sealed, err := s.try(ctx, q, hint)
		if err != nil {
			return out, err
		}
		if out.Trials = append(out.Trials, t); t.OK {
			out.Accepted, out.Hinted, out.Recipe, out.Reason = true, true, sealed, "the recipe of another state works here too"
			out.Scope = q.ran(t, nil)
			return out, nil
		}
	}
	log, spent, err := s.ask(ctx, q)
	out.Spent = spent
	if err != nil {
		return out, err
	}
	out.Session = &log
	return out, s.judge(ctx, q, &out)
}

// start is what the agent's recipe begins with: the heuristic one without its steps.
func (q Request) start() replay.Recipe {
	r := replay.Recipe{Runner: q.Runner, Image: q.Image, Env: tools.BlankEnv(q.Runner)}
	if q.Recipe != nil {
		r = *q.Recipe
		r.Env = map[string]string{}
		for k, v := range q.Recipe.Env {
			r.Env[k] = v
		}
	}
	if r.Image == "" {
		r.Image = tools.Image(q.Runner)
	}
	// The agent's commands name places by these, so that they hold in every sandbox.
	r.Env[agents.EnvVar], r.Env[agents.TreeVar] = "{env}", "{tree}"
	r.Install, r.Build, r.Inputs, r.Fingerprint = nil, nil, []string{"*"}, ""
	return r
}

// ask leads the session.
func (s *Setup) ask(ctx context.Context, q Request) (agents.Log, agent.Spent, error) {
	given, err := s.evidence(ctx, q)
	if err != nil {
		return agents.Log{}, agent.Spent{}, err
	}
	prompt := s.state
	if len(q.Scope) > 0 {
		prompt = s.scope
	}
	task, err := agent.NewTask(prompt, given)
	if err != nil {
		return agents.Log{}, agent.Spent{}, pipeline.Permanent(err)
	}
	task.Check = q.checkReport
	return s.Crew.Lead(ctx, agents.Job{
		Once: q.Once, Charge: q.Charge, Label: "set-up of " + q.Label, Task: task,
		Spec: replay.SessionSpec{Tree: q.Tree, Recipe: q.start(), Build: true},
	})
}

var errNoRunner = errors.New("no test tool is known for the state")
