package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/store"
)

// funnelRow is one line of status.
type funnelRow struct {
	Type   string      `json:"type"` // "funnel"
	Family string      `json:"family"`
	Stage  string      `json:"stage,omitempty"`
	State  store.State `json:"state"`
	Code   string      `json:"code,omitempty"`
	Count  int         `json:"count"`
}

func newStatus(a *app) *cobra.Command {
	var family, repo string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the funnel: how many candidates stand where, and why",
		Example: `  sluice status
  sluice status --repo ada/ledger --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.status(cmd.Context(), family, repo)
		},
	}
	cmd.Flags().StringVar(&family, "family", "", "only this family")
	cmd.Flags().StringVar(&repo, "repo", "", "only this repository")
	return cmd
}

func (a *app) status(ctx context.Context, family, repo string) error {
	return a.withStore(ctx, func(s *store.Store) error {
		rows, err := s.Funnel(ctx, family, repo)
		if err != nil {
			return err
		}
		a.printFunnel(rows)
		if len(rows) == 0 && !a.opts.json {
			a.say("no such candidate is stored: sluice build looks for some")
		}
		return nil
	})
}

// printFunnel shows the rows and, for people, the sum.
func (a *app) printFunnel(rows []store.FunnelRow) {
	if a.opts.json {
		for _, r := range rows {
			a.emit(funnelRow{"funnel", r.Family, r.Stage, r.State, r.Code, r.N})
		}
		return
	}
	total := 0
	out := [][]string{strings.Fields("FAMILY STAGE STATE CODE COUNT")}
	for _, r := range rows {
		total += r.N
		out = append(out, []string{r.Family, r.Stage, string(r.State), r.Code, strconv.Itoa(r.N)})
	}
	out = append(out, []string{"total", "", "", "", strconv.Itoa(total)})
	a.table(out)
}
