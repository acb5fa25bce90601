package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/pipeline/judging"
	"sluice/store"
)

func newCost(a *app) *cobra.Command {
	var family, repo string
	var instances bool
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what models cost: by stage, by model, and by what became of the candidates",
		Long: `Show what models cost: by stage, by model, and by what became of the candidates. Nothing is asked and nothing is written.

CALLS were answered and paid; CACHED were answered from the store instead and cost nothing. UNCERTAIN is the most that questions may
have cost whose answer never came: a time-out, a broken connection, a process that was killed. RESERVED is put aside for questions on
their way, also of a process that died since: the next run makes those uncertain. Budgets count all three: paid, uncertain and
reserved. WALL is the time of the calls one after the other. ADMITTED is what was paid for candidates that are admitted, PER-ADMITTED
all that was paid, also for others, divided by their number.

Amounts are dollars; with --json they are integers, in millionths of a dollar, and each admitted candidate is an object too.`,
		Example: `  sluice cost
  sluice cost --repo ada/ledger --instances`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.cost(cmd.Context(), family, repo, instances)
		},
	}
	cmd.Flags().StringVar(&family, "family", "", "only this family")
	cmd.Flags().StringVar(&repo, "repo", "", "only this repository")
	cmd.Flags().BoolVar(&instances, "instances", false, "list the admitted candidates too (--json always does)")
	return cmd
}

func (a *app) cost(ctx context.Context, family, repo string, instances bool) error {
	return a.withStore(ctx, func(s *store.Store) error {
		c, err := judging.ReadCosts(ctx, s, family, repo)
		if err != nil {
			return err
		}
		if a.opts.json {
			a.emitCosts(c)
			return nil
		}
		if !instances {
			c.Instances = nil
		}
		if len(c.Stages) == 0 {
			a.say("no model was asked")
			return nil
		}
		a.printCosts(c)
		return nil
	})
}

func (a *app) emitCosts(c judging.Costs) {
	for _, st := range c.Stages {
		a.emit(struct {
			Type string `json:"type"`
			judging.StageCost
		}{"stage-cost", st})
	}
	a.emitParts("model-cost", c.Models)
	for _, e := range c.Ends {
		a.emit(struct {
			Type string `json:"type"`
			judging.EndCost
		}{"end-cost", e})
	}
	a.emitParts("instance-cost", c.Instances)
	a.emit(struct {
		Type string `json:"type"`
		judging.StageCost
		Counted  judging.USD `json:"counted_micro_usd"`
		Admitted int         `json:"admitted"`
	}{"total-cost", c.Total, c.Total.Counted(), len(c.Instances)})
}

func (a *app) emitParts(kind string, parts []judging.PartCost) {
	for _, p := range parts {
		a.emit(struct {
			Type string `json:"type"`
			judging.PartCost
		}{kind, p})
	}
}

func (a *app) printCosts(c judging.Costs) {
	heading := strings.Fields("CALLS CACHED INPUT CACHED-INPUT OUTPUT DOLLARS UNCERTAIN RESERVED WALL")
	rows := [][]string{append(append([]string{"STAGE"}, heading...), "ADMITTED", "PER-ADMITTED")}
	c.Total.Stage = "total"
	for _, st := range append(c.Stages, c.Total) {
		rows = append(rows, append(costRow(dash(st.Stage), st.Cost), st.OnAdmitted.String(), st.PerAdmitted.String()))
	}
	a.table(rows)
	a.printParts("MODEL", heading, c.Models)
	rows = [][]string{append([]string{"STATE", "CANDIDATES"}, heading...)}
	for _, e := range c.Ends {
		row := costRow(dash(string(e.State)), e.Cost)
		rows = append(rows, append([]string{row[0], strconv.Itoa(e.Candidates)}, row[1:]...))
	}
	a.say("")
	a.table(rows)
	a.printParts("INSTANCE", heading, c.Instances)
	a.say("\n$%s count against budgets: %s paid, %s uncertain, %s reserved", c.Total.Counted(), c.Total.Paid, c.Total.LostUSD, c.Total.WayUSD)
}

func (a *app) printParts(name string, heading []string, parts []judging.PartCost) {
	if len(parts) == 0 {
		return
	}
	rows := [][]string{append([]string{name}, heading...)}
	for _, p := range parts {
		rows = append(rows, costRow(dash(p.Name), p.Cost))
	}
	a.say("")
	a.table(rows)
}

// dash stands for what has no name: calls on nobody's account.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func costRow(name string, c judging.Cost) []string {
	n := func(i int64) string { return strconv.FormatInt(i, 10) }
	return []string{name, n(c.Calls), n(c.Used), n(c.Input), n(c.Cached), n(c.Output), c.Paid.String(), c.LostUSD.String(), c.WayUSD.String(),
		c.Wall.Round(100 * time.Millisecond).String()}
}
