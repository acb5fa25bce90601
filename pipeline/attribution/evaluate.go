package attribution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
)

// Missing is a row of the truth that could not be evaluated, or an introducing commit that is not there.
type Missing struct {
	Repo   string `json:"repo"`
	Fix    string `json:"fix"`
	Commit string `json:"commit,omitempty"` // the introducing commit, where that is what is missing
	What   string `json:"what"`
}

// What is missing.
const (
	NoRepository = "repository" // nothing tells where it is
	NoFix        = "fix"        // the repository lacks the fixing commit
	NoIntroducer = "introducer" // it lacks an introducing commit
	Unrelated    = "unrelated"  // the introducing commit is not in the history of the fix; the row is evaluated
	Failed       = "failed"     // git failed; the row counts as not answered
)

// outcome is an evaluated row.
type outcome struct {
	truth   Truth // with full ids
	result  Result
	idx     *gitrepo.Index
	suspect []string // commits, the likeliest first
}

// Evaluation collects the outcomes of one strategy.
type Evaluation struct {
	Variant  Variant
	Missing  []Missing // also what is only told: Unrelated, Failed
	outcomes []outcome
	wall     time.Duration
}

// Add attributes the fixes of rows of one repository and takes down how that went. Rows must be of that repository.
func (e *Evaluation) Add(ctx context.Context, k *Kit, rows []Truth, o Options) error {
	idx, err := k.Repo.Index(ctx)
	if err != nil {
		return err
	}
	strategy, err := e.Variant.New(ctx, k)
	if err != nil {
		return fmt.Errorf("preparing %s: %w", e.Variant.Name, err)
	}
	known, fixes, err := e.resolve(ctx, k.Repo.Mirror, rows)
	if err != nil {
		return err
	}
	start := o.Clock()
	results, err := Run(ctx, strategy, fixes, o)
	if err != nil {
		return err
	}
	e.wall += o.Clock().Sub(start)
	for i, r := range results {
		out := outcome{truth: known[i], result: r, idx: idx}
		for _, s := range r.Suspects {
			out.suspect = append(out.suspect, s.Commit)
		}
		if r.Err != nil {
			e.Missing = append(e.Missing, Missing{known[i].Repo, known[i].Fix, "", Failed + ": " + r.Err.Error()})
			out.result.Abstained = Failed
		}
		if err := e.relate(ctx, k.Repo.Mirror, out); err != nil {
			return err
		}
		e.outcomes = append(e.outcomes, out)
	}
	return nil
}

// Lost takes down rows whose repository is not there.
func (e *Evaluation) Lost(rows []Truth) {
	for _, t := range rows {
		e.Missing = append(e.Missing, Missing{t.Repo, t.Fix, "", NoRepository})
	}
}

// resolve finds the commits of rows. A row that lacks the fix, or all introducing commits, is left out and named.
func (e *Evaluation) resolve(ctx context.Context, m *gitrepo.Mirror, rows []Truth) (known []Truth, fixes []szz.Fix, err error) {
	for _, t := range rows {
		fix, err := m.Commit(ctx, t.Fix)
		if errors.Is(err, gitrepo.ErrMissingObject) {
			e.Missing = append(e.Missing, Missing{t.Repo, t.Fix, "", NoFix})
			continue
		} else if err != nil {
			return nil, nil, err
		}
		full := t
		full.Fix, full.Intro = fix.ID, nil
		for _, id := range t.Intro {
			c, err := m.Commit(ctx, id)
			if errors.Is(err, gitrepo.ErrMissingObject) {
				e.Missing = append(e.Missing, Missing{t.Repo, fix.ID, id, NoIntroducer})
				continue
			} else if err != nil {
				return nil, nil, err
			}
			full.Intro = append(full.Intro, c.ID)
		}
		if len(full.Intro) == 0 {
			continue
		}
		known = append(known, full)
		fixes = append(fixes, szz.Fix{Commit: fix.ID, Base: fix.FirstParent()})
	}
	return known, fixes, nil
}

// relate names the introducing commits of a row without a hit that are not in the history of the fix: nothing could find them.
func (e *Evaluation) relate(ctx context.Context, m *gitrepo.Mirror, o outcome) error {
	if hits(o.truth.Intro, o.suspect) > 0 {
		return nil
	}
	for _, id := range o.truth.Intro {
		in, err := m.IsAncestor(ctx, id, o.truth.Fix)
		if err != nil {
			return err
		}
		if !in {
			e.Missing = append(e.Missing, Missing{o.truth.Repo, o.truth.Fix, id, Unrelated})
		}
	}
	return nil
}

// hits counts the suspects that are among the true commits.
func hits(truth, suspects []string) int {
	n := 0
	for _, s := range suspects {
		if slices.Contains(truth, s) {
			n++
		}
	}
	return n
}

// Report is what an evaluation found.
type Report struct {
	Variant  string         `json:"variant"`
	Strategy string         `json:"strategy"` // with its version
	Total    Score          `json:"total"`
	Repos    []Score        `json:"repos"`   // by name
	Missing  []Missing      `json:"missing"` // by name
	NotThere map[string]int `json:"not_there"`
}

// Report counts what was taken down. The workers are for the record.
func (e *Evaluation) Report(workers int) Report {
	r := Report{Variant: e.Variant.Name, Missing: []Missing{}, Repos: []Score{}, NotThere: map[string]int{}}
	byRepo := map[string][]outcome{}
	for _, o := range e.outcomes {
		r.Strategy = cmp.Or(r.Strategy, o.result.Strategy)
		byRepo[o.truth.Repo] = append(byRepo[o.truth.Repo], o)
	}
	for repo, outcomes := range byRepo {
		s := score(outcomes)
		s.Repo = repo
		r.Repos = append(r.Repos, s)
	}
	slices.SortFunc(r.Repos, func(a, b Score) int { return strings.Compare(a.Repo, b.Repo) })
	r.Total = score(e.outcomes)
	r.Total.Time.Workers = max(workers, 1)
	r.Total.Time.WallSeconds = e.wall.Seconds()
	if e.wall > 0 {
		r.Total.Time.FixesPerSecond = float64(len(e.outcomes)) / e.wall.Seconds()
	}
	r.Missing = append(r.Missing, e.Missing...)
	slices.SortStableFunc(r.Missing, func(a, b Missing) int { return strings.Compare(a.Repo, b.Repo) })
	for _, m := range r.Missing {
		what, _, _ := strings.Cut(m.What, ":")
		r.NotThere[what]++
	}
	return r
}
