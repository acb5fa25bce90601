package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"sluice/pipeline/calibration/measure"
	"sluice/store"
)

// reviewOptions are the flags of review.
type reviewOptions struct {
	judge, code, note, by string
}

func newReview(a *app) *cobra.Command {
	var o reviewOptions
	cmd := &cobra.Command{
		Use:   "review <id> --judge NAME --code CODE",
		Short: "Keep your verdict on a candidate, in the codes of a judge",
		Long: `Keep your verdict on a candidate, in the codes of a judge. It moves the candidate nowhere: sluice explain shows it, and sluice calibrate
compares it with what judges and other people said. The id may be cut, as long as it fits one candidate.

Of several verdicts of a person on one candidate and judge, the first counts: what is said after a talk measures no agreement.`,
		Example: `  sluice review fs-1a2b3c --judge szz-attribution --code A
  sluice review fs-1a2b3c --judge pair-eligibility --code weak --note "a typing error in a message"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.review(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.judge, "judge", "", "whose question you answer; sluice judge list shows them")
	f.StringVar(&o.code, "code", "", "your answer, one of the judge's codes")
	f.StringVar(&o.note, "note", "", "why; kept in the review")
	f.StringVar(&o.by, "by", a.getenv("USER"), "who says so")
	cmd.Flag("by").DefValue = "$USER" // help must not depend on who reads it
	_ = cmd.MarkFlagRequired("judge")
	_ = cmd.MarkFlagRequired("code")
	return cmd
}

func (a *app) review(ctx context.Context, id string, o reviewOptions) error {
	decision, err := measure.Decision(o.judge, o.code)
	if err != nil {
		return err
	}
	if oneLine(o.by) == "" {
		return fail(exitUsage, errors.New("nobody says so"), "give your name with --by")
	}
	return a.withStore(ctx, func(s *store.Store) error {
		c, err := s.CandidateByPrefix(ctx, id)
		if err != nil {
			return err
		}
		r := store.Review{Candidate: c.ID, Decision: decision, Note: o.note, By: oneLine(o.by), At: a.clock()}
		if err := s.AddReview(ctx, r); err != nil {
			return err
		}
		if a.opts.json {
			a.emit(struct {
				Type  string `json:"type"`
				ID    string `json:"id"`
				Judge string `json:"judge"`
				Code  string `json:"code"`
				By    string `json:"by"`
			}{"review", c.ID, o.judge, o.code, r.By})
			return nil
		}
		a.say("%s", oneLine(c.ID+": "+o.judge+" "+o.code+" by "+r.By))
		return nil
	})
}
