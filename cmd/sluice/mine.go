package main

import (
	"github.com/spf13/cobra"
)

// newMine is the parent of the miners; each has a file of its own.
func newMine(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mine",
		Short: "Look for leads: pairs, issues with their changes, reports",
		Long: `Look for leads in a source and keep them in the store, each with the evidence that it came from.

A lead is not yet a candidate: see them with sluice leads.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMineAdvisories(a), newMineGHArchive(a), newMineGitHub(a), newMineHistory(a), newMineList(a))
	return cmd
}
