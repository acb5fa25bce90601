// Package localgit mines what a repository's own history says without any network: claims in commit messages, tickets, and
// change logs.
//
// It resolves what is named to commits and keeps what it cannot resolve by reason and by name. Whether a claim is true is not for
// it to say, and it never writes to the repository.
package localgit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sluice/miners/gitrepo"
	"sluice/pipeline/history"
	"sluice/pipeline/mining"
	"sluice/store"
)

// minerVersion is part of the mark that says what has been mined: raise it when a run can find other leads.
const minerVersion = 2

// Config is what a run needs.
type Config struct {
	Store  *store.Store
	Dir    string // of the store: mirrors are below it
	Source string // path or URL of the repository
	Name   string // "owner/name" in the leads; "": from the source
	Branch string // "": the default one
	Since  time.Time
	Until  time.Time // of fixes, by the commit's date; zero is open
}

// Report is what a run found and what it could not use.
type Report struct {
	Repo      string         `json:"repo"`
	Source    string         `json:"source"`
	Tip       string         `json:"tip"`
	Unchanged bool           `json:"unchanged"` // nothing is new since the last run: the figures are that run's
	Rewritten bool           `json:"rewritten"` // the last run's tip is not in the history any more
	Added     int            `json:"added"`     // leads that are new
	Leads     map[string]int `json:"leads"`     // found in this run, by kind and method
	Counts    map[string]int `json:"counts"`    // of what was met: commits, claims, tickets, entries, …
	Resolved  map[string]int `json:"resolved"`  // pairs, by what the introducing change was found by
	Problems  map[string]int `json:"problems"`  // by reason
	Requests  Share          `json:"requests"`
	// Unreachable counts leads of the repository, of any run and source, that name a commit which no reference reaches.
	Unreachable int       `json:"unreachable"`
	Named       []Problem `json:"-"`
}

// Share says how many commits that are no merges are known to come from a pull or merge request, or a review.
type Share struct {
	Commits int            `json:"commits"`
	Mapped  int            `json:"mapped"`
	Ways    map[string]int `json:"ways"` // the first way of each commit, see gitrepo.OriginWays
}

// Run mines a repository. It is resumable: a second run on the same references adds nothing and ends at once.
func Run(ctx context.Context, c Config) (Report, error) {
	m, err := gitrepo.Open(ctx, c.Source, filepath.Join(c.Dir, "mirrors"), gitrepo.Options{Branch: c.Branch})
	if err != nil {
		return Report{}, err
	}
	if m.Shallow() { // what is behind the border would be counted as in no reference
		err := fmt.Errorf("mining %s: %w: its history is cut off", m.Source(), gitrepo.ErrMissingObject)
		return Report{}, errors.Join(err, m.Close())
	}
	rep, err := c.run(ctx, m)
	return rep, errors.Join(err, m.Close())
}

func (c Config) run(ctx context.Context, m *gitrepo.Mirror) (Report, error) {
	if c.Name == "" {
		c.Name = m.Name()
	}
	if err := history.ClaimName(ctx, c.Store, c.Name, m); err != nil {
		return Report{}, err
	}
	last, key, err := c.last(ctx, m)
	if err != nil || last.Unchanged {
		return last, err
	}
	past, tip, err := read(ctx, m, c.Name, c.Branch)
	if err != nil {
		return Report{}, fmt.Errorf("mining %s: %w", c.Name, err)
	}
	rep := Report{Repo: c.Name, Source: m.Source(), Tip: tip, Rewritten: last.Tip != "" && !past.dag.IsAncestor(last.Tip, tip)}
	mined, err := c.mine(ctx, m, past, tip)
	if err != nil {
		return Report{}, fmt.Errorf("mining %s: %w", c.Name, err)
	}
	if rep.Added, err = mining.Keep(ctx, c.Store, mined.evidence.Bytes(), mined.found); err != nil {
		return Report{}, err
	}
	if rep.Unreachable, err = markUnreachable(ctx, c.Store, c.Name, past.dag); err != nil {
		return Report{}, err
	}
	mined.fill(&rep)
	data, err := json.Marshal(rep)
	if err != nil {
		return rep, fmt.Errorf("encoding the report of %s: %w", c.Name, err)
	}
	return rep, c.Store.PutMark(ctx, c.mark(), key+"\n"+string(data))
}

