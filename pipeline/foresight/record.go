package foresight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sluice/judges"
	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
)

// record is all evidence of a pair that the instance is made of.
type record struct {
	proposal  Proposal
	link      Link
	fix, task history.Split
	statement judges.Statement
	findings  []judges.Finding
	env       Environment
	fixRuns   FixRuns
	taskRuns  TaskRuns
	origin    OriginRuns
	gold      Gold
	decisive  Decisive
	judged    judged
}

// judged is what models said of a pair; empty without models.
type judged struct {
	rulings    []judges.Ruling
	written    judges.StatementResult
	annotation Annotation
}

func (f *family) readRecord(ctx context.Context, c *pipeline.Case) (record, error) {
	var r record
	var err error
	if r.proposal, r.link, err = f.pair(ctx, c); err != nil {
		return r, err
	}
	for _, e := range []struct {
		name string
		into any
	}{
		{evSplit, &r.fix}, {evTaskSplit, &r.task}, {evStatement, &r.statement}, {evFindings, &r.findings}, {evEnvironment, &r.env},
		{evFixRuns, &r.fixRuns}, {evTaskRuns, &r.taskRuns}, {evOriginRuns, &r.origin}, {evGold, &r.gold}, {evDecisive, &r.decisive},
	} {
		if err := c.Read(ctx, e.name, e.into); err != nil {
			return r, err
		}
	}
	if !f.asks() {
		return r, nil
	}
	return r, errors.Join(c.Read(ctx, evPairRulings, &r.judged.rulings), c.Read(ctx, evWritten, &r.judged.written),
		c.Read(ctx, evAnnotation, &r.judged.annotation))
}

// text is the statement that an agent gets: the written one, where there is one.
func (r record) text() string {
	if r.judged.written.End == judges.StatementAccepted {
		return r.judged.written.Statement.Text()
	}
	return r.statement.Text()
}

// instance makes the admitted record. It depends on evidence only: same evidence, same bytes.
func (f *family) instance(ctx context.Context, c *pipeline.Case) (pipeline.Instance, error) {
	r, err := f.readRecord(ctx, c)
	if err != nil {
		return pipeline.Instance{}, err
	}
	in := pipeline.Instance{
		ID: instanceID(f.Repo, c.ID()), Family: Name, Repo: f.Repo, Language: r.task.Language, Base: r.env.Commits[stateB1],
		CreatedAt: stamp(r.link.Intro.Committed), Statement: r.text(), Gold: r.origin.Gold, Recipe: r.env.Recipes[stateH1],
		Flaky: r.gold.Flaky, Excluded: r.gold.Excluded, Repeats: r.fixRuns.After.Runs, Labels: r.labels(),
	}
	for _, d := range r.fixRuns.Narrowed.Dropped {
		in.Dropped = append(in.Dropped, d.File+": "+d.Name)
	}
	if in.Patch, err = f.History.Patch(ctx, in.Base, r.link.Intro.Head, r.task.Untested()); err != nil {
		return in, err
	}
	if in.Task, err = f.side(ctx, *r.link.Intro, r.task); err != nil {
		return in, err
	}
	if in.Fix, err = f.side(ctx, r.proposal.Fix, r.fix); err != nil {
		return in, err
	}
	if in.Checks, err = f.checks(ctx, r); err != nil {
		return in, err
	}
	if in.Link, err = json.Marshal(r.link); err != nil {
		return in, fmt.Errorf("encoding the link: %w", err)
	}
	in.Description, err = json.Marshal(r.details())
	return in, err
}

// details is what only this family keeps of an instance.
type details struct {
	TaskKinds map[string]string `json:"task_kinds"` // how each task test failed before the task
	// AnticipationKinds are how each anticipation test failed on the introducing change's head.
	AnticipationKinds map[string]string `json:"anticipation_kinds"`
	// Conditions are those under which the tests were seen to fail there, and are to be graded: more than one if runs differed.
	Conditions []replay.Conditions `json:"conditions,omitempty"`
	// Decisive says which of the tests that must pass the task and the fix touched themselves.
	Decisive Decisive         `json:"decisive_tests"`
	Conflict string           `json:"conflict,omitempty"`
	Findings []judges.Finding `json:"findings,omitempty"`
	// Judgement is what models said; the store has every question and reply under the keys of the votes.
	Judgement *judgement `json:"judgement,omitempty"`
}

type judgement struct {
	Pair       []judges.Ruling        `json:"pair"`
	Statement  judges.StatementResult `json:"statement"`
	Annotation Annotation             `json:"annotation"`
}

