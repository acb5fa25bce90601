package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline/mining"
	"sluice/store"
)

func newLeads(a *app) *cobra.Command {
	var filter store.LeadFilter
	var count bool
	cmd := &cobra.Command{
		Use:   "leads",
		Short: "List what the miners found, one lead a line",
		Long: `List what the miners found: pairs of changes, issues with the change that closes them, reports that name the first bad
commit, and instances of other data sets.

With --json each line is an object of type "lead"; its data has the form that its kind fixes, and evidence is the digest of
what the miner saw. Commits of a lead that no reference of the repository reaches, by its last mining, stand in unreachable.`,
		Example: `  sluice leads --kind pair --repo owner/name
  sluice leads --count --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter.Repo = strings.ToLower(filter.Repo)
			if count {
				return a.countLeads(cmd.Context(), filter)
			}
			return a.leads(cmd.Context(), filter)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&filter.Kind, "kind", "", "only this kind: pair, issue-pr, report, instance")
	flags.StringVar(&filter.Repo, "repo", "", "only this repository")
	flags.StringVar(&filter.Source, "source", "", "only this source: gharchive, github, history, …")
	flags.StringVar(&filter.Method, "method", "", "only this method: testimony, trailer, keyword, …")
	flags.BoolVar(&count, "count", false, "count them by source, kind and method")
	return cmd
}

func (a *app) leads(ctx context.Context, f store.LeadFilter) error {
	return a.withStore(ctx, func(s *store.Store) error {
		leads, err := s.Leads(ctx, f)
		if err != nil {
			return err
		}
		if len(leads) == 0 {
			return fail(exitNothing, fmt.Errorf("listing leads: none fits"), "see sluice leads --count")
		}
		rows := [][]string{strings.Fields("ID KIND REPO SOURCE METHOD DATA")}
		gone, last := map[string][]string{}, ""
		for _, l := range leads {
			if l.Repo != last { // leads come by repository
				last = l.Repo
				if gone, err = mining.Unreachable(ctx, s, l.Repo); err != nil {
					return err
				}
			}
			if a.opts.json {
				a.emit(leadLine(l, gone[l.ID]))
				continue
			}
			rows = append(rows, []string{l.ID, l.Kind, l.Repo, l.Source, l.Method, short(string(l.Data), 100)})
		}
		if !a.opts.json {
			a.table(rows)
		}
		return nil
	})
}

func leadLine(l store.Lead, gone []string) any {
	return struct {
		Type     string          `json:"type"`
		ID       string          `json:"id"`
		Kind     string          `json:"kind"`
		Repo     string          `json:"repo"`
		Source   string          `json:"source"`
		Method   string          `json:"method"`
		Data     json.RawMessage `json:"data"`
		Evidence string          `json:"evidence,omitempty"`
		Line     int             `json:"line,omitempty"`
		Gone     []string        `json:"unreachable,omitempty"` // commits of the lead that no reference reaches
	}{"lead", l.ID, l.Kind, l.Repo, l.Source, l.Method, l.Data, l.Evidence, l.Line, gone}
}

func (a *app) countLeads(ctx context.Context, f store.LeadFilter) error {
	return a.withStore(ctx, func(s *store.Store) error {
		counts, err := s.LeadCounts(ctx, f)
		if err != nil {
			return err
		}
		rows := [][]string{strings.Fields("SOURCE KIND METHOD LEADS")}
		for _, c := range counts {
			if a.opts.json {
				a.emit(struct {
					Type   string `json:"type"`
					Source string `json:"source"`
					Kind   string `json:"kind"`
					Method string `json:"method"`
					N      int    `json:"leads"`
				}{"lead-count", c.Source, c.Kind, c.Method, c.N})
				continue
			}
			rows = append(rows, []string{c.Source, c.Kind, c.Method, strconv.Itoa(c.N)})
		}
		if !a.opts.json {
			a.table(rows)
		}
		return nil
	})
}
