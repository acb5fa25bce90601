package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"sluice/pipeline/build"
	"sluice/pipeline/calibration"
	"sluice/pipeline/calibration/measure"
	"sluice/pipeline/foresight"
	"sluice/pipeline/judging"
	"sluice/store"
)

// calibrateOptions are the flags of calibrate.
type calibrateOptions struct {
	family, repo, models string
	replayOnly           bool
	sources              map[string]string
}

func newCalibrate(a *app) *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure attribution and judges against what the authors of fixes and people say",
		Long: `Measure attribution and judges against what the authors of fixes and people say.

Every candidate whose fix names the change that introduced the defect is a chain. SZZ, which reads no messages, and the panel of
the judge szz-attribution are asked as if nobody had named it: the words that do so are taken out of what the panel reads. Printed are how often
SZZ abstains, is right and is wrong, what the panel rejects of the right and of the wrong, and what is left wrong, with Wilson 95 %
intervals. The rules judge is measured in the same way, alone when there is no --models: what it says nothing about stays.

Rules are compared with models on the candidates that both have judged, and people's verdicts (sluice review) with the judges' and with each
other's. A chain that cannot be judged is counted as failed. A second run asks nothing: every answer is kept. The tables are kept too:
the data-set card of a release shows them when the same models ruled on it.

Questions are on the account of no candidate, at the stage "calibrate" of sluice cost.`,
		Example: `  sluice calibrate
  sluice calibrate --models models.toml --repo ada/ledger
  sluice calibrate --models models.toml --replay-only --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.family, "family", foresight.Name, "kind of benchmark: "+build.FamilyNames())
	f.StringVar(&o.repo, "repo", "", "only this repository, as records name it")
	f.StringVar(&o.models, "models", "", "configuration of models; without it only SZZ and rules are measured")
	f.BoolVar(&o.replayOnly, "replay-only", false, "ask no model: a question whose reply is not stored ends the run")
	f.StringToStringVar(&o.sources, "source", nil, "where a repository is, owner/name=PATH or URL (default: as it was mined); may be repeated")
	return cmd
}

func (a *app) calibrate(ctx context.Context, o calibrateOptions) error {
	if o.family != foresight.Name {
		return fmt.Errorf("%w %q: chains are known of %s", build.ErrUnknownFamily, o.family, foresight.Name)
	}
	if o.replayOnly && o.models == "" {
		return fail(exitUsage, errors.New("--replay-only is about models: give --models FILE too"), "")
	}
	models, err := a.models(o.models, o.replayOnly)
	if err != nil {
		return err
	}
	return a.withStore(ctx, func(s *store.Store) error {
		return a.withDesk(ctx, s, models, func(d *judging.Desk) (err error) {
			trees := build.NewTrees(a.opts.store, s, o.sources)
			defer func() { err = errors.Join(err, trees.Close()) }()
			rep, err := measure.Run(ctx, measure.Config{
				Store: s, Repo: o.repo, History: trees.History, Desk: d, Progress: a.counter("chains"),
			})
			if err != nil {
				return err
			}
			return a.printCalibration(rep)
		})
	})
}

// withDesk opens the desk of models and closes it in the end; without models there is none.
func (a *app) withDesk(ctx context.Context, s *store.Store, models *build.Models, f func(*judging.Desk) error) error {
	if models == nil {
		return f(nil)
	}
	options := models.Options
	options.ReplayOnly = models.ReplayOnly
	d, err := judging.Open(ctx, s, models.Config, options)
	if err != nil {
		return err
	}
	return errors.Join(f(d), d.Close(context.WithoutCancel(ctx)))
}

// counter shows on standard error now and then how far a run is; total may be unknown.
func (a *app) counter(what string) func(done, total int) {
	const pause = 5 * time.Second
	last := a.clock()
	f, file := a.stderr.(*os.File)
	shown := a.opts.json || a.opts.verbose || file && isatty.IsTerminal(f.Fd())
	return func(done, total int) {
		now := a.clock()
		if !shown || done != total && now.Sub(last) < pause {
			return
		}
		last = now
		switch {
		case a.opts.json:
			emitJSON(a.stderr, struct {
				Type  string `json:"type"`
				What  string `json:"what"`
				Done  int    `json:"done"`
				Total int    `json:"total,omitempty"`
			}{"progress", what, done, total})
		case total > 0:
			fmt.Fprintf(a.stderr, "%d/%d %s\n", done, total, what)
		default:
			fmt.Fprintf(a.stderr, "%d %s\n", done, what)
		}
	}
}

func (a *app) printCalibration(rep measure.Report) error {
	if a.opts.json {
		a.emitCalibration(rep)
	} else {
		a.sayCalibration(rep)
	}
	first := rep.Judged[0].Total
	switch {
	case first.Chains == 0 && len(rep.People) == 0 && len(rep.Rules) == 0:
		return fail(exitNothing, errors.New("nothing to measure: no fix names its origin, and nobody reviewed"), "sluice build finds candidates; sluice review keeps a verdict")
	case first.Failed > 0:
		return fail(exitIncomplete, fmt.Errorf("%d of %d proposed changes got no ruling", first.Failed, first.Proposed), "they are in no share of judged ones")
	}
	return nil
}

// calibrationObject is one table: of a repository, or of all ("").
type calibrationObject struct {
	Type  string             `json:"type"` // "calibration"
	Judge string             `json:"judge"`
	Repo  string             `json:"repo"`
	Maker *calibration.Maker `json:"maker,omitempty"`
	Paid  *judging.USD       `json:"micro_usd,omitempty"`
	calibration.Table
}

func (a *app) emitCalibration(rep measure.Report) {
	for _, j := range rep.Judged {
		for _, c := range j.Chains {
			a.emit(struct {
				Type  string `json:"type"`
				Judge string `json:"judge"`
				Right bool   `json:"right"`
				calibration.Chain
			}{"chain", j.Judge, c.Right(), c})
		}
		for _, r := range j.Repos {
			a.emit(calibrationObject{Type: "calibration", Judge: j.Judge, Repo: r.Repo, Table: r.Table})
		}
		a.emit(calibrationObject{Type: "calibration", Judge: j.Judge, Maker: j.Maker, Paid: &j.Paid, Table: j.Total})
	}
	for _, r := range rep.Rules {
		share, known := r.Agreement()
		o := struct {
			Type      string   `json:"type"`
			Judge     string   `json:"judge"`
			Cases     int      `json:"candidates"`
			Spoke     int      `json:"spoke"`
			Agreed    int      `json:"agreed"`
			Contra    int      `json:"contra"`
			Missed    int      `json:"missed"`
			Agreement *float64 `json:"agreement"` // null when rules said nothing
			Confusion any      `json:"confusion"`
		}{"rules-comparison", r.Judge, r.Candidates, r.Spoke, r.Agreed, r.Contra, r.Missed, nil, r.Confusion}
		if known {
			o.Agreement = &share
		}
		a.emit(o)
	}
	for _, p := range rep.People {
		a.emit(struct {
			Type string `json:"type"`
			measure.People
		}{"agreement", p})
	}
}

func (a *app) sayCalibration(rep measure.Report) {
	for i, j := range rep.Judged {
		if i > 0 {
			a.say("")
		}
		a.sayJudged(j)
	}
	if len(rep.Rules) > 0 {
		a.say("\nrules against models:")
		rows := [][]string{strings.Fields("JUDGE CANDIDATES RULES-SPOKE AGREED MODEL-KEPT MODEL-ALONE")}
		for _, r := range rep.Rules {
			rows = append(rows, []string{r.Judge, strconv.Itoa(r.Candidates), strconv.Itoa(r.Spoke), strconv.Itoa(r.Agreed), strconv.Itoa(r.Contra), strconv.Itoa(r.Missed)})
		}
		a.table(rows)
	}
	if len(rep.People) > 0 {
		a.say("\npeople:")
		rows := [][]string{strings.Fields("JUDGE A B CASES SAME KAPPA CONFUSION")}
		for _, p := range rep.People {
			rows = append(rows, append([]string{p.Judge, p.A, p.B}, agreementCells(p.Agreement)...))
		}
		a.table(rows)
	}
}

// sayJudged prints the table of one judge: all repositories, and each when there are several.
func (a *app) sayJudged(j measure.Judged) {
	heading := "judge " + j.Judge
	switch {
	case j.Judge == calibration.RulesName:
		heading = "rules judge (what it says nothing about stays)"
	case j.Maker != nil:
		heading += " (" + j.Maker.String() + "), $" + j.Paid.String() + " paid now"
	}
	a.say("%s", oneLine(heading))
	columns, tables := []string{""}, []calibration.Table{j.Total}
	if len(j.Repos) > 1 {
		columns = append(columns, "all")
		for _, r := range j.Repos {
			columns, tables = append(columns, r.Repo), append(tables, r.Table)
		}
	} else {
		columns = append(columns, "n")
	}
	rows := [][]string{columns}
	for _, line := range calibration.Lines() {
		row := []string{line.Name}
		for _, t := range tables {
			row = append(row, line.Of(t))
		}
		rows = append(rows, row)
	}
	a.table(rows)
	reasons := map[string]int{}
	for _, c := range j.Chains {
		if c.Failed != "" {
			reasons[c.Failed+": "+c.Reason]++
		}
	}
	for i, why := range slices.Sorted(maps.Keys(reasons)) {
		if i == mostReasons {
			a.say("  … and %d other reasons; --json has all", len(reasons)-i)
			break
		}
		a.say("  %d not judged, %s", reasons[why], oneLine(why))
	}
}

// mostReasons bounds the reasons for missing rulings that are shown.
const mostReasons = 5
