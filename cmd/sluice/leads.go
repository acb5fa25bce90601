package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline/mining"
	"sluice/store"
)

func newLeads(a *app) *cobra.Command {
	var filter store.LeadFilter
	var count, unresolved bool
	top := 20
	cmd := &cobra.Command{
		Use:   "leads",
		Short: "List what the miners found, one lead a line",
		Long: `List what the miners found: pairs of changes, issues with the change that closes them, reports that name the first bad
commit, and instances of other data sets.

With --json each line is an object of type "lead"; its data has the form that its kind fixes, and evidence is the digest of
what the miner saw. Commits of a lead that no reference of the repository reaches, by its last mining, stand in unreachable.

--unresolved lists the repositories with most that is unknown: by leads (whether a change was merged, which of two changes came first, …),
and by pushes of hour files whose commits are unknown. Mirror them and give them to sluice mine gharchive with --repo, or ask the API with
sluice mine github. Its lines are of type "unresolved".`,
		Example: `  sluice leads --kind pair --repo owner/name
  sluice leads --count --json
  sluice leads --unresolved --top 50`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter.Repo = strings.ToLower(filter.Repo)
			switch {
			case top < 1 || top > 10_000:
				return fail(exitUsage, errors.New("--top must be 1 to 10000"), "")
			case count:
				return a.countLeads(cmd.Context(), filter)
			case unresolved:
				return a.unresolved(cmd.Context(), filter, top)
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
	flags.BoolVar(&unresolved, "unresolved", false, "list the repositories with most that is unknown")
	flags.IntVar(&top, "top", top, "with --unresolved: so many by leads, and as many by pushes")
	cmd.MarkFlagsMutuallyExclusive("count", "unresolved")
	return cmd
}

func (a *app) unresolved(ctx context.Context, f store.LeadFilter, top int) error {
	return a.withStore(ctx, func(s *store.Store) error {
		repos, err := mining.Unresolved(ctx, s, f, top)
		if err != nil {
			return err
		}
		if len(repos) == 0 {
			return fail(exitNothing, errors.New("listing what is unknown: there is nothing"), "")
		}
		rows := [][]string{strings.Fields("REPO LEADS PUSHES UNKNOWN")}
		for _, r := range repos {
			if a.opts.json {
				a.emit(struct {
					Type string `json:"type"`
					mining.UnresolvedRepo
				}{"unresolved", r})
				continue
			}
			rows = append(rows, []string{r.Repo, strconv.Itoa(r.Leads), strconv.Itoa(r.Pushes), countNames(r.Unknown)})
		}
		if !a.opts.json {
			a.table(rows)
		}
		return nil
	})
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
