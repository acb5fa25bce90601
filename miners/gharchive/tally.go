package gharchive

import (
	"cmp"
	"maps"
	"slices"
)

// Tally counts names in bounded memory, by the method of Misra and Gries (1982): it holds at most Limit names, and every name that was
// met often enough is among them. A count is too low by at most Lost.
type Tally struct {
	Limit  int
	Lost   int
	counts map[string]*int
}

// Named is a count of a name.
type Named struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Add counts a name n times.
func (t *Tally) Add(name string, n int) { t.add([]byte(name), n) }

// add keeps no name that is known already, so that it makes no garbage.
func (t *Tally) add(name []byte, n int) {
	if k := t.counts[string(name)]; k != nil {
		*k += n
		return
	}
	if t.counts == nil {
		t.counts = map[string]*int{}
	}
	if len(t.counts) >= t.Limit {
		n = t.makeRoom(n)
	}
	if n > 0 {
		t.counts[string(name)] = &n
	}
}

// makeRoom takes as much off every name, the new one with n too, as the least of them has, and returns what is left of n.
func (t *Tally) makeRoom(n int) int {
	least := n
	for _, k := range t.counts {
		least = min(least, *k)
	}
	for name, k := range t.counts {
		if *k -= least; *k == 0 {
			delete(t.counts, name)
		}
	}
	t.Lost += least
	return n - least
}

// N is the count of a name.
func (t *Tally) N(name string) int {
	if k := t.counts[name]; k != nil {
		return *k
	}
	return 0
}

// Top are the most names with the highest counts, the highest first.
func (t *Tally) Top(most int) []Named {
	all := make([]Named, 0, len(t.counts))
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		all = append(all, Named{name, *t.counts[name]})
	}
	slices.SortStableFunc(all, func(a, b Named) int { return cmp.Compare(b.N, a.N) })
	return all[:min(most, len(all))]
}
