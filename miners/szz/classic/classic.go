// Package classic holds the variants of SZZ that the literature describes, as strategies that share one line tracer and what is
// known of commits: B (Śliwerski, Zimmermann and Zeller 2005), AG (Kim et al. 2006), MA (da Costa et al. 2017), L and R (Davies
// et al. 2014) and RA (Neto et al. 2018), in the meaning that the implementation of Rosa et al. (ICSE 2021) gives them.
//
// All of them follow lines that a fix deletes, against its first parent. A fix that deletes none has no answer, only a reason;
// a file that is passed over is named. The variants never look at messages, names of files or later history, and give no
// confidence: none is known. Where that implementation departs from the meaning, the meaning counts; see Variants.
package classic

import (
	"context"
	"slices"
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
	"sluice/miners/szz/refactor"
)

// Version is part of every answer's strategy. It changes whenever an answer may.
const Version = "1"

// Reasons besides those of package szz.
const (
	RefactoringOnly szz.Reason = "refactoring-only" // RA: the fix only refactors what it deletes
	TooLate         szz.Reason = "after-issue"      // every candidate was committed after the defect was reported
)

// Options says how far the variants go. The zero value is usable.
type Options struct {
	// IssueDates tells when the defect of a fix was reported, by commit. Candidates that were committed at that time or later are
	// left out. The date of the commit counts, in UTC: a rebase leaves that of authorship behind.
	IssueDates map[string]time.Time
	// Budget is how often one fix may blame a file; 0 means 500. What is left is passed over with the reason budget_exhausted.
	Budget int
	// MaxFiles is how many files a commit may touch before AG and what builds on it look through it; 0 means 20.
	MaxFiles int
}

// rules are what makes a variant.
type rules struct {
	name, about string
	blame       gitrepo.BlameOptions
	code        bool // comments and blank lines do not count
	big         bool // commits that touch very many files are looked through
	meta        bool // so are merges, and commits that rename the file or change its mode
	refactored  bool // so are lines that a commit only refactors
	pick        func(*Variants, context.Context, []vote) ([]szz.Suspect, error)
}

var (
	plain = gitrepo.BlameOptions{}
	space = gitrepo.BlameOptions{IgnoreSpace: true, Unmarked: true}
	moved = gitrepo.BlameOptions{IgnoreSpace: true, Unmarked: true, Moves: true, Copies: 1}
)

// table lists the variants in the order in which they build on each other.
var table = []rules{
	{name: "b", blame: plain, pick: all,
		about: "every commit that wrote a line which the fix deletes, in any file, comments and blank lines too"},
	{name: "ag", blame: space, code: true, big: true, pick: all,
		about: "B without comments and blank lines; changes of white space and commits of more than 20 files are looked through"},
	{name: "ma", blame: moved, code: true, big: true, meta: true, pick: all,
		about: "AG that follows moved and copied lines and looks through merges and commits that rename the file or change its mode"},
	{name: "l", blame: moved, code: true, big: true, meta: true, pick: largest,
		about: "of MA's commits the one that changed most lines"},
	{name: "r", blame: moved, code: true, big: true, meta: true, pick: latest,
		about: "of MA's commits the latest"},
	{name: "ra", blame: moved, code: true, big: true, meta: true, refactored: true, pick: all,
		about: "MA that looks through refactored lines, and does not count those that the fix itself only refactors"},
}

// Names lists the variants.
func Names() []string {
	var out []string
	for _, r := range table {
		out = append(out, r.name)
	}
	return out
}

// About says in one sentence what a variant does; "" for an unknown one.
func About(name string) string {
	if i := slices.IndexFunc(table, func(r rules) bool { return r.name == name }); i >= 0 {
		return table[i].about
	}
	return ""
}

// Variants makes strategies over one repository that share their work. It may be used by many goroutines.
//
// What differs from the implementation of Rosa et al., where that contradicts what it is meant to do: lines are told apart by
// commit, file and number; comments are those of the language's parser, at the state before the fix; a line that cannot
// be followed through a merge or a rename names nobody; a fix that is a merge is read against its first parent; a
// file that cannot be followed is named instead of dropped in silence.
type Variants struct {
	m          *gitrepo.Mirror
	o          Options
	tracer     Tracer
	commits    *cache[string, gitrepo.Commit]
	names      *filesCache
	files      *filesCache
	refactored *cache[string, map[refactor.Place]refactor.Place]
}

// Sizes of what is kept from one fix to the next, a few dozen megabytes together.
const (
	keptLines      = 200_000
	keptCommits    = 50_000
	keptFiles      = 200_000
	keptRefactored = 100_000
)

// New makes the variants of a repository.
func New(m *gitrepo.Mirror, o Options) *Variants {
	if o.Budget <= 0 {
		o.Budget = 500
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 20
	}
	return &Variants{
		m: m, o: o, tracer: NewTracer(m),
		commits: newCache[string, gitrepo.Commit](keptCommits), names: newCache[string, []gitrepo.FileChange](keptFiles),
		files:      newCache[string, []gitrepo.FileChange](keptFiles),
		refactored: newCache[string, map[refactor.Place]refactor.Place](keptRefactored),
	}
}

// Strategy is the variant of a name.
func (v *Variants) Strategy(name string) (szz.Strategy, bool) {
	i := slices.IndexFunc(table, func(r rules) bool { return r.name == name })
	if i < 0 {
		return nil, false
	}
	return strategy{v, table[i]}, true
}

// strategy is one variant.
type strategy struct {
	*Variants
	rules rules
}

func (s strategy) Name() string { return s.rules.name }

// Attribute names the commits that wrote what the fix deletes, the one with the most lines first.
func (s strategy) Attribute(ctx context.Context, fix szz.Fix) (szz.Answer, error) {
	a := szz.Answer{
		Strategy: s.rules.name + "/" + Version, Fix: fix.Commit, Suspects: []szz.Suspect{}, MergeMode: szz.FirstParent,
	}
	w := walk{strategy: s, fix: fix, budget: s.o.Budget, seen: map[place]bool{}}
	if err := w.run(ctx); err != nil {
		return a, err
	}
	votes, err := w.votes(ctx)
	if err != nil {
		return a, err
	}
	a.Skipped = w.skipped
	if len(votes) == 0 {
		a.Abstained = w.reason()
		return a, nil
	}
	a.Suspects, err = s.rules.pick(s.Variants, ctx, votes)
	return a, err
}
