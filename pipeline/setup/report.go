package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/judges/agent"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/replay"
	"sluice/replay/tools"
)

// Report is what the agent says at the end.
type Report struct {
	Reasoning string     `json:"reasoning"`
	Install   []string   `json:"install"`
	Build     []string   `json:"build"`
	Env       []Var      `json:"env"`
	Omitted   []Omission `json:"omitted,omitempty"` // of a scope
	Quote     string     `json:"quote"`
}

// commands are those of the recipe.
func (r Report) commands() []string { return slices.Concat(r.Install, r.Build) }

// checkReport compares a report with the transcript and the request: the agent may still mend it.
func (q Request) checkReport(raw json.RawMessage, turns []agent.Turn) error {
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if err := checkCommands(r, turns); err != nil {
		return err
	}
	if err := checkVars(r.Env, q.start()); err != nil {
		return err
	}
	if err := q.checkOmitted(r.Omitted); err != nil {
		return err
	}
	if agents.Printed(turns, r.Quote) {
		return nil
	}
	return fmt.Errorf("No command printed the line that the report quotes: %.200q. Quote the line of the acceptance command that shows that tests ran, letter for letter.", r.Quote)
}

// checkCommands wants every command of a recipe to have run and succeeded, and to be none that a recipe may hold.
func checkCommands(r Report, turns []agent.Turn) error {
	ran := map[string]*agent.Output{}
	for _, t := range turns {
		if t.Kind == agent.Command && (ran[t.Command] == nil || !t.Output.Failed()) {
			ran[t.Command] = t.Output
		}
	}
	for _, c := range r.commands() {
		switch o := ran[strings.TrimSpace(c)]; {
		case o == nil:
			return fmt.Errorf("The report lists a command that never ran in this form: %.200q. Run it, or leave it out.", c)
		case o.Failed():
			return fmt.Errorf("The report lists a command that never succeeded: %.200q.", c)
		}
	}
	for _, c := range r.commands() {
		if byHand.MatchString(c) {
			return fmt.Errorf("This command runs the tests or touches their report: %.200q. Leave it out of both lists.", c)
		}
	}
	for _, c := range r.Install {
		if copies(c) {
			return fmt.Errorf("This command installs a copy of the project: %.200q. Install it in editable form (-e), so that tests see the files of the folder.", c)
		}
	}
	return nil
}

// judge decides about the session's recipe: rules first, then its replay, then the judge of operations.
func (s *Setup) judge(ctx context.Context, q Request, out *Result) error {
	t := out.Session.Transcript
	if t.Report == nil {
		out.Reason = fmt.Sprintf("the agent ended without a report (%s): %s", t.End, t.Why)
		return nil
	}
	var r Report
	if err := json.Unmarshal(t.Report, &r); err != nil {
		return pipeline.Permanent(fmt.Errorf("decoding the agent's report: %w", err))
	}
	out.Adapted = q.adapted(out.Session.Changes)
	var err error
	if out.Findings, err = operations(ctx, q, *out.Session, r); err != nil {
		return err
	}
	out.Recipe = assemble(q.start(), r)
	if f := operation.Sure(out.Findings); f != nil {
		out.Reason = f.String()
		return nil
	}
	open := q.open(out.Findings, t, r, out.Adapted)
	if len(open) > 0 && s.Judge == nil {
		out.Reason = open[0].String() + " (a question for the judge of operations, and there is none)"
		return nil
	}
	narrow := q
	narrow.Scope, narrow.Tree = q.kept(r.Omitted), agents.Lay(q.Tree, agents.Overlay(out.Adapted))
	trial, sealed, err := s.try(ctx, narrow, out.Recipe)
	if err != nil {
		return err
	}
	out.Recipe, out.Trials = sealed, append(out.Trials, trial)
	out.Accepted, out.Reason, out.Scope = trial.OK, trial.Reason, narrow.ran(trial, r.Omitted)
	if !trial.OK || len(open) == 0 {
		return nil
	}
	return s.rule(ctx, q, open, out)
}

// operations is the deterministic check of what the agent did.
func operations(ctx context.Context, q Request, log agents.Log, r Report) ([]operation.Finding, error) {
	files, err := log.Changes.Operation(ctx, q.Tree, nil)
	if err != nil {
		return nil, err
	}
	start := q.start()
	in := operation.Input{
		Vars: start.Env, Files: files, Self: q.Self, Quotes: []string{r.Quote}, Needs: []operation.Need{need(start.Runner)}, Allowed: q.supports(),
	}
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
		// Without a scope nothing of the session's tree counts.
		out = append(out, operation.Finding{Code: operation.EditedProduction, Sure: len(q.Scope) > 0, Path: ".", What: "too much was changed to be looked at " + log.Changes.Fault})
	}
	for _, c := range r.commands() {
		if byHand.MatchString(c) {
			out = append(out, operation.Finding{Code: operation.Misreported, Sure: true, What: fmt.Sprintf("a command of the recipe writes a report itself: %.160q", c)})
		}
	}
	return append(out, doubts(r.Env)...), nil
}

// need is the step that no set-up may skip: the test tool ran.
func need(tool string) operation.Need {
	return operation.Need{Name: "the tests", Words: tools.CommandWords(tool)}
}

// open are the questions about what counts: a command of the recipe, its variables, a file that was adapted. Questions about what the
// agent only tried decide nothing, since the recipe is replayed without it; they are kept, and the judge sees them too.
func (q Request) open(findings []operation.Finding, t agent.Transcript, r Report, adapted []agents.File) []operation.Finding {
	var out []operation.Finding
	for _, f := range operation.Questions(findings) {
		listed := slices.ContainsFunc(t.Turns, func(turn agent.Turn) bool {
			return turn.N == f.Turn && turn.Kind == agent.Command && slices.Contains(r.commands(), turn.Command)
		})
		kept := slices.ContainsFunc(adapted, func(a agents.File) bool { return string(a.Path) == f.Path })
		if listed || kept || f.Turn == 0 && f.Path == "" {
			out = append(out, f)
		}
	}
	return out
}

// assemble makes the recipe of a report.
func assemble(start replay.Recipe, r Report) replay.Recipe {
	start.Install = steps("install", r.Install)
	start.Build = steps("build", r.Build)
	for _, v := range r.Env {
		start.Env[v.Name] = v.placed()
	}
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
	return t, t.Mark(sealed), err
}
