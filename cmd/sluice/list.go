package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/store"
)

// allStates are the states that a candidate can be in.
var allStates = []store.State{store.Open, store.Admitted, store.Rejected, store.Held, store.Failed}

// selection is the flags that choose candidates.
type selection struct {
	family, repo, stage, code string
	states                    []string
	one                       map[store.State]*bool // --held is short for --state held, and so on
}

func (s *selection) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.family, "family", "", "only this family")
	flags.StringVar(&s.repo, "repo", "", "only this repository")
	flags.StringVar(&s.stage, "stage", "", "only candidates that stand at this stage")
	flags.StringVar(&s.code, "reason", "", "only candidates with this reason code")
	flags.StringSliceVar(&s.states, "state", nil, "only these states: open, admitted, rejected, held, failed")
	s.one = map[store.State]*bool{}
	for _, state := range allStates {
		s.one[state] = flags.Bool(string(state), false, "short for --state "+string(state))
	}
}

// filter checks the flags and returns them in the store's form.
func (s *selection) filter() (store.Filter, error) {
	f := store.Filter{Family: s.family, Repo: s.repo, Stage: s.stage, Code: s.code}
	for _, word := range s.states {
		if !slices.Contains(allStates, store.State(word)) {
			return f, fail(exitUsage, fmt.Errorf("reading --state: no state is called %q", word), "see sluice list --help")
		}
		f.States = append(f.States, store.State(word))
	}
	for _, state := range allStates {
		if given := s.one[state]; given != nil && *given {
			f.States = append(f.States, state)
		}
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
		Example: `  sluice list --admitted
  sluice list --reason not-anticipation --json`,
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