func (c Config) mark() string { return "history:" + c.Name + ":" + c.Branch }

// last is the report of the last run, marked as unchanged when it saw what this run would see.
func (c Config) last(ctx context.Context, m *gitrepo.Mirror) (rep Report, key string, err error) {
	refs, err := m.RefsDigest(ctx)
	if err != nil {
		return rep, "", err
	}
	_, tip, err := m.Head(ctx, c.Branch)
	if err != nil {
		return rep, "", err
	}
	key = fmt.Sprintf("v%d %s %s %s %s", minerVersion, refs, tip, day(c.Since), day(c.Until))
	old, ok, err := c.Store.Mark(ctx, c.mark())
	if err != nil || !ok {
		return rep, key, err
	}
	before, data, _ := strings.Cut(old, "\n")
	if json.Unmarshal([]byte(data), &rep) != nil {
		return Report{}, key, nil // another version's: as if nothing was known
	}
	rep.Unchanged = before == key
	if rep.Unchanged {
		rep.Added = 0
	}
	return rep, key, nil
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func (c Config) mine(ctx context.Context, m *gitrepo.Mirror, p *past, tip string) (*miner, error) {
	mined := &miner{
		past: p, name: c.Name, window: gitrepo.Window{Since: c.Since, Until: c.Until},
		pairs: map[string]int{}, counts: map[string]int{}, resolved: map[string]int{},
	}
	p.notText(&mined.problems)
	if err := mined.messages(ctx); err != nil {
		return nil, err
	}
	if err := mined.sharedTickets(); err != nil {
		return nil, err
	}
	if err := mined.changelogs(ctx, m, tip); err != nil {
		return nil, err
	}
	return mined, mined.sizes(ctx, m)
}

// sizes looks at how many files each fix touches, and names those that touch very many.
func (m *miner) sizes(ctx context.Context, mirror *gitrepo.Mirror) error {
	var fixes []gitrepo.Change
	asked := map[string]bool{}
	for _, f := range m.found {
		p, ok := f.Data.(mining.Pair)
		if i, known := m.at[p.Fix.SHA]; ok && known && !asked[p.Fix.SHA] {
			asked[p.Fix.SHA] = true
			c := gitrepo.Change{Head: p.Fix.SHA}
			if len(m.commits[i].Parents) > 0 {
				c.Base = m.commits[i].Parents[0]
			}
			fixes = append(fixes, c)
		}
	}
	counts, err := mirror.CountFiles(ctx, fixes)
	if err != nil {
		return err
	}
	for i, f := range m.found {
		if p, ok := f.Data.(mining.Pair); ok {
			p.Files = counts[p.Fix.SHA]
			m.found[i].Data = p
		}
	}
	for _, c := range fixes {
		if n := counts[c.Head]; n >= largeFix {
			m.problems.add(Large, c.Head, fmt.Sprintf("%d files", n))
		}
	}
	return nil
}

func (m *miner) fill(rep *Report) {
	rep.Leads = map[string]int{}
	for _, f := range m.found {
		rep.Leads[f.Kind+" "+f.Method]++
	}
	rep.Counts, rep.Resolved, rep.Problems, rep.Named = m.counts, m.resolved, m.problems.counts, m.problems.sorted()
	rep.Requests.Ways = map[string]int{}
	for _, c := range m.commits {
		if len(c.Parents) > 1 {
			continue
		}
		rep.Requests.Commits++
		if ways := m.origins.ByCommit[c.ID]; len(ways) > 0 {
			rep.Requests.Mapped++
			rep.Requests.Ways[ways[0].By]++
		}
	}
}
