package foresight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/pipeline"
	"sluice/pipeline/judging"
)

// Codes for a panel whose members do not agree under the rule "all": the configuration says which of the two ends they give.
const (
	panelDisagrees = "panel-disagrees"
	panelUndecided = "panel-undecided"
)

// asks reports whether models are configured.
func (f *family) asks() bool { return f.Desk != nil }

// judgeSettings are what the rulings of judges depend on; nil without models, so that adding them judges anew.
func (f *family) judgeSettings(names ...string) any {
	if !f.asks() {
		return nil
	}
	out := map[string]any{}
	for _, n := range names {
		out[n] = f.Desk.Settings(n)
	}
	return out
}

// rule asks a judge on account of a candidate. Of the evidence it reads what its prompt has slots for.
func (f *family) rule(ctx context.Context, c *pipeline.Case, stage, judge string, evidence judges.Case) (judges.Ruling, error) {
	j, ok := judges.ByName(judge)
	if !ok {
		return judges.Ruling{}, pipeline.Permanent(fmt.Errorf("there is no judge %q", judge))
	}
	bench, err := f.bench(ctx, c, stage)
	if err != nil {
		return judges.Ruling{}, err
	}
	r, err := j.Rule(ctx, bench, judges.Fitting(judge, evidence), f.Desk.Panel(judge))
	if err != nil {
		return r, judging.Fault(fmt.Errorf("asking the judge %s: %w", judge, err))
	}
	return r, nil
}

// bench asks on account of a candidate. Who opens a candidate again, or a stage that failed for good, wants new answers.
func (f *family) bench(ctx context.Context, c *pipeline.Case, stage string) (judges.Bench, error) {
	b := f.Desk.Bench(c.ID(), stage)
	failures, err := c.Failures(ctx)
	b.Round = c.Generation() + failures
	return b, err
}

// verdict is what a ruling means for the candidate; out says that it ends here.
func (f *family) verdict(r judges.Ruling) (o pipeline.Outcome, out bool) {
	if r.Disagrees {
		reason := fmt.Sprintf("%s: the votes are %s", r.Judge, votes(r))
		if f.Desk.Disagreement() == judging.DisagreeHolds {
			return pipeline.Hold(panelUndecided, reason), true
		}
		return pipeline.Reject(panelDisagrees, reason), true
	}
	if r.Keeps {
		return o, false
	}
	return pipeline.Reject(reasonCode(r.Judge, r.Code), fmt.Sprintf("%s %s: %q", r.Judge, r.Code, r.Quote)), true
}

// votes lists the codes of a panel's members.
func votes(r judges.Ruling) string {
	var out []string
	for _, v := range r.Votes {
		if v.Verdict != nil {
			out = append(out, v.Model+" "+v.Verdict.Code)
		}
	}
	return strings.Join(out, ", ")
}

// reasonCode is the reason code of a judge's code: its label in lower case with hyphens.
func reasonCode(judge, code string) string {
	j, ok := judges.ByName(judge)
	if !ok {
		return code
	}
	i := slices.IndexFunc(j.Codes(), func(c judges.Code) bool { return c.Name == code })
	if i < 0 {
		return code
	}
	return hyphens(j.Codes()[i].Label)
}

func hyphens(label string) string {
	words := strings.FieldsFunc(strings.ToLower(label), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// rejections are the reason codes of judges, besides those of a panel that disagrees.
func rejections(names ...string) []pipeline.Code {
	out := []pipeline.Code{
		{Name: panelDisagrees, Text: "The models of a panel gave different codes where all must agree; `disagree = \"hold\"` in the configuration holds such candidates instead."},
		{Name: panelUndecided, Hold: true, Text: "The models of a panel gave different codes; a person decides."},
	}
	for _, n := range names {
		j, ok := judges.ByName(n)
		if !ok {
			continue
		}
		for _, c := range j.Codes() {
			if !c.Keeps {
				out = append(out, pipeline.Code{Name: hyphens(c.Label), Text: fmt.Sprintf("Judge %s, code %s: %s", n, c.Name, c.Text)})
			}
		}
	}
	return out
}
