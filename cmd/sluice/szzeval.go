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

	"sluice/pipeline/attribution"
	"sluice/pipeline/build"
)

// evalOptions are the flags of szz eval.
type evalOptions struct {
	szzOptions
	repoFolders
	truth      string
	issueDates bool
}

func newSZZEval(a *app) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval --truth FILE --repo DIR",
		Short: "Measure methods against fixes whose introducing commits are known",
		Long: `Measure methods against fixes whose introducing commits are known, and print accuracy, abstentions by reason,
calibration and time.

The truth is JSONL or a JSON array of objects {"repo", "fix_sha", "intro_sha", "how"} or {"repo_name", "fix_commit_hash",
"bug_commit_hash": [...]}. Rows of one fix count once, with all their commits. Rows whose commits or repository are not there
are named apart.

Precision, recall and F1 are counted over all rows at once, for the set of suspects and for the first one alone; top-1 and top-3 are shares
of the rows. All of it is said of commits and of the changes (pull requests) that landed them. Intervals are
Wilson's at 95 %. With --json each line is an object of type "szz-eval", one a method.`,
		Example: `  sluice szz eval --repo ../ledger --truth ledger.jsonl --variant all
  sluice szz eval --repos '/mirrors/{owner}+{name}' --truth oracle.json --variant r,ra --json
  sluice szz eval --repo ada/ledger=../ledger --repo ada/ink=../ink.git --truth both.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.szzEval(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.truth, "truth", "", "file of known pairs")
	o.repoFolders.addFlags(cmd, "where a repository is: owner/name=DIR, again for each; or DIR for a truth of one repository")
	f.BoolVar(&o.issueDates, "issue-dates", false, "leave out candidates that are not older than the issue, where the truth dates it (methods of the literature only)")
	o.szzOptions.addFlags(cmd)
	_ = cmd.MarkFlagRequired("truth")
	return cmd
}

// byRepo is the truth of one repository.
type byRepo struct {
	name, source string
	rows         []attribution.Truth
}

func (a *app) szzEval(ctx context.Context, o evalOptions) (err error) {
	variants, err := o.parse()
	if err != nil {
		return err
	}
	groups, err := o.load()
	if err != nil {
		return err
	}
	dir, done, err := a.mirrors()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	evals := make([]attribution.Evaluation, len(variants))
	for i, v := range variants {
		evals[i].Variant = v
	}
	for i, g := range groups {
		if err := a.evalRepo(ctx, g, dir, evals, o); err != nil {
			return err
		}
		a.evalDone(i+1, len(groups), g)
	}
	reports := make([]attribution.Report, len(evals))
	for i := range evals {
		reports[i] = evals[i].Report(build.Workers(o.workers))
	}
	a.printEvals(reports)
	if reports[0].Total.Commits.Rows == 0 {
		return fail(exitNothing, errors.New("no row could be evaluated"), "see what is missing in the report")
	}
	return nil
}

// load reads the truth and finds where its repositories are.
func (o evalOptions) load() ([]byRepo, error) {
	file, err := os.Open(o.truth)
	if err != nil {
		return nil, fail(exitInput, fmt.Errorf("reading the truth: %w", err), "name a file that exists with --truth")
	}
	defer file.Close()
	rows, err := attribution.ReadTruth(file)
	if err != nil {
		return nil, fail(exitInput, fmt.Errorf("reading %s: %w", o.truth, err), "")
	}
	groups := map[string]*byRepo{}
	for _, t := range rows {
		if groups[t.Repo] == nil {
			groups[t.Repo] = &byRepo{name: t.Repo}
		}
		groups[t.Repo].rows = append(groups[t.Repo].rows, t)
	}
	where, err := o.where(slices.Sorted(maps.Keys(groups)))
	if err != nil {
		return nil, fail(exitUsage, err, "give --repo owner/name=DIR for each, or a folder with {owner} and {name} with --repos")
	}
	var out []byRepo
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name].source = where[name]
		out = append(out, *groups[name])
	}
	return out, nil
}

// where finds the source of each repository: --repo names it, or --repos has a folder for it. "" where nothing does.
func (o evalOptions) where(names []string) (map[string]string, error) {
	where := map[string]string{}
	for _, r := range o.repos {
		name, dir, named := strings.Cut(r, "=")
		switch {
		case named && slices.Contains(names, name):
			where[name] = dir
		case named && !exists(r):
			return nil, fmt.Errorf("reading --repo: the truth names no repository %s", name)
		case len(names) > 1 || len(o.repos) > 1:
			return nil, fmt.Errorf("reading --repo: %s is for which of the %d repositories of the truth", r, len(names))
		default:
			where[names[0]] = r
		}
	}
	if o.template == "" && len(o.repos) == 0 {
		return nil, errors.New("nothing tells where the repositories are")
	}
	for _, name := range names {
		if where[name] == "" {
			where[name] = o.inTemplate(name)
		}
	}
	return where, nil
}

// evalRepo evaluates every method on the rows of one repository. Methods share nothing, so that their times can be compared.
func (a *app) evalRepo(ctx context.Context, g byRepo, dir string, evals []attribution.Evaluation, o evalOptions) (err error) {
	if g.source == "" {
		for i := range evals {
			evals[i].Lost(g.rows)
		}
		return nil
	}
	repo, err := attribution.Open(ctx, g.source, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	dates := map[string]time.Time{}
	for _, t := range g.rows {
		if o.issueDates && !t.Reported.IsZero() {
			dates[t.Fix] = t.Reported
		}
	}
	for i := range evals {
		options := attribution.Options{Workers: build.Workers(o.workers), Clock: a.clock}
		kit := attribution.NewKit(repo, dates)
		kit.Model = o.model
		if err := evals[i].Add(ctx, kit, g.rows, options); err != nil {
			return fmt.Errorf("evaluating %s on %s: %w", evals[i].Variant.Name, g.name, err)
		}
	}
	return nil
}

// evalDone tells on standard error that a repository is done.
func (a *app) evalDone(done, total int, g byRepo) {
	switch f, ok := a.stderr.(*os.File); {
	case a.opts.json:
		emitJSON(a.stderr, struct {
			Type  string `json:"type"`
			Done  int    `json:"done"`
			Total int    `json:"total"`
			Repo  string `json:"repo"`
			Rows  int    `json:"rows"`
		}{"progress", done, total, g.name, len(g.rows)})
	case ok && isatty.IsTerminal(f.Fd()), a.opts.verbose:
		fmt.Fprintf(a.stderr, "%d/%d %s: %d rows\n", done, total, g.name, len(g.rows))
	}
}

func (a *app) printEvals(reports []attribution.Report) {
	if a.opts.json {
		for _, r := range reports {
			a.emit(struct {
				Type string `json:"type"`
				attribution.Report
			}{"szz-eval", r})
		}
		return
	}
	rows := [][]string{strings.Fields("VARIANT REPO ROWS ANSWERED P R F1 P-1 F1-1 TOP-1 TOP-3 PR-TOP-1 MS")}
	for _, r := range reports {
		for _, s := range r.Repos {
			rows = append(rows, evalRow(r.Variant, s.Repo, s))
		}
		if len(r.Repos) != 1 {
			rows = append(rows, evalRow(r.Variant, "all", r.Total))
		}
	}
	a.table(rows)
	for _, r := range reports {
		a.printDetails(r)
	}
}

func evalRow(variant, repo string, s attribution.Score) []string {
	c := s.Commits
	return []string{
		variant, repo, strconv.Itoa(c.Rows), ratio(s.Answered.Share), ratio(c.Set.Precision.Share), ratio(c.Set.Recall.Share), ratio(c.Set.F1),
		ratio(c.Single.Precision.Share), ratio(c.Single.F1), ratio(c.Top1.Share), ratio(c.Top3.Share), ratio(s.Changes.Top1.Share),
		strconv.FormatFloat(s.Time.Mean, 'f', 1, 64),
	}
}

func ratio(share float64) string { return strconv.FormatFloat(share, 'f', 3, 64) }

// printDetails says what does not fit the table.
func (a *app) printDetails(r attribution.Report) {
	t := r.Total
	a.say("\n%s: %d right of %d rows at first, 95%% interval %.3f to %.3f; %.1f fixes a second with %d workers (median %.1f ms, 90%% below %.1f ms)",
		r.Variant, t.Commits.Top1.N, t.Commits.Top1.Of, t.Commits.Top1.Low, t.Commits.Top1.High, t.Time.FixesPerSecond, t.Time.Workers, t.Time.P50, t.Time.P90)
	for _, reason := range slices.Sorted(maps.Keys(t.Abstentions)) {
		a.say("  no answer, %s: %d", reason, t.Abstentions[reason])
	}
	for _, b := range t.Calibration {
		a.say("  the most confident %d%% (at least %.2f): %.3f right", b.Percent, b.Confidence, b.Right.Share)
	}
	for _, m := range r.Missing {
		a.say("  %s", oneLine(m.What+": "+m.Repo+" "+m.Fix+" "+m.Commit))
	}
}
