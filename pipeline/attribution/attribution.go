// Package attribution runs strategies of SZZ over many fixes of a repository at once, and measures them against fixes whose
// introducing commits are known.
//
// It knows the strategies by name, opens repositories as mirrors, and counts. It decides nothing about a candidate, follows
// no line itself, and never drops a row in silence: what cannot be evaluated is named apart.
package attribution

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
	"sluice/miners/szz/classic"
	"sluice/miners/szz/rank"
)

// ErrUnknownVariant says that no strategy has the name.
var ErrUnknownVariant = errors.New("no such variant")

// Answer is what a strategy says of a fix.
type Answer = szz.Answer

// NotThere is the reason of a fix that is no commit of the repository, or whose objects are not there.
const NotThere = szz.MissingObject

// Default is the strategy that is taken when none is named.
const Default = rank.Name

// Variant is a strategy by name.
type Variant struct {
	Name, About string
	// New makes it for a repository; what the kit shares is made once for all variants that are made with it.
	New func(ctx context.Context, k *Kit) (szz.Strategy, error)
}

// Variants lists the strategies, the literature's first.
func Variants() []Variant {
	var out []Variant
	for _, name := range classic.Names() {
		out = append(out, Variant{name, classic.About(name), func(_ context.Context, k *Kit) (szz.Strategy, error) {
			s, _ := k.classic.Strategy(name)
			return s, nil
		}})
	}
	return append(out,
		Variant{rank.Name, "sluice's own: commits ranked by lines, what they were before, surroundings, words and times, weighed by a model that was learned on other repositories", newRanked},
		Variant{"lines", "the changes that wrote the lines of source code which the fix deletes, the most lines first; changes of layout are looked through", newLines},
	)
}

// ParseVariants reads a list of names, comma separated; "all" is every one, "" is the default.
func ParseVariants(list string) ([]Variant, error) {
	known := Variants()
	if list == "all" {
		return known, nil
	}
	if list == "" {
		list = Default
	}
	var out []Variant
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(known, func(v Variant) bool { return v.Name == strings.ToLower(strings.TrimSpace(name)) })
		if i < 0 {
			return nil, fmt.Errorf("%w: %q", ErrUnknownVariant, name)
		}
		out = append(out, known[i])
	}
	return out, nil
}

// Repository is a repository whose fixes are attributed. It may be used by many goroutines.
type Repository struct {
	Mirror *gitrepo.Mirror
	mu     sync.Mutex
	index  *gitrepo.Index
}

// Open opens the repository at a path or URL as a mirror below dir.
func Open(ctx context.Context, source, dir string) (*Repository, error) {
	m, err := gitrepo.Open(ctx, source, filepath.Join(dir, "mirrors"), gitrepo.Options{})
	if err != nil {
		return nil, err
	}
	return &Repository{Mirror: m}, nil
}

// Close ends the mirror's child processes.
func (r *Repository) Close() error { return r.Mirror.Close() }

// Index finds the changes of the default branch by commit. It is made at the first call, which reads the whole history.
func (r *Repository) Index(ctx context.Context) (*gitrepo.Index, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		changes, err := r.Mirror.Changes(ctx, gitrepo.Window{})
		if err != nil {
			return nil, fmt.Errorf("indexing changes: %w", err)
		}
		r.index = gitrepo.NewIndex(changes)
	}
	return r.index, nil
}

// Kit is what the strategies of one repository share.
type Kit struct {
	Repo       *Repository
	IssueDates map[string]time.Time // when the defect of a fix was reported, by commit; variants of the literature heed it
	Model      *Model               // of our own strategy; nil: the one that is shipped
	classic    *classic.Variants
}

// NewKit makes a kit with nothing known yet.
func NewKit(r *Repository, issueDates map[string]time.Time) *Kit {
	return &Kit{Repo: r, IssueDates: issueDates, classic: classic.New(r.Mirror, classic.Options{IssueDates: issueDates})}
}
