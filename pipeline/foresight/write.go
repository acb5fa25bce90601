package foresight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/judges/leak"
	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/judging"
)

// write has a model write the task's statement and judges hold it against what the agent must not learn. Without models the
// introducing change's own words stand.
func (f *family) write() pipeline.Stage {
	return pipeline.Stage{
		Name: "write-statement", Version: 2, Pool: pipeline.Model, Reads: []string{evSplit, evLink, evTaskSplit, evDossier}, Makes: []string{evWritten},
		Settings: f.judgeSettings(judges.WriteStatement, judges.RepairStatement, judges.StatementClarity, judges.StatementLeakage),
		Codes: []pipeline.Code{
			{Name: "statement-" + judges.StatementUnclear, Text: "The written statement cannot be solved from, also after its repair; the reason has the judge's code."},
			{Name: "statement-" + judges.StatementLeaks, Text: "The written statement gives the missed case or its repair away, or forces the flaw, also after its repair; the reason says by which words."},
			{Name: "statement-" + judges.StatementFailed, Text: "No statement came that could be judged: the model gave none that fits, or its text cannot be used."},
		},
		Run: f.runWrite,
	}
}

func (f *family) runWrite(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	if !f.asks() {
		return pipeline.Pass(), nil
	}
	p, link, err := f.pair(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	var d judges.Case
	if err := c.Read(ctx, evDossier, &d); err != nil {
		return pipeline.Outcome{}, err
	}
	var fault error // of looking names up
	task := judges.StatementTask{
		Repository: f.Repo, TaskText: one(d, "task_text"), TaskPatch: one(d, "task_patch"),
		FixText: one(d, "fix_text"), FixPatch: one(d, "fix_patch"), FixTests: one(d, "fix_tests"),
		Static: static(p.Fix, *link.Intro, f.known(ctx, *link.Intro, &fault)),
	}
	bench, err := f.bench(ctx, c, "write-statement")
	if err != nil {
		return pipeline.Outcome{}, err
	}
	options, err := f.statementOptions()
	if err != nil {
		return pipeline.Outcome{}, err
	}
	r, err := judges.MakeStatement(ctx, bench, task, options)
	if err = errors.Join(err, fault); err != nil {
		return pipeline.Outcome{}, judging.Fault(err)
	}
	if err := c.Write(ctx, evWritten, r); err != nil || r.End == judges.StatementAccepted {
		return pipeline.Pass(), err
	}
	return pipeline.Reject("statement-"+r.End, fmt.Sprintf("%s: %s", r.Code, r.Reason)), nil
}

func (f *family) statementOptions() (judges.StatementOptions, error) {
	var o judges.StatementOptions
	panel := f.Desk.Panel(judges.WriteStatement)
	if len(panel.Models) == 0 {
		return o, pipeline.Permanent(errors.New("no model is configured that writes statements"))
	}
	o.Writer = panel.Models[0]
	o.Clarity, o.Leakage = f.Desk.Panel(judges.StatementClarity), f.Desk.Panel(judges.StatementLeakage)
	return o, nil
}

// static is what the rules about leaks compare a statement with besides the dossier.
func static(fix, intro gitrepo.Change, known func(string) bool) leak.Input {
	in := leak.Input{Known: known, Commits: slices.Concat([]string{intro.Head, fix.Head}, intro.Commits, fix.Commits), Cutoff: intro.Committed}
	for _, c := range []gitrepo.Change{intro, fix} {
		if c.Number > 0 {
			in.Numbers = append(in.Numbers, c.Number)
		}
	}
	return in
}

// finalStatement is the text that an agent gets: the written one, where there is one.
func (f *family) finalStatement(ctx context.Context, c *pipeline.Case) (string, error) {
	if !f.asks() {
		var s judges.Statement
		err := c.Read(ctx, evStatement, &s)
		return s.Text(), err
	}
	var r judges.StatementResult
	err := c.Read(ctx, evWritten, &r)
	return r.Statement.Text(), err
}

func one(d judges.Case, slot string) string { return strings.Join(d[slot], "\n\n") }
