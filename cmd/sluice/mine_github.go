package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/pipeline/mining"
	"sluice/store"
)

// mineGitHubFlags are the flags of sluice mine github.
type mineGitHubFlags struct {
	since, baseURL, tokenFile, cache, record, replay string
	only                                             []string
	verify                                           bool
}

func newMineGitHub(a *app) *cobra.Command {
	var f mineGitHubFlags
	cmd := &cobra.Command{
		Use:   "github OWNER/NAME...",
		Short: "Read pull requests, issues and releases through GitHub's API",
		Long: `Read pull requests, issues and releases through GitHub's API, and keep as leads what their texts and events claim: which issue
a change closes, which earlier change introduced a defect, which commit a report names as the first bad one.

A run goes on from where the last one ended: it reads what was updated since, and what could not be read then. Answers are kept
in a cache, so that what has not changed costs no quota.

Tokens come from --token-file (one a line), or from SLUICE_GITHUB_TOKENS (several, separated by commas), GITHUB_TOKEN or GH_TOKEN;
the first that is set counts. Several are used in turn, by the quota that each has left. Without one the API allows 60 requests an hour.

With --json the lines are objects of the type "mined-github", one a repository, and last one of the type "requests".

Exit code 3: no such repository. 5: something could not be read; it is named, and the next run tries it again. 6: the API cannot be
reached, or accepts no token.`,
		Example: `  sluice mine github owner/name --since 2023-01-01
  sluice mine github owner/name --only issues --json
  sluice mine github owner/name --base-url https://github.example/api/v3/ --token-file tokens
  sluice mine github owner/name --verify`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.verify {
				return a.verifyGitHub(cmd.Context(), args)
			}
			return a.mineGitHub(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only what was updated from this moment on: 2021-03-10, 2021-03-10T06:00 (UTC)")
	flags.StringVar(&f.baseURL, "base-url", "", "address of the API; GitHub Enterprise has https://HOST/api/v3/ (default https://api.github.com/)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with one token a line")
	flags.StringVar(&f.cache, "cache", "", "folder of the cache (default: github-cache in the store)")
	flags.StringVar(&f.record, "record", "", "keep every answer in this folder, which must be new or empty; the cache is not used")
	flags.StringVar(&f.replay, "replay", "", "take the answers from such a folder; the network is not used")
	flags.StringSliceVar(&f.only, "only", nil, "only these parts: "+strings.Join(mining.GitHubParts(), ", "))
	flags.BoolVar(&f.verify, "verify", false, "read nothing: derive the leads that are there again from their evidence")
	return cmd
}

// options checks the flags.
func (f mineGitHubFlags) options(names []string) (o mining.GitHubOptions, err error) {
	for _, name := range names {
		if err := mining.CheckGitHubName(name); err != nil {
			return o, fail(exitUsage, err, "name repositories as on GitHub: owner/name")
		}
	}
	for _, part := range f.only {
		if !slices.Contains(mining.GitHubParts(), part) {
			return o, fail(exitUsage, fmt.Errorf("--only: no part is called %q", part), "choose of "+strings.Join(mining.GitHubParts(), ", "))
		}
	}
	if f.record != "" && f.replay != "" {
		return o, fail(exitUsage, errors.New("--record and --replay exclude each other"), "give one of them")
	}
	o.Only = f.only
	if o.Since, err = parseMoment("--since", f.since); err != nil {
		return o, fail(exitUsage, err, "")
	}
	return o, nil
}

func (a *app) mineGitHub(ctx context.Context, names []string, f mineGitHubFlags) error {
	o, err := f.options(names)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	m := &githubMiner{app: a, opts: o, since: a.clock()}
	err = m.connect(f)
	if err == nil {
		err = m.run(ctx, s, names)
	}
	return errors.Join(err, s.Close())
}

// githubMiner mines one repository after the other.
type githubMiner struct {
	app   *app
	opts  mining.GitHubOptions
	repo  string
	since time.Time // the last line of progress
}

func (m *githubMiner) connect(f mineGitHubFlags) (err error) {
	o := mining.GitHubAccess{
		BaseURL: f.baseURL, Clock: m.app.clock, Sleep: sleep, Cache: f.cache, Record: f.record, Replay: f.replay, Waiting: m.waiting,
	}
	if f.replay == "" {
		if o.Tokens, err = mining.GitHubTokens(f.tokenFile, m.app.getenv); err != nil {
			return fail(exitInput, err, "give a file with one token a line")
		}
	}
	if o.Cache == "" {
		o.Cache = filepath.Join(m.app.opts.store, "github-cache")
	}
	m.opts.Client, err = mining.NewGitHubClient(o)
	m.opts.Progress = m.progress
	var failed failure
	switch err = unwritable(err, "--cache or --record"); {
	case err == nil || errors.As(err, &failed):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitInput, err, "name the folder of a recording")
	}
	return fail(exitUsage, err, "see --base-url, --record, --replay and the tokens")
}

// sleep waits, or ends with the context.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run mines all repositories. One that is unknown or incomplete does not keep the others from being mined.
func (m *githubMiner) run(ctx context.Context, s *store.Store, names []string) error {
	var unknown, incomplete error
	failures := 0
	defer m.total()
	for _, name := range names {
		m.repo = name
		sum, err := mining.GitHub(ctx, s, name, m.opts)
		if sum.ID != 0 {
			m.app.printMined(sum)
		}
		failures += len(sum.Failures)
		switch {
		case errors.Is(err, mining.ErrGitHubUnknown):
			unknown = errors.Join(unknown, err)
		case err != nil && mining.IsGitHubAnswer(err):
			incomplete = errors.Join(incomplete, fmt.Errorf("mining %s: %w", name, err))
		case err != nil:
			return fmt.Errorf("mining %s: %w", name, err)
		}
	}
	if unknown != nil {
		return unknown
	}
	if incomplete != nil {
		return fail(exitIncomplete, incomplete, "run the same command again later: it goes on from there")
	}
	if failures > 0 {
		return fail(exitIncomplete, fmt.Errorf("mining: %d items could not be read", failures), "run the same command again to try them")
	}
	return nil
}

const progressEvery = 10 * time.Second

func (m *githubMiner) progress(done int, upTo time.Time) {
	now := m.app.clock()
	if now.Sub(m.since) < progressEvery {
		return
	}
	m.since = now
	n := m.opts.Client.Counts()
	if m.app.opts.json {
		emitJSON(m.app.stderr, struct {
			Type     string    `json:"type"`
			Repo     string    `json:"repo"`
			Items    int       `json:"items"`
			UpTo     time.Time `json:"up_to"`
			Requests int64     `json:"requests"`
		}{"progress", m.repo, done, upTo, n.Requests})
		return
	}
	fmt.Fprintf(m.app.stderr, "%s: %d items, up to %s, %d requests\n", m.repo, done, upTo.Format(time.DateOnly), n.Requests)
}

// waiting tells of waits that somebody may notice.
func (m *githubMiner) waiting(reason string, d time.Duration) {
	if d < progressEvery {
		m.app.log.Info("waiting", "repo", m.repo, "reason", reason, "for", d)
		return
	}
	if m.app.opts.json {
		emitJSON(m.app.stderr, struct {
			Type    string  `json:"type"`
			Repo    string  `json:"repo"`
			Reason  string  `json:"reason"`
			Seconds float64 `json:"seconds"`
		}{"waiting", m.repo, reason, d.Seconds()})
		return
	}
	fmt.Fprintf(m.app.stderr, "%s: waiting %s %s\n", m.repo, d.Round(time.Second), reason)
}

// total prints what the run cost.
func (m *githubMiner) total() {
	n := m.opts.Client.Counts()
	if m.app.opts.json {
		m.app.emit(struct {
			Type      string  `json:"type"`
			Requests  int64   `json:"requests"`
			FromCache int64   `json:"from_cache"`
			Retries   int64   `json:"retries"`
			Waits     int64   `json:"waits"`
			Seconds   float64 `json:"waited_seconds"`
		}{"requests", n.Requests, n.FromCache, n.Retries, n.Waits, n.Waited.Seconds()})
		return
	}
	m.app.say("%d requests, %d of them answered from the cache, %d sent again, %d waits of %s", n.Requests, n.FromCache, n.Retries, n.Waits,
		n.Waited.Round(time.Second))
}

// printMined prints what became of one repository.
func (a *app) printMined(sum mining.GitHubSummary) {
	if a.opts.json {
		a.emit(struct {
			Type string `json:"type"`
			mining.GitHubSummary
		}{"mined-github", sum})
		return
	}
	renamed := ""
	if sum.Renamed != "" {
		renamed = ", which was " + sum.Renamed
	}
	a.countTable("METHOD", "LEADS", sum.Leads)
	a.say("%s (id %d%s): %d pull requests, %d issues, %d releases, %d tags; %d new leads", sum.Repo, sum.ID, renamed, sum.Pulls, sum.Issues,
		sum.Releases, sum.Tags, sum.Added)
	if sum.Gone > 0 {
		a.say("  gone since they failed: %d", sum.Gone)
	}
	for _, f := range sum.Failures {
		a.say("  failed: %s: %s", f.Item, oneLine(f.Reason))
	}
}

// verifyGitHub derives stored leads again.
func (a *app) verifyGitHub(ctx context.Context, names []string) error {
	return a.withStore(ctx, func(s *store.Store) error {
		all := 0
		var wrong []error
		for _, name := range names {
			n, bad, err := mining.VerifyGitHub(ctx, s, strings.ToLower(name))
			if err != nil {
				return err
			}
			all, wrong = all+n, append(wrong, bad...)
		}
		if a.opts.json {
			a.emit(struct {
				Type    string `json:"type"`
				Checked int    `json:"checked"`
				Wrong   int    `json:"wrong"`
			}{"verified", all, len(wrong)})
		} else {
			a.say("%d leads follow from their evidence, %d do not", all-len(wrong), len(wrong))
		}
		switch {
		case len(wrong) > 0:
			return fail(exitStore, errors.Join(wrong...), "run sluice store check; a newer sluice may also derive something else than an older one")
		case all == 0:
			return fail(exitNothing, errors.New("verifying: no lead of these repositories came from GitHub"), "run sluice mine github first")
		}
		return nil
	})
}
