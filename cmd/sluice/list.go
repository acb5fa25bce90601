package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/store"
)

// selection is the flags that choose candidates.
type selection struct {
	family, repo, stage, code string
	states                    []string
}

func (s *selection) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.family, "family", "", "only this family")
	flags.StringVar(&s.repo, "repo", "", "only this repository")
	flags.StringVar(&s.stage, "stage", "", "only candidates that stand at this stage")
	flags.StringVar(&s.code, "code", "", "only candidates with this reason code")
	flags.StringSliceVar(&s.states, "state", nil, "only these states: open, admitted, rejected, held, failed")
}

// filter checks the flags and returns them in the store's form.
func (s *selection) filter() (store.Filter, error) {
	f := store.Filter{Family: s.family, Repo: s.repo, Stage: s.stage, Code: s.code}
	all := []store.State{store.Open, store.Admitted, store.Rejected, store.Held, store.Failed}
	for _, word := range s.states {
		if !slices.Contains(all, store.State(word)) {
			return f, fail(exitUsage, fmt.Errorf("reading --state: no state is called %q", word), "see sluice list --help")
		}
		f.States = append(f.States, store.State(word))
	}
	return f, nil
}

func newList(a *app) *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List candidates, one a line",
		Long: `List candidates with where they stand, the change that fixes, the change that introduced, and how that is known.

With --json each line is an object of type "candidate" with both changes' number, base and head.`,
		Example: `  sluice list --state admitted
  sluice list --code not-anticipation --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.list(cmd.Context(), sel)
		},
	}
	sel.addFlags(cmd)
	return cmd
}

func (a *app) list(ctx context.Context, sel selection) error {
	filter, err := sel.filter()
	if err != nil {
		return err
	}
	return a.withStore(ctx, func(s *store.Store) error {
		candidates, err := s.Candidates(ctx, filter)
		if err != nil {
			return err
		}
		rows := [][]string{strings.Fields("ID REPO STATE STAGE CODE FIX INTRODUCED BY TITLE")}
		for _, c := range candidates {
			d, err := describe(ctx, s, c)
			if err != nil {
				return err
			}
			if a.opts.json {
				a.emit(d)
				continue
			}
			rows = append(rows, d.row())
		}
		if !a.opts.json {
			a.table(rows)
		}
		return nil
	})
}

func (d description) row() []string {
	title := ""
	if d.Fixing != nil {
		title = short(d.Fixing.Title, 50)
	}
	return []string{
		d.ID, d.Repo, string(d.State), d.Stage, d.Code, d.Fixing.label(), d.Introducing.label(), d.Method, title,
	}
}
