// Package setup finds, with an agent, the recipe of a state for which no heuristic has one.
//
// The agent looks for commands; what counts is only their replay: the commands that it reports, each of which the transcript shows
// to have run and succeeded, become a recipe; the recipe is installed from nothing in a fresh sandbox, and the test tool's canonical
// command must then write a report with at least one test, without a network. Whether tests pass does not matter.
//
// It decides nothing about a candidate, never takes an agent's word for anything, and accepts no recipe that changes the project's
// own files, installs a release of the project, or writes a report itself.
package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/judges/agent"
	"sluice/judges/model"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/prompts"
	"sluice/replay"
	"sluice/replay/tools"
)

// PromptName is the prompt of this agent.
const PromptName = "agent-setup"

// Deps are what setups work with.
type Deps struct {
	Crew agents.Crew
	// Limits bound the runs that decide about a recipe.
	Limits replay.Limits
}

// Setup finds recipes. It is safe for concurrent use.
type Setup struct {
	Deps
	prompt prompts.Prompt
}

// New checks that the prompt is there.
func New(d Deps) (*Setup, error) {
	p, err := prompts.Load(PromptName)
	if err != nil {
		return nil, fmt.Errorf("opening the set-up agent: %w", err)
	}
	return &Setup{Deps: d, prompt: p}, nil
}

// Settings are what decides about recipes besides the state, for the memo key of a stage.
func (s *Setup) Settings() any {
	return struct {
		Crew   agents.Settings
		Prompt string
		Limits replay.Limits
		Accept int
	}{s.Crew.Settings(), s.prompt.Digest, s.Limits, acceptVersion}
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
	Trials   []Trial             `json:"trials"` // of recipes, in order; the last one decided
	Spent    agent.Spent         `json:"-"`
}

// Find looks for a recipe. An agent that finds none is no error.
func (s *Setup) Find(ctx context.Context, q Request) (Result, error) {
	r, err := s.find(ctx, q)
	if err != nil {
		return r, fmt.Errorf("setting up %s: %w", q.Label, err)
	}
	return r, nil
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
		r.Image = tools.DefaultImage
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
	task, err := agent.NewTask(s.prompt, given)
	if err != nil {
		return agents.Log{}, agent.Spent{}, pipeline.Permanent(err)
	}
	task.Check = checkReport
	return s.Crew.Lead(ctx, agents.Job{
		Once: q.Once, Charge: q.Charge, Label: "set-up of " + q.Label, Task: task,
		Spec: replay.SessionSpec{Tree: q.Tree, Recipe: q.start(), Build: true},
	})
}

// Report is what the agent says at the end.
type Report struct {
	Reasoning string   `json:"reasoning"`
	Install   []string `json:"install"`
	Build     []string `json:"build"`
	Quote     string   `json:"quote"`
}

// checkReport compares a report with the transcript: the agent may still mend it.
func checkReport(raw json.RawMessage, turns []agent.Turn) error {
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	ran := map[string]*agent.Output{}
	for _, t := range turns {
		if t.Kind == agent.Command && (ran[t.Command] == nil || !t.Output.Failed()) {
			ran[t.Command] = t.Output
		}
	}
	for _, c := range slices.Concat(r.Install, r.Build) {
		switch o := ran[strings.TrimSpace(c)]; {
		case o == nil:
			return fmt.Errorf("The report lists a command that never ran in this form: %.200q. Run it, or leave it out.", c)
		case o.Failed():
			return fmt.Errorf("The report lists a command that never succeeded: %.200q.", c)
		}
	}
	for _, c := range slices.Concat(r.Install, r.Build) {
		if byHand.MatchString(c) {
			return fmt.Errorf("This command runs the tests or touches their report: %.200q. Leave it out of both lists.", c)
		}
	}
	for _, c := range r.Install {
		if copies(c) {
			return fmt.Errorf("This command installs a copy of the project: %.200q. Install it in editable form (-e), so that tests see the files of the folder.", c)
		}
	}
	if agents.Printed(turns, r.Quote) {
		return nil
	}
	return fmt.Errorf("No command printed the line that the report quotes: %.200q. Quote the line of the acceptance command that shows that tests ran, letter for letter.", r.Quote)
}

