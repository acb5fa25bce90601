package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"sluice/pipeline"
	"sluice/pipeline/build"
	"sluice/pipeline/foresight"
	"sluice/store"
)

// buildOptions are the flags of build.
type buildOptions struct {
	repo, name, branch, family string
	since, until               string
	judge, models              string
	replayOnly, judgeGiven     bool
	sandbox                    sandboxFlags
	workers, repeats, maxFiles int
	allRuns                    bool
	ignoreRevs                 []string
	budget, candidateBudget    time.Duration
	minFree                    string
}

func newBuild(a *app) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "build --repo PATH|URL --family NAME",
		Short: "Mine a repository and take its candidates to admitted instances",
		Long: `Mine a repository's history and take every candidate through the family's stages.

What is done is stored as it goes: interrupt it, kill it, run it again, and it goes on; with nothing new it
ends at once. What only a model or a person can decide is held, unless --judge rules admits it under a label.

The docker sandbox is the default. --sandbox local runs the repository's code on this machine: only for a
repository that you trust.`,
		Example: `  sluice build --repo ~/src/ledger --family foresight --sandbox local
  sluice build --repo https://git.example.com/ada/ledger --family foresight --since 2021-01-01 --judge rules`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.judgeGiven = cmd.Flags().Changed("judge")
			return a.build(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *buildOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "path or URL of the repository to mine")
	f.StringVar(&o.name, "name", "", "owner/name in records (default: from the path or URL)")
	f.StringVar(&o.branch, "branch", "", "branch to mine (default: the repository's own default branch)")
	f.StringVar(&o.family, "family", "", "kind of benchmark: "+build.FamilyNames())
	f.StringVar(&o.since, "since", "", "first day of the window, YYYY-MM-DD, or \"all\" (default: five years before the branch's tip)")
	f.StringVar(&o.until, "until", "", "first day after the window, YYYY-MM-DD")
	f.StringVar(&o.judge, "judge", string(foresight.JudgeNone), "who decides what execution cannot: none holds it, rules admits it under the label judged=rules, models asks those of --models")
	f.StringVar(&o.models, "models", "", "configuration of models: which there are, who judges, what it may cost (implies --judge models)")
	f.BoolVar(&o.replayOnly, "replay-only", false, "ask no model: a question whose reply is not stored ends the run")
	f.IntVar(&o.workers, "workers", 0, "candidates in sandboxes at once (default: the machine's cores)")
	f.IntVar(&o.repeats, "repeats", 3, "runs of each decisive state")
	f.IntVar(&o.maxFiles, "max-files", 300, "a change of more files is too large")
	f.BoolVar(&o.allRuns, "all-runs", false, "run the whole matrix of states, also when the verdict is certain")
	f.StringSliceVar(&o.ignoreRevs, "ignore-rev", nil, "commits that blame passes through, besides those of .git-blame-ignore-revs")
	f.DurationVar(&o.budget, "budget", 0, "stop cleanly after this time")
	f.DurationVar(&o.candidateBudget, "candidate-budget", 0, "hold a candidate that takes longer than this")
	f.StringVar(&o.minFree, "min-free", "1GB", "stop cleanly when less disk than this is free")
	o.sandbox.addFlags(f)
	_ = cmd.MarkFlagRequired("repo")
	_ = cmd.MarkFlagRequired("family")
}

// What --ignore-rev and --name take.
var (
	fullID   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	repoName = regexp.MustCompile(`^[A-Za-z0-9_][\w.+-]*(/[A-Za-z0-9_][\w.+-]*)*$`)
)

// settings checks the flags and turns them into what the family reads.
func (o buildOptions) settings() (foresight.Settings, error) {
	s := foresight.Settings{Repeats: o.repeats, MaxFiles: o.maxFiles, AllRuns: o.allRuns, Judge: foresight.JudgeMode(o.judge), IgnoreRevs: o.ignoreRevs}
	if o.models != "" && !o.judgeGiven {
		s.Judge = foresight.JudgeModels
	}
	switch {
	case !slices.Contains([]foresight.JudgeMode{foresight.JudgeNone, foresight.JudgeRules, foresight.JudgeModels}, s.Judge):
		return s, fmt.Errorf("--judge %q: give none, rules or models", o.judge)
	case (s.Judge == foresight.JudgeModels) != (o.models != ""):
		return s, errors.New("--judge models and --models FILE belong together")
	case o.replayOnly && o.models == "":
		return s, errors.New("--replay-only is about models: give --models FILE too")
	}
	if o.repeats < 1 || o.maxFiles < 1 || o.workers < 0 {
		return s, errors.New("--repeats and --max-files must be 1 or more, --workers not negative")
	}
	if o.budget < 0 || o.candidateBudget < 0 {
		return s, errors.New("--budget and --candidate-budget must not be negative")
	}
	for _, id := range o.ignoreRevs {
		if !fullID.MatchString(id) {
			return s, fmt.Errorf("--ignore-rev %q: give the commit's full id", id)
		}
	}
	if o.name != "" && !repoName.MatchString(o.name) {
		return s, fmt.Errorf("--name %q: write owner/name, of letters, digits and _ . + -", o.name)
	}
	var err error
	if s.Whole = o.since == "all"; !s.Whole {
		if s.Since, err = parseDay("--since", o.since); err != nil {
			return s, err
		}
	}
	if s.Until, err = parseDay("--until", o.until); err != nil {
		return s, err
	}
	if !s.Until.IsZero() && !s.Since.Before(s.Until) {
		return s, fmt.Errorf("--since %s is not before --until %s", o.since, o.until)
	}
	s.Limits, err = o.sandbox.limits()
	return s, err
}

