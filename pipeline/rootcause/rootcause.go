// Package rootcause finds, with an agent, the lines of a change in which a defect lies, and shows that they are right by a repair.
//
// The agent works on the state right after the change, with the tests that expose the defect laid over it, without a network. What
// counts is checked: every line that it names must be a line of the change, and its repair, which is what its commands left in the
// production files, must make the tests pass in a fresh sandbox. Tests that it touched make the session void.
//
// The lines remain a claim for people to confirm: that a repair works does not prove where the cause is.
package rootcause

import (
	"context"
	"encoding/json"
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
const PromptName = "agent-root-cause"

// Request is one defect.
type Request struct {
	Once   agents.Once
	Charge model.Charge
	Label  string // for people
	Tree   replay.Tree
	Tests  replay.Overlay // the test files that expose the defect
	Recipe replay.Recipe  // of the state; it is prepared when the agent starts
	Target replay.Target  // the test files that run
	Expose []string       // ids of the tests that fail because of the defect
	Change []byte         // the change's diff, in git's format
	// The following may be empty: what the failing tests print, what is known about the defect, and its later repair.
	Failure, Explanation string
	Fix                  []byte
	Limits               replay.Limits // of the runs that decide
}

// Line is one line of a change.
type Line struct {
	Path string `json:"path"`
	Line int    `json:"line"` // after the change for an added line, before it for a deleted one
	Side string `json:"side"` // "added" or "deleted"
	Text string `json:"text"`
}

// Result is what came of a request.
type Result struct {
	Accepted bool                `json:"accepted"`
	Reason   string              `json:"reason"` // one line
	Lines    []Line              `json:"lines,omitempty"`
	Cause    string              `json:"cause,omitempty"`
	Analysis string              `json:"analysis,omitempty"`
	Repair   []agents.File       `json:"repair,omitempty"`
	Patch    pipeline.Text       `json:"patch,omitempty"` // the repair as git has it, on the state with its tests
	Findings []operation.Finding `json:"findings,omitempty"`
	Session  *agents.Log         `json:"session,omitempty"`
	Spent    agent.Spent         `json:"-"`
}

// Find leads the agent and checks what it found. An agent that finds nothing is no error.
func Find(ctx context.Context, c agents.Crew, q Request) (Result, error) {
	r, err := find(ctx, c, q)
	if err != nil {
		return r, fmt.Errorf("looking for the root cause of %s: %w", q.Label, err)
	}
	return r, nil
}

func find(ctx context.Context, c agents.Crew, q Request) (out Result, err error) {
	lines, err := linesOf(q.Change)
	if err != nil {
		return out, pipeline.Permanent(err)
	}
	before, err := q.run(ctx, c, nil)
	if err != nil {
		return out, err
	}
	if i := slices.IndexFunc(q.Expose, before.passes); i >= 0 || len(q.Expose) == 0 {
		out.Reason = "the tests do not all fail before any repair"
		return out, nil
	}
	task, err := q.task(c, before, lines)
	if err != nil {
		return out, err
	}
	log, spent, err := c.Lead(ctx, agents.Job{
		Once: q.Once, Charge: q.Charge, Label: "root cause of " + q.Label, Task: task,
		Ready: &q.Recipe, Spec: replay.SessionSpec{Tree: q.Tree, Overlays: []replay.Overlay{q.Tests}},
	})
	out.Spent = spent
	if err != nil {
		return out, err
	}
	out.Session = &log
	return out, q.judge(ctx, c, &out)
}

// task makes the agent's first messages.
func (q Request) task(c agents.Crew, before verdict, lines map[Line]bool) (agent.Task, error) {
	p, err := prompts.Load(PromptName)
	if err != nil {
		return agent.Task{}, pipeline.Permanent(err)
	}
	steps, err := tools.StepsByHand(q.Recipe, q.Target)
	if err != nil {
		return agent.Task{}, pipeline.Permanent(err)
	}
	failure := q.Failure
	if strings.TrimSpace(failure) == "" {
		failure = before.Log
	}
	task, err := agent.NewTask(p, map[string][]string{
		"change": {string(q.Change)}, "tests": q.Expose, "command": {agents.Shell(steps)}, "failure": {failure},
		"explanation": {q.Explanation}, "fix": {string(q.Fix)},
		"place": {"The program's folder is the current one. There is no network and no git history. What the tests need is installed."},
	})
	if err != nil {
		return task, pipeline.Permanent(err)
	}
	task.Check = func(report json.RawMessage, turns []agent.Turn) error { return checkReport(report, turns, lines) }
	return task, nil
}

// Report is what the agent says at the end.
type Report struct {
	Analysis string `json:"analysis"`
	Cause    string `json:"cause"`
	Lines    []Line `json:"lines"`
	Quote    string `json:"quote"`
}

// checkReport compares the lines with the change, and the quotation with the transcript.
func checkReport(raw json.RawMessage, turns []agent.Turn, lines map[Line]bool) error {
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	for _, l := range r.Lines {
		l.Text = agents.Fold(l.Text)
		if !lines[l] {
			return fmt.Errorf("%s line %d (%s) is not a line of the change with that text. Name only lines that the change added or deleted, with their text.", l.Path, l.Line, l.Side)
		}
	}
	if !agents.Printed(turns, r.Quote) {
		return fmt.Errorf("No command printed the line that the report quotes: %.200q.", r.Quote)
	}
	return nil
}

// judge checks what the agent did, and tries its repair.
func (q Request) judge(ctx context.Context, c agents.Crew, out *Result) error {
	log := *out.Session
	if log.Transcript.Report == nil {
		out.Reason = fmt.Sprintf("the agent ended without a report (%s): %s", log.Transcript.End, log.Transcript.Why)
		return nil
	}
	var r Report
	if err := json.Unmarshal(log.Transcript.Report, &r); err != nil {
		return pipeline.Permanent(fmt.Errorf("decoding the agent's report: %w", err))
	}
	out.Lines, out.Cause, out.Analysis = r.Lines, r.Cause, r.Analysis
	files, err := log.Changes.Operation(ctx, q.Tree, []replay.Overlay{q.Tests})
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f operation.File) bool { return f.Role == operation.Production && !f.Special })
	out.Findings = operation.Check(operation.Input{Files: files})
	repair := production(log.Changes)
	out.Repair = repair
	patch, err := agents.Patch(ctx, agents.Lay(q.Tree, q.Tests), repair)
	if err != nil {
		return pipeline.Permanent(err)
	}
	out.Patch = pipeline.Text(patch)
	switch {
	case len(out.Findings) > 0:
		out.Reason = out.Findings[0].String()
		return nil
	case !log.Changes.Whole:
		out.Reason = "it changed more than can be looked at"
		return nil
	case len(repair) == 0:
		out.Reason = "it reported without a repair of a production file"
		return nil
	}
	after, err := q.run(ctx, c, repair)
	if err != nil {
		return err
	}
	for _, id := range q.Expose {
		if !after.passes(id) {
			out.Reason = "with the repair, in a fresh sandbox, this test does not pass: " + id
			return nil
		}
	}
	out.Accepted, out.Reason = true, fmt.Sprintf("with the repair all %d tests pass", len(q.Expose))
	return nil
}

// production are the changes that make the repair.
func production(c agents.Changes) []agents.File {
	var out []agents.File
	for _, f := range c.Files {
		if f.Role == operation.Production && f.Kind != replay.Special {
			out = append(out, f.Keep())
		}
	}
	return out
}
