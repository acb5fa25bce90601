package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// newMine is the parent of the miners; each has a file of its own.
func newMine(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mine",
		Short: "Look for leads: pairs, issues with their changes, reports",
		Long: `Look for leads in a source and keep them in the store, each with the evidence that it came from.

A lead is not yet a candidate: see them with sluice leads. With --json the last line of a miner, or of each repository, is an object of
the type "mined-" and the miner's name; it has leads (found, by kind and method) and added (those that the store did not have).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMineAdvisories(a), newMineGHArchive(a), newMineGitHub(a), newMineHistory(a), newMineList(a))
	return cmd
}

// span is the window of time of a miner's flags.
type span struct{ since, until string }

// moments reads the flags; zero is open.
func (s span) moments() (since, until time.Time, err error) {
	if since, err = parseMoment("--since", s.since); err != nil {
		return since, until, err
	}
	if until, err = parseMoment("--until", s.until); err != nil {
		return since, until, err
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return since, until, fmt.Errorf("--since %s is not before --until %s", s.since, s.until)
	}
	return since, until, nil
}

// parseMoment reads a day or a moment, in UTC unless it says otherwise; "" is none.
func parseMoment(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q: write it as 2021-03-10 or 2021-03-10T06:00", flag, s)
}

// countTable prints counts in the order of their names; nothing where there are none.
func (a *app) countTable(name, count string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	rows := [][]string{{name, count}}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, []string{k, strconv.Itoa(counts[k])})
	}
	a.table(rows)
}
