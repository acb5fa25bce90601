package szz

import (
	"cmp"
	"slices"
	"strings"

	"sluice/miners/gitrepo"
)

// tally counts the lines by the change that landed them. Dropped lines and the fix itself do not count.
func tally(lines []Line, idx *gitrepo.Index, fix gitrepo.Change) []Vote {
	byChange := map[string]*Vote{}
	for _, l := range lines {
		if l.Dropped != "" || l.Change == fix.Head {
			continue
		}
		v := byChange[l.Change]
		if v == nil {
			c, _ := idx.ByCommit(l.Change)
			v = &Vote{Change: l.Change, Number: c.Number, Position: c.Position}
			byChange[l.Change] = v
		}
		v.Lines++
		v.Commits = insert(v.Commits, l.Commit)
		v.Files = insert(v.Files, l.File)
	}
	votes := make([]Vote, 0, len(byChange))
	for _, v := range byChange {
		votes = append(votes, *v)
	}
	return votes
}

// insert adds s to a sorted list unless it is there.
func insert(list []string, s string) []string {
	i, found := slices.BinarySearch(list, s)
	if found {
		return list
	}
	return slices.Insert(list, i, s)
}

// rank puts the change with the most lines first; of equals the newer one, then the one with the lower id.
func rank(votes []Vote) []Vote {
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(b.Position, a.Position), strings.Compare(a.Change, b.Change))
	})
	return votes
}
