package mining

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/miners/github"
	"sluice/store"
)

// githubVersion is raised when the miner finds more than it did: what an older one has read is then read again.
const githubVersion = 2

// IsGitHubAnswer tells whether an error is about what the API answered, and not about this machine: another time, it may answer better.
func IsGitHubAnswer(err error) bool {
	var s *github.StatusError
	return errors.As(err, &s) || errors.Is(err, github.ErrBadAnswer) || errors.Is(err, github.ErrMoving) ||
		errors.Is(err, github.ErrRedirect) || errors.Is(err, github.ErrAccepted)
}

// Errors of the API that callers tell apart.
var (
	ErrGitHubUnknown      = github.ErrUnknownRepo
	ErrGitHubUnauthorized = github.ErrUnauthorized
	ErrGitHubNetwork      = github.ErrNetwork
	ErrGitHubLimited      = github.ErrLimited
	ErrGitHubNotRecorded  = github.ErrNotRecorded
)

// GitHubAccess says how to reach the API; GitHubClient reaches it.
type (
	GitHubAccess = github.Options
	GitHubClient = github.Client
)

// NewGitHubClient checks the options and opens cache, recording or replay.
func NewGitHubClient(o GitHubAccess) (*GitHubClient, error) { return github.New(o) }

// GitHubTokens reads the tokens of a file, or without one those of the environment.
func GitHubTokens(file string, getenv func(string) string) ([]string, error) {
	if file != "" {
		return github.FileTokens(file)
	}
	return github.EnvTokens(getenv), nil
}

// GitHubTokenVariables are the variables that GitHubTokens looks at, the first that is set counts.
func GitHubTokenVariables() []string { return slices.Clone(github.TokenVariables) }

// CheckGitHubName tells whether a text can be the name of a repository: owner/name.
func CheckGitHubName(name string) error { return github.CheckName(name) }

// What can be mined.
const (
	GitHubPulls    = "prs"
	GitHubIssues   = "issues"
	GitHubReleases = "releases"
)

// GitHubParts are the parts of a repository that can be mined.
func GitHubParts() []string { return []string{GitHubPulls, GitHubIssues, GitHubReleases} }

// GitHubOptions are the settings of a run.
type GitHubOptions struct {
	Client *GitHubClient
	Since  time.Time // only what was updated since; zero: everything
	Only   []string  // of GitHubParts; empty: all
	// Progress is told after each item how many are done, and up to when the list is read; nil: nobody.
	Progress func(done int, upTo time.Time)
}

func (o GitHubOptions) wants(part string) bool {
	return len(o.Only) == 0 || slices.Contains(o.Only, part)
}

// GitHubFailure is an item that could not be read. It is tried again by the next run.
type GitHubFailure struct {
	Item   string `json:"item"` // "owner/name#12"
	Reason string `json:"reason"`
}

// GitHubSummary is what a run did for one repository.
type GitHubSummary struct {
	Repo     string          `json:"repo"` // as the API writes it now
	ID       int64           `json:"id"`
	Renamed  string          `json:"renamed,omitempty"` // the older name that was asked for; "" for none
	Pulls    int             `json:"prs"`
	Issues   int             `json:"issues"`
	Releases int             `json:"releases"`
	Tags     int             `json:"tags"`
	Gone     int             `json:"gone"`  // items that were to be tried again and are not there any more
	Added    int             `json:"added"` // leads that are new
	Leads    map[string]int  `json:"leads"` // found in this run, by kind and method
	Failures []GitHubFailure `json:"failures"`
}

// githubBatch is how many items share a blob of evidence. A kill loses no more than these.
const githubBatch = 20

// githubEvidence is how many bytes of evidence end a batch early.
const githubEvidence = 32 << 20

// maxInARow is how many items may fail in a row for want of an answer, before the network is held for gone.
const maxInARow = 3

// GitHub reads a repository, from where the last run ended, and keeps what its texts and events claim. An item that cannot be read is
// recorded and does not stop the run; what stops it is an error, and the next run goes on from the last batch.
func GitHub(ctx context.Context, s *store.Store, name string, o GitHubOptions) (GitHubSummary, error) {
	repo, err := o.Client.Repository(ctx, name)
	if err != nil {
		return GitHubSummary{Repo: name}, err
	}
	r := &githubRun{s: s, o: o, repo: repo, sum: GitHubSummary{Repo: repo.Name, ID: repo.ID, Renamed: repo.Renamed, Leads: map[string]int{}, Failures: []GitHubFailure{}}}
	if err := r.open(ctx); err != nil {
		return r.sum, err
	}
	err = r.items(ctx)
	if err == nil && o.wants(GitHubReleases) {
		err = r.releases(ctx)
	}
	r.finish()
	return r.sum, err
}

