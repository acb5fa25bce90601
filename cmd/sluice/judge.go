package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline/calibration"
	"sluice/pipeline/calibration/measure"
	"sluice/pipeline/evaluate/stats"
	"sluice/pipeline/judging"
)

func newJudge(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "judge",
		Short: "List the judges, and measure them on labelled evidence",
	}
	cmd.AddCommand(newJudgeList(a), newJudgeBench(a))
	return cmd
}

func newJudgeList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the judges: what each decides, its codes, and the version of its prompt",
		Long: `List the judges: what each decides, its codes, and the version of its prompt. A code with a star keeps the candidate. With --json
each judge is an object with the meaning of each code and the slots of its evidence.`,
		Example: `  sluice judge list
  sluice judge list --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := measure.List()
			if err != nil {
				return err
			}
			a.printJudges(list)
			return nil
		},
	}
}

func (a *app) printJudges(list []measure.JudgeInfo) {
	rows := [][]string{strings.Fields("JUDGE VERSION CODES QUESTION")}
	for _, j := range list {
		if a.opts.json {
			a.emit(struct {
				Type string `json:"type"`
				measure.JudgeInfo
			}{"judge", j})
			continue
		}
		var codes []string
		for _, c := range j.Codes {
			name := c.Name
			if c.Keeps {
				name += "*"
			}
			codes = append(codes, name)
		}
		rows = append(rows, []string{j.Name, strconv.Itoa(j.Version), strings.Join(codes, " "), j.Purpose})
	}
	if !a.opts.json {
		a.table(rows)
	}
}

// benchOptions are the flags of judge bench.
type benchOptions struct {
	labels, models, judge string
	replayOnly, order     bool
}

func newJudgeBench(a *app) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench --labels FILE --models FILE",
		Short: "Measure judges on evidence whose right codes are known",
		Long: `Measure judges on evidence whose right codes are known.

Each row of the file is a JSON object: {"judge": "szz-attribution", "evidence": {"task_patch": "…", "later_changes": ["…", "…"]},
"label": "C1"}. Evidence is by slot, a text or a list of texts; see sluice judge list --json for slots. "label" may be a list of
codes, each of which is right. "id" names the row in the report; without one its number does.

A row that cannot be read, does not fit its judge, or gets no verdict costs this row alone; the report names it and says how many
rows were scored. A second run asks nothing: answers are kept in the store, which is made where there is none.`,
		Example: `  sluice judge bench --labels labels.jsonl --models models.toml
  sluice judge bench --labels labels.jsonl --models models.toml --judge szz-attribution --order --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.judgeBench(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.labels, "labels", "", "file of rows, - for standard input")
	f.StringVar(&o.models, "models", "", "configuration of models")
	f.StringVar(&o.judge, "judge", "", "only rows of this judge")
	f.BoolVar(&o.replayOnly, "replay-only", false, "ask no model: a question whose reply is not stored ends the run")
	f.BoolVar(&o.order, "order", false, "ask with lists in reversed order too, and say how many codes change")
	_ = cmd.MarkFlagRequired("labels")
	_ = cmd.MarkFlagRequired("models")
	return cmd
}

func (a *app) judgeBench(ctx context.Context, o benchOptions) (err error) {
	models, err := a.models(o.models, o.replayOnly)
	if err != nil {
		return err
	}
	in := a.stdin
	if o.labels != "-" {
		file, err := os.Open(o.labels)
		if err != nil {
			return fail(exitInput, fmt.Errorf("reading the labels: %w", err), "name a file that exists with --labels")
		}
		defer file.Close() //nolint:errcheck // it is only read
		in = file
	}
	s, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	count := a.counter("rows")
	return a.withDesk(ctx, s, models, func(d *judging.Desk) error {
		rep, err := measure.Bench(ctx, measure.BenchConfig{
			Labels: in, Desk: d, Judge: o.judge, Order: o.order, Progress: func(done int) { count(done, 0) },
		})
		if err != nil {
			return err
		}
		return a.printBench(rep)
	})
}

func (a *app) printBench(rep measure.BenchReport) error {
	if a.opts.json {
		for _, r := range rep.Rows {
			a.emit(struct {
				Type string `json:"type"`
				measure.BenchRow
			}{"bench-row", r})
		}
		for _, s := range rep.Judges {
			a.emit(struct {
				Type string `json:"type"`
				measure.BenchScore
			}{"bench", s})
		}
	} else {
		a.sayBench(rep)
	}
	total, scored := 0, 0
	for _, s := range rep.Judges {
		total, scored = total+s.Total, scored+s.Scored
	}
	switch {
	case total == 0:
		return fail(exitNothing, errors.New("the file has no row for this"), "see sluice judge bench --help for what a row is")
	case scored < total:
		return fail(exitIncomplete, fmt.Errorf("%d of %d rows were scored", scored, total), "the report names the others")
	}
	return nil
}

func (a *app) sayBench(rep measure.BenchReport) {
	rows := [][]string{strings.Fields("JUDGE SCORED OF RIGHT OF-ALL KAPPA PANEL-DISAGREES ORDER-CHANGED DOLLARS")}
	for _, s := range rep.Judges {
		changed := "-"
		if s.Changed != nil {
			changed = s.Changed.String()
		}
		rows = append(rows, []string{
			dash(s.Judge), strconv.Itoa(s.Scored), strconv.Itoa(s.Total), s.Accuracy.String(), s.OfAll.String(), kappa(s.Agreement),
			s.Disagree.String(), changed, s.Paid.String(),
		})
	}
	a.table(rows)
	for _, s := range rep.Judges {
		if len(s.Agreement.Confusion) > 0 {
			a.say("\n%s, label > code: %s", s.Judge, confusion(s.Agreement))
		}
	}
	failed := [][]string{strings.Fields("ROW ID JUDGE FAILED REASON")}
	for _, r := range rep.Rows {
		if r.Failed != "" {
			failed = append(failed, []string{strconv.Itoa(r.Row), dash(r.ID), dash(r.Judge), r.Failed, r.Reason})
		}
	}
	if len(failed) > 1 {
		a.say("")
		a.table(failed)
	}
}

// agreementCells are how often two raters say the same, κ, and what they say.
func agreementCells(g stats.Agreement) []string {
	return []string{strconv.Itoa(g.Cases), calibration.ShareOf(g.Same, g.Cases).String(), kappa(g), confusion(g)}
}

// kappa is Cohen's, or a dash where it is not known.
func kappa(g stats.Agreement) string {
	if !g.Known {
		return "-"
	}
	return strconv.FormatFloat(g.Kappa, 'f', 2, 64)
}

// confusion lists the cells that hold cases.
func confusion(g stats.Agreement) string {
	var out []string
	for _, c := range g.Confusion {
		out = append(out, fmt.Sprintf("%s>%s %d", c.A, c.B, c.N))
	}
	return strings.Join(out, ", ")
}
