package mining

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/github/githubtest"
	"sluice/store"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func access(api string, change func(*GitHubAccess)) (*GitHubClient, error) {
	o := GitHubAccess{
		BaseURL: api, Clock: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Tries: 2, PerPage: 3,
	}
	if change != nil {
		change(&o)
	}
	return NewGitHubClient(o)
}

func clock(t *testing.T) (*githubtest.Server, *GitHubClient) {
	t.Helper()
	api := githubtest.New()
	t.Cleanup(api.Close)
	api.Clock()
	c, err := access(api.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return api, c
}

func briefLeads(t *testing.T, s *store.Store) string {
	t.Helper()
	leads, err := s.Leads(t.Context(), store.LeadFilter{Source: GitHubSource})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range leads {
		switch l.Kind {
		case store.IssuePRLead:
			d := decode[IssuePR](t, l)
			closing := "unknown"
			if d.Closing != nil {
				closing = fmt.Sprint(*d.Closing)
			}
			out = append(out, fmt.Sprintf("#%d closes #%d: %s %s %s", d.PR, d.Issue, l.Method, closing, d.Confidence))
		case store.PairLead:
			d := decode[Pair](t, l)
			out = append(out, fmt.Sprintf("#%d repairs #%d%.7s: %s in %s by %s, unknown %v", d.Fix.Number, d.Intro.Number, d.Intro.SHA, d.Cue, d.Where, d.Author, d.Unknown))
		case store.ReportLead:
			d := decode[Report](t, l)
			out = append(out, fmt.Sprintf("#%d: %.7s (%s)", d.Issue, d.FirstBad, d.Cue))
		}
		if l.Repo != "octo/clock" || l.Evidence == "" || l.Line == 0 || !bytes.Contains(l.Data, []byte(`"repo_id":7`)) {
			t.Errorf("lead %+v", l)
		}
	}
	return strings.Join(out, "\n")
}

func decode[T any](t *testing.T, l store.Lead) (v T) {
	t.Helper()
	if err := json.Unmarshal(l.Data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const clockLeads = `#11 closes #1: keyword true strong
#12 closes #1: keyword false strong
#13 closes #2: timeline true strong
#14 closes #2: cross-reference unknown weak
#14 closes #2: keyword false strong
#11 repairs #0aaaaaaa: bisected in issue 1 comment 101 by bob, unknown [order]
#11 repairs #10aaaaaaa: regression in body by ada, unknown []
#1: aaaaaaa (bisected)`

func sorted(s string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(s, "\n")), "\n")
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	api, c := clock(t)
	s := openStore(t, t.TempDir())
	sum, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c})
	want := GitHubSummary{
		Repo: "octo/clock", ID: 7, Pulls: 5, Issues: 2, Releases: 1, Tags: 1, Added: 8, Failures: []GitHubFailure{},
		Leads: map[string]int{"issue-pr cross-reference": 1, "issue-pr keyword": 3, "issue-pr timeline": 1, "pair testimony": 2, "report testimony": 1},
	}
	if diff := cmp.Diff(want, sum); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if diff := cmp.Diff(sorted(clockLeads), sorted(briefLeads(t, s))); diff != "" {
		t.Error(diff)
	}
	checked, wrong, err := VerifyGitHub(t.Context(), s, "octo/clock")
	if checked != 8 || wrong != nil || err != nil {
		t.Error(checked, wrong, err)
	}

	// A second run reads only what is as new as the newest item, and finds nothing new.
	before := api.Hits("/pulls/")
	sum, err = GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c, Only: []string{GitHubPulls, GitHubIssues}})
	if err != nil || sum.Added != 0 || sum.Pulls+sum.Issues != 2 || api.Hits("/pulls/")-before != 4 {
		t.Errorf("again: %+v, %v, %d requests for pull requests", sum, err, api.Hits("/pulls/")-before)
	}

	// Something happens.
	api.Pull("octo/clock", githubtest.Merged(15, "main", "Fix again", "Follow-up fix for #11: it crashes", 40), githubtest.Commit(githubtest.SHA('9'), "x"))
	sum, err = GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c})
	if err != nil || sum.Added != 1 {
		t.Errorf("after a change: %+v, %v", sum, err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
		t.Error(problems, err)
	}
}