// githubRun is one run over one repository.
type githubRun struct {
	s     *store.Store
	o     GitHubOptions
	repo  github.Repository
	state githubState
	sum   GitHubSummary

	seen  Evidence // of the batch
	found []Found
	upTo  time.Time // everything of the list before it is in the store or in the batch
	done  int
	taken int               // items since the batch began
	row   int               // items that failed in a row without an answer
	tried map[int]time.Time // again, before the list was read
}

// items reads what failed before, and then the list.
func (r *githubRun) items(ctx context.Context) error {
	start, any := r.state.start(r.o)
	if !any {
		return nil
	}
	err := r.again(ctx)
	if err == nil {
		err = r.o.Client.Items(ctx, r.repo, start, func(it github.Item) error { return r.visit(ctx, it) })
	}
	if err == nil {
		return r.flush(ctx)
	}
	// What is read is kept, also when somebody interrupts.
	return errors.Join(err, r.flush(context.WithoutCancel(ctx)))
}

func part(it github.Item) string {
	if it.Pull {
		return GitHubPulls
	}
	return GitHubIssues
}

func (r *githubRun) visit(ctx context.Context, it github.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.o.wants(part(it)) && !r.state.has(part(it), it.Updated) && !r.tried[it.Number].Equal(it.Updated) {
		if err := r.take(ctx, it); err != nil {
			return err
		}
	}
	if it.Updated.After(r.upTo) {
		r.upTo = it.Updated
	}
	r.done++
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.upTo)
	}
	if r.taken >= githubBatch || r.seen.Len() > githubEvidence {
		return r.flush(ctx)
	}
	return nil
}

// take reads an item into the batch, or notes that it failed.
func (r *githubRun) take(ctx context.Context, it github.Item) error {
	r.taken++
	b, err := r.o.Client.Fetch(ctx, r.repo, it)
	var found []Found
	if err == nil {
		found, err = githubFound(b)
	}
	if err != nil {
		return r.fail(it.Number, err)
	}
	line, err := json.Marshal(b)
	if err != nil {
		return r.fail(it.Number, err)
	}
	r.row = 0
	delete(r.state.Failed, it.Number)
	if it.Pull {
		r.sum.Pulls++
	} else {
		r.sum.Issues++
	}
	r.add(it, line, found)
	return nil
}

func (r *githubRun) add(it github.Item, line []byte, found []Found) {
	if len(found) == 0 {
		return // nothing refers to it: the cache has it
	}
	n := r.seen.AddLine(fmt.Sprintf("%d %d", it.Number, it.Updated.UnixNano()), line)
	for _, f := range found {
		f.Line = n
		r.found = append(r.found, f)
		r.sum.Leads[f.Kind+" "+f.Method]++
	}
}

// fail notes an item, unless the error says that no other item will do better.
func (r *githubRun) fail(number int, err error) error {
	for _, end := range []error{context.Canceled, context.DeadlineExceeded, github.ErrUnauthorized, github.ErrNotRecorded, github.ErrLimited} {
		if errors.Is(err, end) {
			return err
		}
	}
	r.state.Failed[number] = err.Error()
	if errors.Is(err, github.ErrNetwork) {
		if r.row++; r.row >= maxInARow {
			return err
		}
	} else {
		r.row = 0
	}
	return nil
}

// again tries what failed in earlier runs.
func (r *githubRun) again(ctx context.Context) error {
	for _, number := range r.state.failed() {
		it, err := r.o.Client.One(ctx, r.repo, number)
		switch {
		case github.Gone(err):
			delete(r.state.Failed, number)
			r.sum.Gone++
		case err != nil:
			err = r.fail(number, err)
		case r.o.wants(part(it)):
			r.tried[number] = it.Updated
			err = r.take(ctx, it)
		}
		if err != nil && !github.Gone(err) {
			return err
		}
	}
	return nil
}

// flush stores the batch, then how far the list is read: a kill in between has the batch read again, and nothing twice in the store.
func (r *githubRun) flush(ctx context.Context) error {
	n, err := Keep(ctx, r.s, r.seen.Bytes(), r.found)
	if err != nil {
		return err
	}
	r.sum.Added += n
	r.found, r.taken = nil, 0
	r.seen.Reset()
	r.state.read(r.o, r.upTo)
	return r.save(ctx)
}

// releases keeps releases and tags as one blob, which a mark names.
func (r *githubRun) releases(ctx context.Context) error {
	b, err := r.o.Client.Releases(ctx, r.repo)
	if err != nil {
		return err
	}
	line, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encoding the releases of %s: %w", r.repo.Name, err)
	}
	digest, err := r.s.Put(ctx, append(line, '\n'))
	if err != nil {
		return err
	}
	r.sum.Releases, r.sum.Tags = len(b.Releases), len(b.Tags)
	return r.s.PutMark(ctx, r.mark("releases"), digest)
}

func (r *githubRun) finish() {
	for _, n := range r.state.failed() {
		r.sum.Failures = append(r.sum.Failures, GitHubFailure{fmt.Sprintf("%s#%d", r.repo.Name, n), r.state.Failed[n]})
	}
}
