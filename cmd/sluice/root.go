package main

import (
	"cmp"

	"github.com/spf13/cobra"
)

// newRoot returns the command with all its subcommands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Turn the history of real repositories into verified benchmark instances for coding agents",
		Long: `sluice turns the history of real repositories into verified benchmark instances for coding agents.

Results go to standard output, progress and logs to standard error. With --json results are one JSON object
a line, each with a "type", and so are progress, logs and errors.

Exit codes:
` + exitText(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// cobra looks only after this, and what is wrong with flags must end as that.
			if err := cmp.Or(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
				return err
			}
			a.begin()
			return nil
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&a.opts.store, "store", ".sluice", "folder of the store")
	flags.BoolVar(&a.opts.json, "json", false, "write results, progress, logs and errors as JSON, one object a line")
	flags.BoolVarP(&a.opts.verbose, "verbose", "v", false, "log what is done")
	root.AddCommand(
		newBuild(a), newMine(a), newLeads(a), newSZZ(a), newExport(a), newEvaluate(a), newList(a), newStatus(a), newCost(a), newExplain(a), newReview(a), newRetry(a),
		newCalibrate(a), newJudge(a), newStore(a), newImages(a), newStates(a), newDoctor(a), newVersion(a), newDemo(a), newDocs(a),
	)
	return root
}
