package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sluice/pipeline/attribution"
	"sluice/pipeline/build"
)

func newSZZTrain(a *app) *cobra.Command {
	var o evalOptions
	var out, version string
	cmd := &cobra.Command{
		Use:   "train --truth FILE --repo DIR --out FILE",
		Short: "Learn weights for the method ours",
		Long: `Learn weights for the method ours from fixes whose introducing commits are known, and write them with their provenance:
which repositories, how many rows, and how weights did on each repository that were learned from the others.

The truth has the forms that sluice szz eval reads. Weights that were learned from a repository say nothing honest about it:
evaluate on others.`,
		Example: `  sluice szz train --truth known.jsonl --repos '/mirrors/{owner}+{name}' --out weights.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.szzTrain(cmd.Context(), o, version, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.truth, "truth", "", "file of known pairs")
	f.StringArrayVar(&o.repos, "repo", nil, "where a repository is: owner/name=DIR, again for each; or DIR for a truth of one repository")
	f.StringVar(&o.template, "repos", "", "where repositories are: a folder with {owner} and {name}")
	f.StringVar(&out, "out", "", "file for the weights")
	f.StringVar(&version, "name", "custom", "what answers call these weights")
	f.IntVar(&o.workers, "workers", 0, "fixes at once (default: the machine's cores)")
	for _, flag := range []string{"truth", "out"} {
		_ = cmd.MarkFlagRequired(flag)
	}
	return cmd
}

func (a *app) szzTrain(ctx context.Context, o evalOptions, version, out string) (err error) {
	groups, err := o.load()
	if err != nil {
		return err
	}
	dir, done, err := a.mirrors()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	var training attribution.Training
	for i, g := range groups {
		if err := a.trainRepo(ctx, g, dir, &training, o.workers); err != nil {
			return fmt.Errorf("learning from %s: %w", g.name, err)
		}
		a.evalDone(i+1, len(groups), g)
	}
	model, err := training.Model(version)
	if err != nil {
		return fail(exitNothing, err, "give more known pairs")
	}
	data, err := json.MarshalIndent(model, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, append(data, '\n'), 0o644); err != nil {
		return fail(exitInput, fmt.Errorf("writing the weights: %w", err), "name a file that can be written with --out")
	}
	a.printTraining(model, training.Missing)
	return nil
}

func (a *app) trainRepo(ctx context.Context, g byRepo, dir string, t *attribution.Training, workers int) (err error) {
	if g.source == "" {
		t.Missing += len(g.rows)
		return nil
	}
	repo, err := attribution.Open(ctx, g.source, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	return t.Add(ctx, repo, g.rows, build.Workers(workers))
}

func (a *app) printTraining(m *attribution.Model, missing int) {
	p := m.Provenance
	if a.opts.json {
		a.emit(struct {
			Type    string  `json:"type"`
			Rows    int     `json:"rows"`
			Missing int     `json:"missing"`
			Repos   int     `json:"repos"`
			Covered int     `json:"covered,omitempty"`
			Top1    float64 `json:"left_out_top1,omitempty"`
			Top3    float64 `json:"left_out_top3,omitempty"`
		}{"szz-train", p.Rows, missing, len(p.Repos), p.Covered, p.Top1, p.Top3})
		return
	}
	a.say("learned from %d rows of %d repositories (%d rows are not there)", p.Rows, len(p.Repos), missing)
	if len(p.Repos) == 1 {
		a.say("how the weights do on other repositories is unknown: give pairs of several")
		return
	}
	a.say("on repositories that were left out: top-1 %.3f, top-3 %.3f; the right commit is a candidate in %d rows", p.Top1, p.Top3, p.Covered)
}
