package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline/mining/localgit"
)

type mineHistoryOptions struct {
	span
	name, branch string
}

func newMineHistory(a *app) *cobra.Command {
	var o mineHistoryOptions
	cmd := &cobra.Command{
		Use:   "history REPO",
		Short: "Mine a repository's own history: claims in messages, tickets, change logs",
		Long: `Mine what a repository's own history says, without any network but for fetching it: trailers and sentences that name the
change that introduced a defect, tickets that changes share or name, and change logs. What is named is resolved to a commit
in the history of the fix; what cannot be is counted by reason and, with --json, named.

It also prints the share of commits that are known to come from a pull or merge request or a review, by how it is known.

A second run on the same references adds nothing and ends at once. When the repository was rewritten, what was found
before stays, and the leads whose commits are gone are counted as unreachable.

With --json the lines are objects of the types "problem" and, last, "mined-history".`,
		Example: `  sluice mine history ~/src/ledger --since 2021-01-01
  sluice mine history https://git.example.com/ada/ledger --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.mineHistory(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "owner/name in leads (default: from the path or URL)")
	f.StringVar(&o.branch, "branch", "", "branch to mine (default: the repository's own default branch)")
	f.StringVar(&o.since, "since", "", "only fixes from this moment on: 2021-03-10, 2021-03-10T06:00 (UTC)")
	f.StringVar(&o.until, "until", "", "only fixes before this moment")
	return cmd
}

func (o mineHistoryOptions) config(source string) (localgit.Config, error) {
	c := localgit.Config{Source: source, Name: o.name, Branch: o.branch}
	if o.name != "" && !repoName.MatchString(o.name) {
		return c, fmt.Errorf("--name %q: write owner/name, of letters, digits and _ . + -", o.name)
	}
	var err error
	c.Since, c.Until, err = o.moments()
	return c, err
}

func (a *app) mineHistory(ctx context.Context, source string, o mineHistoryOptions) error {
	c, err := o.config(source)
	if err != nil {
		return fail(exitUsage, err, "")
	}
	s, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	c.Store, c.Dir = s, a.opts.store
	rep, err := localgit.Run(ctx, c)
	if err == nil {
		a.printHistory(rep)
	}
	return errors.Join(err, s.Close())
}

func (a *app) printHistory(rep localgit.Report) {
	if a.opts.json {
		for _, p := range rep.Named {
			a.emit(struct {
				Type string `json:"type"`
				localgit.Problem
			}{"problem", p})
		}
		a.emit(struct {
			Type string `json:"type"`
			localgit.Report
		}{"mined-history", rep})
		return
	}
	a.countTable("METHOD", "LEADS", rep.Leads)
	a.countTable("NOT USED", "COUNT", rep.Problems)
	a.printShare(rep.Requests)
	if rep.Rewritten {
		a.say("the repository was rewritten since the last run; what was found before stays")
	}
	if rep.Unreachable > 0 {
		a.say("%d leads name a commit that no reference reaches: see sluice leads --json", rep.Unreachable)
	}
	if rep.Unchanged {
		a.say("%s: nothing is new since the last run", rep.Repo)
		return
	}
	a.say("%s: %d commits, %d claims; %d new leads", rep.Repo, rep.Counts["commits"], rep.Counts["claims"], rep.Added)
}

func (a *app) printShare(s localgit.Share) {
	var ways []string
	for _, w := range slices.Sorted(maps.Keys(s.Ways)) {
		ways = append(ways, fmt.Sprintf("%s %d", w, s.Ways[w]))
	}
	a.say("from a request or review: %d of %d commits (%.1f %%) %s", s.Mapped, s.Commits, percent(s.Mapped, s.Commits), strings.Join(ways, ", "))
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
