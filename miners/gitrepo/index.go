package gitrepo

import (
	"fmt"
	"slices"
	"strings"
)

// Index finds changes by commit and by number.
type Index struct {
	changes  []Change
	byCommit map[string]int
	byNumber map[int]int
	ids      []string // of all commits, sorted
}

// NewIndex indexes changes, also by the commits that they brought in.
func NewIndex(changes []Change) *Index {
	x := &Index{changes: changes, byCommit: map[string]int{}, byNumber: map[int]int{}}
	for i, c := range changes {
		for _, id := range append(slices.Clone(c.Commits), c.Head) {
			x.byCommit[id] = i
		}
		if old, ok := x.byNumber[c.Number]; c.Number > 0 && (!ok || trust(c) < trust(changes[old])) {
			x.byNumber[c.Number] = i
		}
	}
	for id := range x.byCommit {
		x.ids = append(x.ids, id)
	}
	slices.Sort(x.ids)
	return x
}

// trust ranks how the number of a change is known; lower is better.
func trust(c Change) int {
	return slices.Index(OriginWays, c.NumberBy)
}

// Changes are the changes that were indexed, as given.
func (x *Index) Changes() []Change { return x.changes }

// ByCommit finds the change that a commit landed with, by full id; also a commit inside of a merge.
func (x *Index) ByCommit(id string) (Change, bool) {
	i, ok := x.byCommit[id]
	if !ok {
		return Change{}, false
	}
	return x.changes[i], true
}

// ByNumber finds the change of a pull or merge request. When several claim the number, the one whose number is known best
// counts, then the oldest.
func (x *Index) ByNumber(number int) (Change, bool) {
	i, ok := x.byNumber[number]
	if !ok {
		return Change{}, false
	}
	return x.changes[i], true
}

const leastPrefix = 4 // as git wants it

// Resolve finds the change of an abbreviated commit id. It fails when none or several commits begin so.
func (x *Index) Resolve(prefix string) (Change, error) {
	prefix = strings.ToLower(prefix)
	if len(prefix) < leastPrefix {
		return Change{}, fmt.Errorf("resolving %q: an abbreviated commit id has at least %d digits", prefix, leastPrefix)
	}
	at, _ := slices.BinarySearch(x.ids, prefix)
	if at == len(x.ids) || !strings.HasPrefix(x.ids[at], prefix) {
		return Change{}, fmt.Errorf("resolving %q: no change has such a commit", prefix)
	}
	if at+1 < len(x.ids) && strings.HasPrefix(x.ids[at+1], prefix) {
		return Change{}, fmt.Errorf("resolving %q: several commits begin so", prefix)
	}
	c, _ := x.ByCommit(x.ids[at])
	return c, nil
}