func (r record) details() details {
	d := details{TaskKinds: r.gold.TaskKinds, AnticipationKinds: r.gold.AnticipationKinds, Conditions: r.fixRuns.Origin.Conditions,
		Decisive: r.decisive, Conflict: r.origin.Conflict, Findings: r.findings}
	if len(r.judged.rulings) > 0 {
		d.Judgement = &judgement{r.judged.rulings, r.judged.written, r.judged.annotation}
	}
	return d
}

func (r record) labels() map[string]string {
	gold := "none"
	if len(r.origin.Gold) > 0 {
		gold = "full"
	}
	statement := "original"
	if r.judged.written.End == judges.StatementAccepted {
		statement = "written"
	}
	days := int(r.proposal.Fix.Committed.Sub(r.link.Intro.Committed).Hours() / 24)
	l := map[string]string{
		"achievable": string(r.origin.Achievable), "gold": gold, "mechanism": r.origin.Mechanism, "linked": r.link.Method,
		"statement": statement, "days": fmt.Sprint(days), "clock_sensitive": string(r.gold.Clock), "narrowed": fmt.Sprint(len(r.fixRuns.Narrowed.Dropped) > 0),
	}
	r.judged.annotation.label(l)
	return l
}

func (f *family) side(ctx context.Context, c gitrepo.Change, s history.Split) (pipeline.Side, error) {
	side := pipeline.Side{Number: c.Number, Base: c.Base, Head: c.Head, Title: c.Title, Committed: stamp(c.Committed)}
	patch, err := f.History.Patch(ctx, c.Base, c.Head, s.Untested())
	if err != nil {
		return side, err
	}
	tests, err := f.History.Patch(ctx, c.Base, c.Head, s.Tests())
	side.Patch, side.TestPatch = patch, tests
	return side, err
}

// checks are the two graded runs: the task's tests with the whole suite, and the fix's tests as they ran on h1.
func (f *family) checks(ctx context.Context, r record) ([]pipeline.Check, error) {
	t1, err := f.History.Overlay(ctx, r.env.Commits[stateH1], r.task)
	if err != nil {
		return nil, err
	}
	t2, err := f.History.Overlay(ctx, r.env.Commits[stateH2], r.fix)
	if err != nil {
		return nil, err
	}
	// The fix's tests ran over the introducing change's own: its helpers belong to them.
	t2 = r.fixRuns.Narrowed.apply(t2)
	target := overlayPaths(t2)
	t2 = over(t1, t2)
	return []pipeline.Check{
		{Name: "task", Resolves: true, Files: overlayFiles(t1), Remove: t1.Remove, FailToPass: r.gold.TaskFailToPass, PassToPass: r.gold.TaskPassToPass},
		{Name: "anticipation", Files: overlayFiles(t2), Remove: t2.Remove, Target: target, FailToPass: r.gold.Anticipation, PassToPass: []string{}},
	}, nil
}

// over lays one overlay over another.
func over(first, second replay.Overlay) replay.Overlay {
	out := replay.Overlay{Files: slices.Clone(second.Files)}
	has := func(path string) bool {
		return slices.ContainsFunc(out.Files, func(f replay.File) bool { return f.Path == path })
	}
	for _, f := range first.Files {
		if !has(f.Path) && !slices.Contains(second.Remove, f.Path) {
			out.Files = append(out.Files, f)
		}
	}
	for _, path := range append(slices.Clone(first.Remove), second.Remove...) {
		if !has(path) && !slices.Contains(out.Remove, path) {
			out.Remove = append(out.Remove, path)
		}
	}
	return out
}

func overlayFiles(o replay.Overlay) []pipeline.OverlayFile {
	out := make([]pipeline.OverlayFile, 0, len(o.Files))
	for _, f := range o.Files {
		out = append(out, pipeline.OverlayFile{Path: f.Path, Mode: gitMode(f.Mode), Data: f.Data})
	}
	slices.SortFunc(out, func(a, b pipeline.OverlayFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func gitMode(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "120000"
	case m&0o111 != 0:
		return "100755"
	}
	return "100644"
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// instanceID is opaque: it names the repository, as harnesses expect, and nothing of the two changes.
func instanceID(repo, candidate string) string {
	name := strings.NewReplacer("/", "__").Replace(repo)
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return '-'
	}, name)
	if !strings.Contains(clean, "__") {
		clean = "local__" + clean
	}
	return clean + "-" + strings.TrimPrefix(candidate, "fs-")
}
