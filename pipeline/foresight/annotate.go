package foresight

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/judges"
	"sluice/pipeline"
)

// Annotation is what judges say about an admitted pair besides admitting it.
type Annotation struct {
	Rulings        []judges.Ruling `json:"rulings"`
	TaskDifficulty string          `json:"task_difficulty,omitempty"` // easy, medium, hard
	FixDifficulty  string          `json:"fix_difficulty,omitempty"`
	Severity       string          `json:"severity,omitempty"` // critical, major, minor, by the configured table
	Axes           *judges.Axes    `json:"axes,omitempty"`
	// Unknown names what no judge could say, with the reason: it stays unknown.
	Unknown map[string]string `json:"unknown,omitempty"`
}

// annotate asks for interfaces, difficulty and severity. A judge that gives no answer leaves its part unknown: the pair is
// admitted all the same.
func (f *family) annotate() pipeline.Stage {
	return pipeline.Stage{
		Name: "annotate", Version: 1, Pool: pipeline.Model, Reads: []string{evDossier, evStatement, evWritten, evGold}, Makes: []string{evAnnotation},
		Settings: f.annotateSettings(),
		Run:      f.runAnnotate,
	}
}

// annotateSettings are what the rulings depend on, and the table by which they are graded.
func (f *family) annotateSettings() any {
	if !f.asks() {
		return nil
	}
	return []any{f.judgeSettings(judges.Interfaces, judges.TaskValidity, judges.SeverityAxes), f.Desk.SeverityTable()}
}

func (f *family) runAnnotate(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	if !f.asks() {
		return pipeline.Pass(), nil
	}
	var d judges.Case
	if err := c.Read(ctx, evDossier, &d); err != nil {
		return pipeline.Outcome{}, err
	}
	statement, err := f.finalStatement(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	a := annotator{f: f, c: c, out: Annotation{Unknown: map[string]string{}}}
	task := judges.Case{"repository": d["repository"], "statement": {statement}, "patch": d["task_patch"], "tests": d["task_tests"]}
	fix := judges.Case{"repository": d["repository"], "statement": d["fix_text"], "patch": d["fix_patch"], "tests": d["fix_tests"], "facts": d["facts"]}
	if r, ok := a.ask(ctx, judges.Interfaces, judges.Interfaces, task); ok {
		if list := interfaces(r); list != "" {
			task["interfaces"] = []string{list}
		}
	}
	a.out.TaskDifficulty = a.difficulty(ctx, "task-difficulty", task)
	a.out.FixDifficulty = a.difficulty(ctx, "fix-difficulty", fix)
	a.severity(ctx, d)
	if a.err != nil {
		return pipeline.Outcome{}, a.err
	}
	return pipeline.Pass(), c.Write(ctx, evAnnotation, a.out)
}

// label adds the strata that are known.
func (a Annotation) label(l map[string]string) {
	set := func(name, value string) {
		if value != "" {
			l[name] = value
		}
	}
	set("task_difficulty", a.TaskDifficulty)
	set("fix_difficulty", a.FixDifficulty)
	set("severity", a.Severity)
	if a.Axes != nil {
		set("impact", a.Axes.Impact)
		set("detectability", a.Axes.Detectability)
		set("reach", a.Axes.Reach)
		set("security", fmt.Sprint(a.Axes.Security))
	}
}

// annotator asks one judge after the other.
type annotator struct {
	f   *family
	c   *pipeline.Case
	out Annotation
	err error // ends the stage: a budget, a cancelled run, an endpoint that does not answer
}

// ask returns a ruling, or notes that there is none. Only what concerns this question alone leaves a part unknown.
func (a *annotator) ask(ctx context.Context, part, judge string, evidence judges.Case) (judges.Ruling, bool) {
	if a.err != nil {
		return judges.Ruling{}, false
	}
	r, err := a.f.rule(ctx, a.c, "annotate", judge, evidence)
	if len(r.Votes) > 0 {
		a.out.Rulings = append(a.out.Rulings, r)
	}
	switch {
	case errors.Is(err, judges.ErrNoVerdict), pipeline.IsPermanent(err):
		a.out.Unknown[part] = err.Error()
	case err != nil:
		a.err = err
	}
	return r, err == nil
}

// difficulty is that of most votes; where none has most, it is unknown.
func (a *annotator) difficulty(ctx context.Context, part string, evidence judges.Case) string {
	r, ok := a.ask(ctx, part, judges.TaskValidity, evidence)
	if !ok {
		return ""
	}
	count := map[string]int{}
	for _, v := range r.Votes {
		reply, err := judges.Read[judges.TaskReply](*v.Verdict)
		if err != nil {
			a.out.Unknown[part] = err.Error()
			return ""
		}
		if count[reply.Difficulty]++; 2*count[reply.Difficulty] > len(r.Votes) {
			return reply.Difficulty
		}
	}
	a.out.Unknown[part] = "the votes differ: " + strings.Join(sortedKeys(count), ", ")
	return ""
}

func (a *annotator) severity(ctx context.Context, d judges.Case) {
	r, ok := a.ask(ctx, "severity", judges.SeverityAxes, d)
	if !ok {
		return
	}
	if !r.Keeps {
		a.out.Unknown["severity"] = fmt.Sprintf("%s: %q", r.Code, r.Quote)
		return
	}
	axes, err := judges.PanelAxes(r)
	if err == nil {
		a.out.Axes = &axes
		a.out.Severity, err = a.f.Desk.Severity(axes)
	}
	if err != nil {
		a.out.Unknown["severity"] = err.Error()
	}
}

// interfaces is what the interfaces judge lists, as a later prompt shows it; "" for none.
func interfaces(r judges.Ruling) string {
	if r.Code != "listed" {
		return ""
	}
	for _, v := range r.Votes {
		if v.Verdict.Code != r.Code {
			continue
		}
		reply, err := judges.Read[judges.InterfacesReply](*v.Verdict)
		if err != nil {
			continue
		}
		var b strings.Builder
		for _, i := range reply.Interfaces {
			fmt.Fprintf(&b, "%s (%s)\n  inputs: %s\n  outputs: %s\n  %s\n", i.Name, i.Location, i.Inputs, i.Outputs, i.Description)
		}
		return b.String()
	}
	return ""
}
