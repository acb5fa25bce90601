package foresight

import (
	"context"

	"sluice/judges"
	"sluice/pipeline"
)

// dossier collects what the judges of a pair read. Without models there is nobody to read it.
func (f *family) dossier() pipeline.Stage {
	return pipeline.Stage{
		Name: "dossier", Version: 2, Pool: pipeline.Git, Reads: []string{evLink}, Makes: []string{evDossier}, Settings: f.asks(),
		Run: func(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
			if !f.asks() {
				return pipeline.Pass(), nil
			}
			p, link, err := f.pair(ctx, c)
			if err != nil {
				return pipeline.Outcome{}, err
			}
			d, err := Dossier(ctx, f.History, Pair{Repo: f.Repo, Intro: *link.Intro, Fix: p.Fix, Lines: link.SZZ.Lines, Quotes: link.quotes()})
			if err != nil {
				return pipeline.Outcome{}, err
			}
			return pipeline.Pass(), c.Write(ctx, evDossier, d)
		},
	}
}

// quotes are the words of the fix that name its origin.
func (l Link) quotes() []string {
	var out []string
	for _, t := range l.Claims {
		out = append(out, t.Quote)
	}
	return out
}

// judgePair asks whether the fix is that of a genuine miss, whether its tests are fair, and, where only blame says so, whether the
// introducing change created the flaw.
func (f *family) judgePair() pipeline.Stage {
	return pipeline.Stage{
		Name: "judge-pair", Version: 1, Pool: pipeline.Model, Reads: []string{evLink, evDossier}, Makes: []string{evPairRulings},
		Settings: f.judgePairSettings(),
		Codes:    rejections(judges.PairEligibility, judges.PairFairness, judges.Attribution),
		Run:      f.runJudgePair,
	}
}

// judgePairSettings are what the rulings depend on, and what it means when votes differ.
func (f *family) judgePairSettings() any {
	if !f.asks() {
		return nil
	}
	return []any{f.judgeSettings(judges.PairEligibility, judges.PairFairness, judges.Attribution), f.Desk.Disagreement()}
}

func (f *family) runJudgePair(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	if !f.asks() {
		return pipeline.Pass(), nil
	}
	var link Link
	var evidence judges.Case
	if err := c.Read(ctx, evLink, &link); err != nil {
		return pipeline.Outcome{}, err
	}
	if err := c.Read(ctx, evDossier, &evidence); err != nil {
		return pipeline.Outcome{}, err
	}
	names := []string{judges.PairEligibility, judges.PairFairness}
	if link.Method == "szz" {
		names = append(names, judges.Attribution)
	}
	var rulings []judges.Ruling
	for _, name := range names { // the cheapest way: the first that ends the candidate is the last that is asked
		r, err := f.rule(ctx, c, "judge-pair", name, evidence)
		if err != nil {
			return pipeline.Outcome{}, err
		}
		rulings = append(rulings, r)
		if o, out := f.verdict(r); out {
			return o, c.Write(ctx, evPairRulings, rulings)
		}
	}
	return pipeline.Pass(), c.Write(ctx, evPairRulings, rulings)
}