// TestGitHubMergedLater: what a change that was open said is one lead, and what it says as it has landed is another.
func TestGitHubMergedLater(t *testing.T) {
	t.Parallel()
	api, c := clock(t)
	s := openStore(t, t.TempDir())
	change := githubtest.Merged(16, "main", "Fix", "Fixes #1, which #11 introduced", 50)
	maps.Copy(change, githubtest.Object{"state": "open", "merged": false, "merged_at": nil, "updated_at": githubtest.At(49)})
	for range 2 {
		api.Pull("octo/clock", change, githubtest.Commit(githubtest.SHA('0'), "x"))
		if _, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil {
			t.Fatal(err)
		}
		change = githubtest.Merged(16, "main", "Fix", "Fixes #1, which #11 introduced", 50)
	}
	leads, err := s.Leads(t.Context(), store.LeadFilter{Source: GitHubSource, Kind: store.IssuePRLead})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range leads {
		if d := decode[IssuePR](t, l); d.PR == 16 {
			got = append(got, fmt.Sprintf("%s %v %s", l.Method, d.Merged != nil && *d.Merged, d.SHA[:min(7, len(d.SHA))]))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"keyword false ", "keyword true 0000000"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGitHubOnlyAndSince(t *testing.T) {
	t.Parallel()
	_, c := clock(t)
	s := openStore(t, t.TempDir())
	for _, tt := range []struct {
		only          []string
		since         float64
		pulls, issues int
		releases      int
	}{
		{[]string{GitHubReleases}, 0, 0, 0, 1},
		{[]string{GitHubIssues}, 22, 0, 1, 0},               // #2
		{[]string{GitHubIssues}, 0, 0, 2, 0},                // earlier: read from there
		{[]string{GitHubPulls}, 21, 3, 0, 0},                // #12, #13, #14
		{[]string{GitHubPulls, GitHubIssues}, 21, 1, 1, 0},  // the newest second once more
		{[]string{GitHubPulls, GitHubIssues}, 100, 0, 0, 0}, // nothing is as new
		{[]string{GitHubPulls, GitHubIssues}, 0, 3, 1, 0},   // only what was not read yet
	} {
		o := GitHubOptions{Client: c, Only: tt.only}
		if tt.since > 0 {
			o.Since = githubtest.Day.Add(time.Duration(tt.since * float64(time.Hour)))
		}
		sum, err := GitHub(t.Context(), s, "octo/clock", o)
		if err != nil || sum.Pulls != tt.pulls || sum.Issues != tt.issues || sum.Releases != tt.releases {
			t.Errorf("%v since %v: %+v, %v", tt.only, tt.since, sum, err)
		}
	}
}

// TestGitHubFailures: what cannot be read is named, does not stop the run, and is read when it can be.
func TestGitHubFailures(t *testing.T) {
	t.Parallel()
	api, c := clock(t)
	s := openStore(t, t.TempDir())
	api.Fault("/pulls/11/commits", 1, githubtest.Status(http.StatusForbidden, "no"))
	api.Fault("/pulls/13", 2, githubtest.Cut)
	api.Fault("/issues/14/timeline", 1, githubtest.Page("application/json", `[{"event": 5}]`))
	api.Fault("/issues/2/timeline", 1, githubtest.Status(http.StatusNotFound, "Not Found"))
	sum, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c})
	want := []GitHubFailure{
		{"octo/clock#11", "GET /repos/octo/clock/pulls/11/commits?per_page=3&page=1: 403 Forbidden: no"},
		{"octo/clock#13", "the API cannot be reached: GET /repos/octo/clock/pulls/13: the answer was cut"},
	}
	if err != nil || len(sum.Failures) < 3 || !cmp.Equal(want, sum.Failures[:2]) {
		t.Fatalf("%+v, %v", sum, err)
	}
	sum, err = GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c})
	if err != nil || len(sum.Failures) > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if diff := cmp.Diff(sorted(clockLeads), sorted(briefLeads(t, s))); diff != "" {
		t.Error(diff)
	}
	// What failed and then went away is forgotten.
	api.Fault("/pulls/14", 1, githubtest.Status(http.StatusForbidden, "no"))
	api.Change("repos/octo/clock/issues", func(l []githubtest.Object) []githubtest.Object {
		for i := range l {
			if l[i]["number"] == 14 {
				l[i]["updated_at"] = githubtest.At(50)
			}
		}
		return l
	})
	if sum, err = GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil || len(sum.Failures) != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	api.Change("repos/octo/clock/issues", func(l []githubtest.Object) []githubtest.Object { return l[:1] })
	api.Fault("GET /repos/octo/clock/issues/14", 1, githubtest.Status(http.StatusGone, "deleted"))
	if sum, err = GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil || len(sum.Failures) != 0 || sum.Gone != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
}

