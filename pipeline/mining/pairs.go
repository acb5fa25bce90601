package mining

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/store"
)

// Known is a pair of which both sides are changes of one history: what a family makes candidates of.
type Known struct {
	Intro, Fix gitrepo.Change
	Said       []Said // all leads that say so, the most trusted first
}

// Said is one lead for a pair.
type Said struct {
	Lead string // its id
	Pair
	Source, Method string
}

// Why a pair lead has no two changes.
const (
	Gone      = "unreachable"  // no reference reaches a side
	NoSide    = "side-unknown" // the lead does not tell one, or only a release
	NoChange  = "no-change"    // a side landed on another branch, or never
	SameSide  = "same-change"  // both sides landed together
	Backwards = "intro-after-fix"
)

// Pairs takes the pair leads of a repository, of every source, to the changes of its branch. The result is in the order of the
// fixes, then of the introducing changes; skipped counts the other leads by reason.
func Pairs(ctx context.Context, s *store.Store, repo string, idx *gitrepo.Index) (known []Known, skipped map[string]int, err error) {
	leads, err := s.Leads(ctx, store.LeadFilter{Kind: store.PairLead, Repo: strings.ToLower(repo)})
	if err != nil {
		return nil, nil, err
	}
	gone, err := Unreachable(ctx, s, repo)
	if err != nil {
		return nil, nil, err
	}
	skipped = map[string]int{}
	at := map[[2]string]int{}
	for _, l := range leads {
		said := Said{Lead: l.ID, Source: l.Source, Method: l.Method}
		if err := json.Unmarshal(l.Data, &said.Pair); err != nil {
			return nil, nil, fmt.Errorf("decoding lead %s: %w", l.ID, err)
		}
		intro, fix, reason := sides(idx, said.Pair)
		if gone[l.ID] != nil {
			reason = Gone
		}
		if reason != "" {
			skipped[reason]++
			continue
		}
		key := [2]string{intro.Head, fix.Head}
		if _, ok := at[key]; !ok {
			at[key] = len(known)
			known = append(known, Known{Intro: intro, Fix: fix})
		}
		known[at[key]].Said = append(known[at[key]].Said, said)
	}
	for _, k := range known {
		slices.SortFunc(k.Said, func(a, b Said) int { return cmp.Or(cmp.Compare(trust(a), trust(b)), cmp.Compare(a.Lead, b.Lead)) })
	}
	slices.SortFunc(known, func(a, b Known) int {
		return cmp.Or(cmp.Compare(a.Fix.Position, b.Fix.Position), cmp.Compare(a.Intro.Position, b.Intro.Position))
	})
	return known, skipped, nil
}

// sides finds the two changes, or why there are none.
func sides(idx *gitrepo.Index, p Pair) (intro, fix gitrepo.Change, reason string) {
	for _, r := range []Ref{p.Intro, p.Fix} {
		if r.SHA == "" && r.Number == 0 {
			return intro, fix, NoSide
		}
	}
	intro, okIntro := side(idx, p.Intro)
	fix, okFix := side(idx, p.Fix)
	switch {
	case !okIntro || !okFix:
		return intro, fix, NoChange
	case intro.Head == fix.Head:
		return intro, fix, SameSide
	case intro.Position > fix.Position:
		return intro, fix, Backwards
	}
	return intro, fix, ""
}

// side finds the change of a reference; a commit goes before a number, which may be another host's.
func side(idx *gitrepo.Index, r Ref) (gitrepo.Change, bool) {
	if r.SHA == "" {
		return idx.ByNumber(r.Number)
	}
	c, err := idx.Resolve(r.SHA)
	return c, err == nil
}

// trust ranks what is said: who looked closely goes first.
func trust(s Said) int {
	rank := slices.Index(trusted, s.Method)
	if rank < 0 {
		rank = len(trusted)
	}
	if s.Confidence == Weak {
		rank += 10
	}
	return rank
}
