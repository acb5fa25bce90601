package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sluice/pipeline"
	"sluice/store"
)

// retryOptions choose what to open again. Exactly one of ids, code and failed is given.
type retryOptions struct {
	ids    []string
	code   string
	failed bool
	note   string
	by     string
	dryRun bool
}

func newRetry(a *app) *cobra.Command {
	var o retryOptions
	cmd := &cobra.Command{
		Use:   "retry (<id>… | --reason CODE | --failed)",
		Short: "Open candidates again for the next build",
		Long: `Open candidates again for the next build. An id may be cut, as long as it fits one candidate.

A failed candidate goes on where it stopped, and so does one that was held for its budget: raise that first. A rejected, held or admitted one starts anew: the review that says so
is kept with your name, and so is everything that was found before.`,
		Example: `  sluice retry fs-1a2b3c --note "the test is fine, see the discussion"
  sluice retry --reason install-failed
  sluice retry --failed`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ids = args
			if err := o.validate(); err != nil {
				return err
			}
			return a.retry(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.code, "reason", "", "all candidates that were rejected or held with this code")
	flags.BoolVar(&o.failed, "failed", false, "all candidates that an error stopped")
	flags.StringVar(&o.note, "note", "", "why; kept in the review")
	flags.StringVar(&o.by, "by", a.getenv("USER"), "who decides; kept in the review")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only say which")
	cmd.Flag("by").DefValue = "$USER" // help must not depend on who reads it
	return cmd
}

func (o retryOptions) validate() error {
	given := 0
	for _, is := range []bool{len(o.ids) > 0, o.code != "", o.failed} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fail(exitUsage, errors.New("choosing candidates: want ids, --reason or --failed, one of them"), "see sluice retry --help")
	}
	return nil
}

func (a *app) retry(ctx context.Context, o retryOptions) error {
	return a.withStore(ctx, func(s *store.Store) error {
		chosen, err := o.choose(ctx, s)
		if err != nil {
			return err
		}
		if len(chosen) == 0 {
			return fail(exitNothing, errors.New("no candidate fits"), "sluice status shows what there is")
		}
		for _, c := range chosen {
			if !o.dryRun {
				if err := a.reopen(ctx, s, c, o); err != nil {
					return err
				}
			}
			a.reportRetry(c, o.dryRun)
		}
		return nil
	})
}

func (o retryOptions) choose(ctx context.Context, s *store.Store) ([]store.Candidate, error) {
	switch {
	case o.failed:
		return s.Candidates(ctx, store.Filter{States: []store.State{store.Failed}})
	case o.code != "":
		return s.Candidates(ctx, store.Filter{Code: o.code, States: []store.State{store.Rejected, store.Held}})
	}
	var chosen []store.Candidate
	for _, id := range o.ids {
		c, err := s.CandidateByPrefix(ctx, id)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, c)
	}
	return chosen, nil
}

// reopen lets a failed candidate go on, and one whose budget was used up, and starts any other anew. An open one stays as it is.
func (a *app) reopen(ctx context.Context, s *store.Store, c store.Candidate, o retryOptions) error {
	switch {
	case c.State == store.Open:
		return nil
	case c.State == store.Failed, c.State == store.Held && c.Code == pipeline.BudgetCode:
		return s.SetPosition(ctx, c.ID, store.Position{State: store.Open, Stage: c.Stage})
	}
	return s.Reopen(ctx, c.ID, store.Review{Decision: "reopen", Note: o.note, By: o.by, At: a.clock()})
}

func (a *app) reportRetry(c store.Candidate, dryRun bool) {
	if a.opts.json {
		a.emit(struct {
			Type   string      `json:"type"`
			ID     string      `json:"id"`
			Was    store.State `json:"was"`
			Code   string      `json:"code,omitempty"`
			DryRun bool        `json:"dry_run,omitempty"`
		}{"retry", c.ID, c.State, c.Code, dryRun})
		return
	}
	verb := "opened"
	if dryRun {
		verb = "would open"
	}
	a.say("%s", oneLine(fmt.Sprintf("%s %s (was %s %s)", verb, c.ID, c.State, c.Code)))
}
