package foresight

import (
	"context"
	"fmt"

	"sluice/judges"
	"sluice/pipeline"
)

// statement makes the task's text from the introducing change's own words and lets the rules judge look at the pair.
func (f *family) statement() pipeline.Stage {
	return pipeline.Stage{
		Name: "statement", Version: 5, Pool: pipeline.Git,
		Reads: []string{evSplit, evLink, evTaskSplit}, Makes: []string{evStatement, evFindings, evPatch},
		Codes: []pipeline.Code{
			{Name: "no-statement", Text: "Nothing is left of the introducing change's title once numbers, ids and links are cut."},
			{Name: "not-english", Text: "Most of the statement is not in the Latin script (rubric: B9)."},
			{Name: "several-issues", Text: "The fix closes more than one issue, so its tests check more than one defect (rubric: B11)."},
			{Name: "text-tests-only", Text: "The tests of one side are data or prose only (rubric: B10)."},
			{Name: "visual", Text: "The statement is pictures with hardly any words (rubric: B8)."},
		},
		Run: f.runStatement,
	}
}

func (f *family) runStatement(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	p, link, err := f.pair(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	fix, _, err := splits(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	diff, err := f.History.Patch(ctx, p.Fix.Base, p.Fix.Head, append(fix.Code(), fix.Tests()...))
	if err != nil {
		return pipeline.Outcome{}, fmt.Errorf("reading the diff of %s: %w", p.Fix.Head, err)
	}
	if err := c.WriteBytes(ctx, evPatch, "text/x-diff", diff); err != nil {
		return pipeline.Outcome{}, err
	}
	s := judges.CleanStatement(link.Intro.Title, link.Intro.Body)
	if s.Title == "" {
		return pipeline.Reject("no-statement", link.Intro.Title), nil
	}
	findings, err := f.findings(ctx, p, link, s)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	if err := c.Write(ctx, evStatement, s); err != nil {
		return pipeline.Outcome{}, err
	}
	if err := c.Write(ctx, evFindings, findings); err != nil {
		return pipeline.Outcome{}, err
	}
	for _, finding := range findings {
		if !finding.Keeps {
			return pipeline.Reject(finding.Name, finding.String()), nil
		}
	}
	return pipeline.Pass(), nil
}