// parseDay reads a date; "" is none.
func parseDay(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, fmt.Errorf("%s %q: write the day as YYYY-MM-DD", flag, s)
	}
	return t, nil
}

func (a *app) build(ctx context.Context, o buildOptions) error {
	settings, err := o.settings()
	if err != nil {
		return fail(exitUsage, err, "")
	}
	minFree, err := humanize.ParseBytes(o.minFree)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("--min-free %q: write a size like 2GB", o.minFree), "")
	}
	sandbox, err := o.sandbox.config(a, settings.Limits)
	if err != nil {
		return fail(exitUsage, err, "")
	}
	models, err := a.models(o.models, o.replayOnly)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	p := a.newProgress()
	rep, err := build.Run(ctx, build.Config{
		Store: s, Dir: a.opts.store, Source: o.repo, Name: o.name, Branch: o.branch, Family: o.family, Settings: settings,
		Sandbox: sandbox, Models: models, Workers: o.workers, Progress: p, Log: a.log, Clock: a.clock,
		Budget: pipeline.Budget{Wall: o.budget, CandidateWall: o.candidateBudget, MinFree: minFree},
	})
	p.Close()
	if rep.Tip != "" {
		states, perr := a.printBuild(context.WithoutCancel(ctx), s, o.family, rep)
		if err = errors.Join(err, perr); err == nil {
			err = verdict(states)
		}
	}
	return errors.Join(err, s.Close())
}

// buildResult is the last line of build.
type buildResult struct {
	Type string `json:"type"` // "build"
	build.Report
	States map[store.State]int `json:"states"` // of all candidates of the repository
}

// printBuild shows what the run did and where the repository's candidates stand now.
func (a *app) printBuild(ctx context.Context, s *store.Store, family string, rep build.Report) (map[store.State]int, error) {
	rows, err := s.Funnel(ctx, family, rep.Repo)
	if err != nil {
		return nil, err
	}
	states := map[store.State]int{}
	for _, r := range rows {
		states[r.State] += r.N
	}
	if a.opts.json {
		a.emit(buildResult{"build", rep, states})
		return states, nil
	}
	if rep.Engine.Candidates > 0 {
		a.printFunnel(rows)
		a.say("")
	}
	a.say("%s: %s", rep.Repo, countStates(states))
	spent := rep.Engine.Spent["test-run"]
	if spent > 0 {
		a.say("mined in %s; then %s of test runs took %s", rep.Mining.Round(time.Millisecond),
			spent.Round(time.Second), rep.Engine.Wall.Round(time.Second))
	}
	if rep.Engine.Busy > 0 {
		a.say("%d candidates are in the hands of another sluice on this store", rep.Engine.Busy)
	}
	if states[store.Held] > 0 {
		a.say("%d held: see sluice list --held; --judge rules admits them under a label", states[store.Held])
	}
	return states, nil
}

// verdict is the exit code of a build that ended: of where all candidates of the repository stand, so that a second run says the same.
func verdict(states map[store.State]int) error {
	switch {
	case states[store.Failed] > 0:
		return fail(exitIncomplete, fmt.Errorf("%d candidates failed", states[store.Failed]), "see sluice list --failed; sluice retry --failed opens them again")
	case states[store.Admitted]+states[store.Held]+states[store.Open] == 0: // open: in the hands of another process
		return fail(exitNothing, errors.New("no candidate was admitted or held"), "sluice status says why")
	}
	return nil
}

func countStates(states map[store.State]int) string {
	var parts []string
	for _, st := range []store.State{store.Admitted, store.Held, store.Rejected, store.Failed, store.Open} {
		if n := states[st]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, st))
		}
	}
	if len(parts) == 0 {
		return "no candidates"
	}
	return strings.Join(parts, ", ")
}
