package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sluice/pipeline/build"
	"sluice/pipeline/evaluate"
	"sluice/pipeline/foresight"
	"sluice/pipeline/release"
	"sluice/replay/tools"
	"sluice/store"
)

// evaluateOptions are the flags of evaluate.
type evaluateOptions struct {
	release, predictions, out string
	sources                   map[string]string
	ignoreUnknown             bool
	workers                   int
	sandbox                   sandboxFlags
}

func newEvaluate(a *app) *cobra.Command {
	var o evaluateOptions
	cmd := &cobra.Command{
		Use:   "evaluate --release DIR --predictions FILE",
		Short: "Score predictions on a release",
		Long: `Score predictions on a release: every patch is applied to the instance's base state in a fresh sandbox and tested
under the sealed tests. Before any score the release itself is checked: its gold earns full credit, an empty, a
malformed and a wrong patch earn none.

Predictions may be JSON or JSONL in any of the usual shapes; "gold" stands for the release's own answers, "task" for the
real changes that introduced the defects, "empty" for empty patches. Exit code 5: predictions are missing.`,
		Example: `  sluice evaluate --release releases/ledger-2026-01 --predictions preds.jsonl
  sluice evaluate --release releases/ledger-2026-01 --predictions gold --sandbox local`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.evaluate(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.release, "release", "", "folder of the release")
	f.StringVar(&o.predictions, "predictions", "", "file of predictions, or gold, task, empty")
	f.StringVar(&o.out, "out", "", "folder for report, logs and results (default: evaluations/<release>/<predictions>)")
	f.StringToStringVar(&o.sources, "source", nil, "where a repository of the release is, owner/name=path or URL (default: the store's mirrors)")
	f.BoolVar(&o.ignoreUnknown, "ignore-unknown", false, "list predictions for instances that the release does not have instead of refusing the file")
	f.IntVar(&o.workers, "workers", 0, "instances at once (default: the machine's cores)")
	o.sandbox.addFlags(f)
	_ = cmd.MarkFlagRequired("release")
	_ = cmd.MarkFlagRequired("predictions")
	return cmd
}

func (a *app) evaluate(ctx context.Context, o evaluateOptions) (err error) {
	limits, err := o.sandbox.limits()
	if err != nil {
		return fail(exitUsage, err, "")
	}
	config, err := o.sandbox.config(a, limits)
	if err != nil {
		return fail(exitUsage, err, "")
	}
	if o.workers < 0 {
		return fail(exitUsage, errors.New("--workers must not be negative"), "")
	}
	rel, err := release.Open(o.release)
	if err != nil {
		return fail(exitInput, err, "name the folder that sluice export wrote")
	}
	preds, err := evaluate.LoadPredictions(o.predictions, rel, evaluate.ReadOptions{IgnoreUnknown: o.ignoreUnknown})
	if err != nil {
		return fail(exitInput, err, "")
	}
	s, err := a.openStore(ctx, true)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	trees := build.NewTrees(a.opts.store, s, o.sources)
	sandbox, err := config.Open(ctx, a.opts.store)
	if err != nil {
		return err
	}
	out := o.outDir(rel)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return errors.Join(unwritable(fmt.Errorf("making the output folder: %w", err), "--out"), sandbox.Close(), trees.Close())
	}
	rep, err := evaluate.Run(ctx, evaluate.Options{
		Release: rel, Tree: trees.Tree, Sandbox: sandbox, Runner: tools.For, Out: out, Clock: a.clock, Workers: build.Workers(o.workers),
		Limits: limits, Retries: 1, Scorer: foresight.Score, Progress: a.evaluated,
		Settings: map[string]string{"sandbox": o.sandbox.kind, "timeout": o.sandbox.timeout.String(), "memory": o.sandbox.memory},
	}, preds)
	if err = errors.Join(err, sandbox.Close(), trees.Close()); err != nil {
		return err
	}
	return a.printReport(rep, out)
}

// outDir is where the report goes: a folder of the release and the predictions, below the current one.
func (o evaluateOptions) outDir(rel *release.Release) string {
	if o.out != "" {
		return o.out
	}
	base := filepath.Base(o.predictions)
	return filepath.Join("evaluations", rel.Manifest.Name, base[:len(base)-len(filepath.Ext(base))])
}

// evaluated shows a finished instance on standard error.
func (a *app) evaluated(done, total int, r evaluate.Result) {
	if a.opts.json {
		emitJSON(a.stderr, struct {
			Type  string         `json:"type"`
			Done  int            `json:"done"`
			Total int            `json:"total"`
			ID    string         `json:"instance_id"`
			State evaluate.State `json:"status"`
		}{"progress", done, total, r.ID, r.State})
		return
	}
	if f, ok := a.stderr.(*os.File); ok && f == os.Stderr || a.opts.verbose {
		fmt.Fprintf(a.stderr, "%d/%d %s: %s\n", done, total, r.ID, r.State)
	}
}

func (a *app) printReport(rep *evaluate.Report, out string) error {
	if a.opts.json {
		a.emit(struct {
			Type string `json:"type"`
			Out  string `json:"out"`
			*evaluate.Report
		}{"report", out, rep})
	} else {
		a.printScores(rep, out)
	}
	if !rep.Complete {
		return fail(exitIncomplete, fmt.Errorf("%d instances have no prediction", rep.Counts[evaluate.NotRun]), "they count as not solved")
	}
	return nil
}

func (a *app) printScores(rep *evaluate.Report, out string) {
	for _, st := range evaluate.States {
		if n := rep.Counts[st]; n > 0 {
			a.say("%4d %s", n, st)
		}
	}
	for _, m := range rep.Metrics {
		line := fmt.Sprintf("%-14s %.3f", m.Name, m.Value)
		if m.Interval != nil {
			line += fmt.Sprintf("  [%.3f, %.3f]  %.0f of %d", m.Interval.Low, m.Interval.High, m.Sum, m.N)
		} else {
			line += fmt.Sprintf("  over %d", m.N)
		}
		a.say("%s", line)
	}
	a.say("report: %s", filepath.Join(out, "report.md"))
}
