package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sluice/miners/gitrepo"
	"sluice/pipeline/build"
	"sluice/pipeline/history"
	"sluice/pipeline/states"
)

// statesOptions are the flags of states.
type statesOptions struct {
	repo, branch, since string
	commits, workers    int
	files               bool
	sandbox             sandboxFlags
}

func newStates(a *app) *cobra.Command {
	var o statesOptions
	cmd := &cobra.Command{
		Use:   "states --repo PATH|URL",
		Short: "Run the tests of a repository's last states, and say what share of them can be run",
		Long: `Run the tests of the states that the last changes of a repository left, and say of each how far it came: whether a recipe is
known, the environment installs, source and tests build, and the tests run. Recipes come from heuristics first, then from what
the project's continuous integration says, from the versions of the state's day, and from its neighbours; no model is asked. At
the end stand the shares, with Wilson's intervals at 95 %.

What was installed and run is kept in the store: a second run starts nothing. What failed for the machinery's or the network's
sake is no verdict; the next run tries it again. With --json each line is an object of type "state", and the last one of type "states".

The docker sandbox is the default. --sandbox local runs the repository's code on this machine: only for a repository that you
trust.`,
		Example: `  sluice states --repo ~/src/ledger
  sluice states --repo https://git.example.com/ada/ledger --commits 50 --files --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.states(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "path or URL of the repository")
	f.StringVar(&o.branch, "branch", "", "branch to look at (default: the repository's own default branch)")
	f.IntVar(&o.commits, "commits", 20, "how many changes, the last ones; 0: all")
	f.StringVar(&o.since, "since", "", "only changes that landed on this day or later, YYYY-MM-DD")
	f.BoolVar(&o.files, "files", false, "run only the test files that a change touches; changes without are passed over")
	f.IntVar(&o.workers, "workers", 1, "states at once")
	o.sandbox.addFlags(f)
	_ = cmd.MarkFlagRequired("repo")
	return cmd
}

// options checks the flags.
func (o statesOptions) options(a *app) (so states.Options, sandbox build.SandboxConfig, err error) {
	if o.commits < 0 || o.workers < 1 {
		return so, sandbox, errors.New("--commits must not be negative, --workers 1 or more")
	}
	so = states.Options{N: o.commits, Files: o.files, Workers: o.workers, Image: o.sandbox.image}
	if so.Since, err = parseDay("--since", o.since); err != nil {
		return so, sandbox, err
	}
	if so.Limits, err = o.sandbox.limits(); err != nil {
		return so, sandbox, err
	}
	sandbox, err = o.sandbox.config(a, so.Limits)
	return so, sandbox, err
}

func (a *app) states(ctx context.Context, o statesOptions) (err error) {
	so, config, err := o.options(a)
	if err != nil {
		return fail(exitUsage, err, "")
	}
	if so.Store, err = a.openStore(ctx, false); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, so.Store.Close()) }()
	m, err := gitrepo.Open(ctx, o.repo, filepath.Join(a.opts.store, "mirrors"), gitrepo.Options{Branch: o.branch})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	so.History, so.Clock, so.Done = history.New(m, o.branch), a.clock, a.stateDone
	so.Begin = a.statesBegin
	sandbox := config.Lazy(a.opts.store)
	so.Sandbox = sandbox
	list, err := states.Run(ctx, so)
	if err = errors.Join(err, sandbox.Close()); err != nil {
		return err
	}
	if len(list) == 0 {
		return fail(exitNothing, errors.New("no change is in the selection"), "see --commits, --since and --files")
	}
	sum := states.Summarise(list)
	a.printStates(list, sum)
	if sum.Unknown > 0 {
		return fail(exitIncomplete, fmt.Errorf("nothing is known of %d states", sum.Unknown), "the next run tries them again")
	}
	return nil
}

// statesBegin shows that work began: what comes first, an environment, may take minutes.
func (a *app) statesBegin(total int) {
	if a.opts.json {
		emitJSON(a.stderr, struct {
			Type  string `json:"type"`
			Done  int    `json:"done"`
			Total int    `json:"total"`
		}{"progress", 0, total})
		return
	}
	fmt.Fprintf(a.stderr, "0 of %d: a state that needs a new environment may take minutes\n", total)
}

// stateDone shows progress.
func (a *app) stateDone(n, total int, s states.State) {
	if a.opts.json {
		emitJSON(a.stderr, struct {
			Type   string     `json:"type"`
			Done   int        `json:"done"`
			Total  int        `json:"total"`
			Commit string     `json:"commit"`
			End    states.End `json:"end"`
		}{"progress", n, total, s.Commit, s.End})
		return
	}
	fmt.Fprintf(a.stderr, "%d of %d: %.10s %s\n", n, total, s.Commit, s.End)
}

func (a *app) printStates(list []states.State, sum states.Summary) {
	if a.opts.json {
		for _, s := range list {
			a.emit(struct {
				Type string `json:"type"`
				states.State
			}{"state", s})
		}
		a.emit(struct {
			Type string `json:"type"`
			states.Summary
		}{"states", sum})
		return
	}
	rows := [][]string{{"STATE", "TOOL", "ENVIRONMENT", "SOURCE", "TESTS", "RAN", "PASSED", "FAILED", "TIME", "END", "WHY"}}
	for _, s := range list {
		rows = append(rows, stateRow(s))
	}
	a.table(rows)
	a.say("")
	a.printStateShare("states whose tests run", sum.Ran)
	for _, tool := range slices.Sorted(maps.Keys(sum.Tools)) {
		a.printStateShare("  "+cmp.Or(tool, "no recipe"), sum.Tools[tool])
	}
	for _, rung := range slices.Sorted(maps.Keys(sum.Rungs)) {
		a.say("  recipe by %s: %d", rung, sum.Rungs[rung])
	}
	a.printStateShare("states whose environment installs", sum.Installed)
	a.printStateShare("of those that run, states where all passes", sum.AllPass)
	a.say("environments: %d for %d states", sum.Environments, sum.Installed.N)
}

func stateRow(s states.State) []string {
	environment := "-"
	if s.Environment != "" {
		environment = s.Environment[:min(8, len(s.Environment))] + " new"
		if s.Shared {
			environment = s.Environment[:min(8, len(s.Environment))] + " shared"
		}
	}
	return []string{
		short(s.Commit, 11), cmp.Or(s.Tool, "-"), environment, cmp.Or(string(s.BuildSource), "-"), cmp.Or(string(s.BuildTests), "-"),
		strconv.Itoa(s.Tests), strconv.Itoa(s.Passed), strconv.Itoa(s.Failed), s.Wall.Round(100 * time.Millisecond).String(), string(s.End), short(why(s), 90),
	}
}

// why is what a state's line ends with: the reason, or the rung of the ladder that was needed.
func why(s states.State) string {
	if s.End == states.Ran && len(s.Tries) > 0 {
		return "recipe by " + s.Rung
	}
	return s.Why()
}

func (a *app) printStateShare(what string, s states.Share) {
	if s.Of == 0 {
		a.say("%s: none", what)
		return
	}
	a.say("%s: %d of %d, %.0f %% (%.0f–%.0f %%)", what, s.N, s.Of, 100*float64(s.N)/float64(s.Of), 100*s.Interval.Low, 100*s.Interval.High)
}