// TestGitHubNetworkGoes: three items without an answer, and the run ends; the next one misses nothing.
func TestGitHubNetworkGoes(t *testing.T) {
	t.Parallel()
	api, c := clock(t)
	s := openStore(t, t.TempDir())
	api.Fault("/timeline", 6, githubtest.Cut)
	if _, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); !errors.Is(err, ErrGitHubNetwork) {
		t.Fatal(err)
	}
	if sum, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil || len(sum.Failures) > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if diff := cmp.Diff(sorted(clockLeads), sorted(briefLeads(t, s))); diff != "" {
		t.Error(diff)
	}
}

// TestGitHubInterrupted: what was read before the interruption is kept, and not read again.
func TestGitHubInterrupted(t *testing.T) {
	t.Parallel()
	api, c := clock(t)
	s := openStore(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	sum, err := GitHub(ctx, s, "octo/clock", GitHubOptions{Client: c, Progress: func(done int, _ time.Time) {
		if done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || sum.Pulls+sum.Issues != 3 || sum.Added == 0 || len(sum.Failures) > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	first := api.Hits("/pulls/10")
	if _, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sorted(clockLeads), sorted(briefLeads(t, s))); diff != "" || api.Hits("/pulls/10") != first {
		t.Error(api.Hits("/pulls/10"), first, diff)
	}
}

func TestGitHubRenamed(t *testing.T) {
	t.Parallel()
	api, c := clock(t)
	s := openStore(t, t.TempDir())
	api.Put("repositories/7", githubtest.Object{"id": 7, "full_name": "octo/clock", "default_branch": "main"})
	api.Fault("GET /repos/old/name", 9, githubtest.Redirect(301, api.URL+"/repositories/7"))
	sum, err := GitHub(t.Context(), s, "old/name", GitHubOptions{Client: c})
	if err != nil || sum.Renamed != "old/name" || sum.Repo != "octo/clock" || sum.ID != 7 || sum.Added != 8 {
		t.Fatalf("%+v, %v", sum, err)
	}
	state, ok, err := s.Mark(t.Context(), "github "+c.Host()+" 7 state")
	if err != nil || !ok || !strings.Contains(state, `"names":["old/name","octo/clock"]`) {
		t.Errorf("%s, %v", state, err)
	}
}

// TestGitHubVerify: a lead that carries another issue is found out.
func TestGitHubVerify(t *testing.T) {
	t.Parallel()
	_, c := clock(t)
	s := openStore(t, t.TempDir())
	if _, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil {
		t.Fatal(err)
	}
	leads, err := s.Leads(t.Context(), store.LeadFilter{Kind: store.IssuePRLead, Method: "keyword"})
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(l *store.Lead){
		func(l *store.Lead) { l.Data = bytes.Replace(l.Data, []byte(`"issue":`), []byte(`"issue":9`), 1) },
		func(l *store.Lead) { l.Line = 99 },
		func(l *store.Lead) { l.Method = "manual" },
		func(l *store.Lead) { l.Evidence = "" },
	} {
		l := leads[0]
		change(&l)
		var v verifier
		if err := v.verify(t.Context(), s, l); err == nil || i != 3 && !errors.Is(err, ErrMismatch) {
			t.Errorf("change %d: %v", i, err)
		}
	}
}

// canary is no token of anybody.
const canary = "ghp_CanaryCanaryCanaryCanaryCanary012345"

// TestGitHubToken: no part of the token is in the store, its evidence or its cache, though the server echoes it.
func TestGitHubToken(t *testing.T) {
	t.Parallel()
	api, _ := clock(t)
	dir := t.TempDir()
	c, err := access(api.URL, func(o *GitHubAccess) { o.Tokens, o.Cache = []string{canary}, filepath.Join(dir, "cache") })
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir)
	api.Fault("/pulls/11/reviews", 1, githubtest.Page("application/json", fmt.Sprintf(`[{"id":1,"body":"broken by #10, says %s"}]`, canary)))
	api.Fault("/pulls/13", 1, githubtest.Echo(418))
	sum, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c})
	if err != nil || len(sum.Failures) != 1 || !strings.Contains(sum.Failures[0].Reason, "REDACTED") {
		t.Fatalf("%+v, %v", sum, err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("ghp_Canary")) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	leads, lerr := s.Leads(t.Context(), store.LeadFilter{})
	for _, l := range leads {
		evidence, err := s.Get(t.Context(), l.Evidence)
		if err != nil || bytes.Contains(evidence, []byte("ghp_Canary")) {
			t.Errorf("the evidence of %s: %v", l.ID, err)
		}
	}
	if err != nil || lerr != nil || files < 20 || len(leads) == 0 || api.Tokens()[3] != canary {
		t.Error(err, lerr, files, len(leads))
	}
}

// TestGitHubKilled kills runs at drawn moments; the last one completes the store.
func TestGitHubKilled(t *testing.T) {
	if dir := os.Getenv("SLUICE_TEST_GITHUB_STORE"); dir != "" {
		runKilled(t, dir)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	api := githubtest.New()
	defer api.Close()
	api.Clock()
	for n := 100; n < 200; n++ {
		api.Pull("octo/clock", githubtest.Merged(n, "main", "Fix", fmt.Sprintf("Fixes #1. Regression from #%d.", n-1), float64(n)), githubtest.Commit(githubtest.SHA('9'), "x"))
	}
	dir := t.TempDir()
	killed := 0
	for i := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestGitHubKilled$")
		cmd.Env = append(os.Environ(), "SLUICE_TEST_GITHUB_STORE="+dir, "SLUICE_TEST_GITHUB_API="+api.URL)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(30+20*i) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		switch err := cmd.Wait(); {
		case err == nil:
		case cmd.ProcessState.ExitCode() < 0: // by a signal
			killed++
		default:
			t.Errorf("run %d: %v", i, err)
		}
	}
	s := openStore(t, dir)
	c, err := access(api.URL, func(o *GitHubAccess) { o.Cache = filepath.Join(dir, "cache") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil {
		t.Fatal(err)
	}
	counts, err := s.LeadCounts(t.Context(), store.LeadFilter{})
	want := "[{github issue-pr cross-reference 1} {github issue-pr keyword 103} {github issue-pr timeline 1} {github pair testimony 101} {github report testimony 1}]"
	if diff := cmp.Diff(want, fmt.Sprint(counts)); diff != "" || err != nil {
		t.Error(err, diff)
	}
	problems, err := s.Check(t.Context())
	for _, p := range problems {
		if !p.Harmless {
			t.Error(p)
		}
	}
	if err != nil || killed < 3 {
		t.Errorf("%d of 12 runs were killed; %v", killed, err)
	}
}

func runKilled(t *testing.T, dir string) {
	s := openStore(t, dir)
	c, err := access(os.Getenv("SLUICE_TEST_GITHUB_API"), func(o *GitHubAccess) {
		o.Cache = filepath.Join(dir, "cache")
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := GitHub(t.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil {
		t.Fatal(err)
	}
}

func FuzzGitHubState(f *testing.F) {
	f.Add(`{"version":1,"names":["a/b"],"read":{"prs":{"from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z"}},"failed":{"3":"x"}}`, int64(0))
	f.Add(`{}`, int64(1e9))
	f.Fuzz(func(t *testing.T, value string, since int64) {
		var st githubState
		if json.Unmarshal([]byte(value), &st) != nil {
			return
		}
		o := GitHubOptions{Since: time.Unix(since%1e10, 0)}
		start, any := st.start(o)
		if !any || start.Before(o.Since) && !st.has(GitHubPulls, start) && start.Before(o.Since.Add(-time.Second)) {
			t.Errorf("start %v for since %v", start, o.Since)
		}
	})
}

// BenchmarkGitHub mines 500 merged pull requests from a fake on this machine: what the miner itself costs, without the API's pace.
func BenchmarkGitHub(b *testing.B) {
	api := githubtest.New()
	defer api.Close()
	api.Clock()
	text := strings.Repeat("Some words about the change, as people write them. ", 40)
	for n := 100; n < 600; n++ {
		api.Pull("octo/clock", githubtest.Merged(n, "main", "Fix", fmt.Sprintf("Fixes #1. Regression from #%d. %s", n-1, text), float64(n)),
			githubtest.Commit(githubtest.SHA('9'), text))
	}
	requests := int64(0)
	for b.Loop() {
		dir := b.TempDir()
		s, err := store.OpenDir(b.Context(), dir, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		c, err := access(api.URL, func(o *GitHubAccess) { o.Cache, o.PerPage = filepath.Join(dir, "cache"), 100 })
		if err != nil {
			b.Fatal(err)
		}
		if _, err := GitHub(b.Context(), s, "octo/clock", GitHubOptions{Client: c}); err != nil {
			b.Fatal(err)
		}
		requests += c.Counts().Requests
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(requests)/b.Elapsed().Seconds(), "requests/s")
}
