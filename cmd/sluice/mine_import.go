package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sluice/pipeline/mining/imports"
	"sluice/store"
)

func newMineAdvisories(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "advisories FILE|FOLDER...",
		Short: "Mine security advisories in the OSV format",
		Long: `Mine security advisories in the OSV format: files of one record, of a list or of one record a line, zip archives, and folders of
these. Ranges of type GIT give pairs of commits; references of type FIX give fixes whose origin is unknown. An origin of "0"
is unknown, not a commit. Records that were withdrawn or speak of versions only are counted.

What an earlier run has read to its end is not read again. With --json the lines are objects of the types "problem" and,
last, "mined-advisories".`,
		Example: `  sluice mine advisories all.zip
  sluice mine advisories ~/src/advisory-database --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.mineImport(cmd.Context(), "mined-advisories", args, func(ctx context.Context, s *store.Store) (imports.Report, error) {
				return imports.Advisories(ctx, s, args)
			})
		},
	}
}

func newMineList(a *app) *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:   "list FILE...",
		Short: "Take over lists of pairs, and rows of the SWE-bench family",
		Long: `Take over lists that exist already: pairs of a fix and the change that introduced its defect, and finished instances.

Pairs: CSV with a header (comma, semicolon or tab) or JSON (a list, or one object a line) with the repository, the fix and
the introducing commit, under any of the usual names: repo, repo_name, repository; fix, fix_sha, fix_commit_hash; intro,
intro_sha, bug_commit_hash, inducing_commit_hash, and others. A commit is an id of 7 digits or more, the address of a commit,
or #12 for a request. Several introducing commits make several pairs.

Instances: rows of SWE-bench and the sets that took over its form, SWE-rebench, Multi-SWE-bench, SWE-bench-Live, SWE-bench Pro,
SWE-smith, swe-factory and SWE-EVO, told by their fields and kept as they are given.

A bad row is counted and named, and the rest goes on. What an earlier run has read to its end is not read again. With --json
the lines are objects of the types "problem" and, last, "mined-list".`,
		Example: `  sluice mine list pairs.csv --repo owner/name
  sluice mine list bugfix_commits_all.json swe-bench.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if repo != "" && !repoName.MatchString(repo) {
				return fail(exitUsage, fmt.Errorf("--repo %q: write owner/name, of letters, digits and _ . + -", repo), "")
			}
			return a.mineImport(cmd.Context(), "mined-list", args, func(ctx context.Context, s *store.Store) (imports.Report, error) {
				return imports.Lists(ctx, s, repo, args)
			})
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "owner/name of rows that name no repository")
	return cmd
}

// importer mines files.
type importer func(context.Context, *store.Store) (imports.Report, error)

// mineImport runs a miner of files and prints its report.
func (a *app) mineImport(ctx context.Context, kind string, files []string, run importer) error {
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return fail(exitInput, fmt.Errorf("reading %s: %w", name, err), "name files that are there and that you may read")
		}
		if !info.Mode().IsRegular() && !info.IsDir() {
			return fail(exitInput, fmt.Errorf("reading %s: it is neither a file nor a folder", name), "name files or folders")
		}
	}
	s, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	rep, err := run(ctx, s)
	if err == nil {
		a.printImport(kind, rep)
	}
	return errors.Join(err, s.Close())
}

// shownProblems is how many bad records people are shown by name.
const shownProblems = 10

func (a *app) printImport(kind string, rep imports.Report) {
	if a.opts.json {
		for _, p := range rep.Named {
			a.emit(struct {
				Type string `json:"type"`
				imports.Problem
			}{"problem", p})
		}
		a.emit(struct {
			Type string `json:"type"`
			imports.Report
		}{kind, rep})
		return
	}
	for i, p := range rep.Named {
		if i == shownProblems {
			a.say("… %d more: see --json", len(rep.Named)-shownProblems)
			break
		}
		a.say("%s", oneLine(fmt.Sprintf("%s:%d: %s %s", p.Where, p.Line, p.Reason, p.Value)))
	}
	a.countTable("METHOD", "LEADS", rep.Leads)
	a.countTable("NOT USED", "COUNT", rep.Problems)
	a.say("%d records of %d files; %d new leads; %d inputs read before", rep.Records, rep.Files, rep.Added, rep.Unchanged)
}