// judge decides about the session's recipe.
func (s *Setup) judge(ctx context.Context, q Request, out *Result) error {
	t := out.Session.Transcript
	if t.Report == nil {
		out.Reason = fmt.Sprintf("the agent ended without a report (%s): %s", t.End, t.Why)
		return nil
	}
	var report Report
	if err := json.Unmarshal(t.Report, &report); err != nil {
		return pipeline.Permanent(fmt.Errorf("decoding the agent's report: %w", err))
	}
	var err error
	if out.Findings, err = operations(ctx, q, *out.Session, report); err != nil {
		return err
	}
	out.Recipe = assemble(q.start(), report)
	if f := decisive(out.Findings, t, report); f != nil {
		out.Reason = f.String()
		return nil
	}
	trial, sealed, err := s.try(ctx, q, out.Recipe)
	if err != nil {
		return err
	}
	out.Recipe, out.Trials = sealed, append(out.Trials, trial)
	out.Accepted, out.Reason = trial.OK, trial.Reason
	return nil
}

// operations is the deterministic check of what the agent did.
func operations(ctx context.Context, q Request, log agents.Log, r Report) ([]operation.Finding, error) {
	files, err := log.Changes.Operation(ctx, q.Tree, nil)
	if err != nil {
		return nil, err
	}
	start := q.start()
	in := operation.Input{Vars: start.Env, Files: files, Self: q.Self, Quotes: []string{r.Quote}, Needs: []operation.Need{need(start.Runner)}}
	in.Source = func(p string) (string, bool) {
		b, err := q.Tree.ReadFile(ctx, strings.TrimPrefix(p, "./"))
		return string(b), err == nil
	}
	for _, t := range log.Transcript.Commands() {
		in.Commands = append(in.Commands, operation.Command{
			Turn: t.N, Text: t.Command, Ended: t.Output.Stop == agent.Exited, ExitCode: t.Output.ExitCode, Output: t.Output.Text,
		})
	}
	out := operation.Check(in)
	if !log.Changes.Whole {
		out = append(out, operation.Finding{Code: operation.EditedProduction, What: "too much was changed to be looked at " + log.Changes.Fault})
	}
	for _, c := range slices.Concat(r.Install, r.Build) {
		if byHand.MatchString(c) {
			out = append(out, operation.Finding{Code: operation.Misreported, Sure: true, What: fmt.Sprintf("a command of the recipe writes a report itself: %.160q", c)})
		}
	}
	return out, nil
}

// need is the step that no set-up may skip: the test tool ran.
func need(tool string) operation.Need {
	return operation.Need{Name: "the tests", Words: tools.Words(tool)}
}

// decisive is the first finding that refuses the recipe: a sure one, or a question about a command of the recipe itself. Questions
// about what the agent only tried do not matter, since the recipe is replayed without it; they are kept for the judge.
func decisive(findings []operation.Finding, t agent.Transcript, r Report) *operation.Finding {
	for i, f := range findings {
		listed := false
		for _, turn := range t.Turns {
			listed = listed || turn.N == f.Turn && turn.Kind == agent.Command &&
				(slices.Contains(r.Install, turn.Command) || slices.Contains(r.Build, turn.Command))
		}
		if f.Sure || listed {
			return &findings[i]
		}
	}
	return nil
}

// assemble makes the recipe of a report.
func assemble(start replay.Recipe, r Report) replay.Recipe {
	start.Install = steps("install", r.Install)
	start.Build = steps("build", r.Build)
	start.Notes = append(slices.Clone(start.Notes), "found by an agent: "+strings.Join(strings.Fields(r.Reasoning), " "))
	return start
}

func steps(name string, commands []string) []replay.Step {
	var out []replay.Step
	for i, c := range commands {
		out = append(out, replay.Step{Name: fmt.Sprintf("%s %d", name, i+1), Args: []string{"sh", "-c", strings.TrimSpace(c)}, MustPass: true})
	}
	return out
}

// try seals a recipe for the state and runs the acceptance.
func (s *Setup) try(ctx context.Context, q Request, r replay.Recipe) (Trial, replay.Recipe, error) {
	sealed, err := tools.Seal(ctx, q.Tree, r)
	if err != nil {
		return Trial{}, r, err
	}
	t, err := s.Accept(ctx, q, sealed)
	return t, sealed, err
}

var errNoRunner = errors.New("no test tool is known for the state")
