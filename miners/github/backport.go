package github

import (
	"cmp"
	"slices"
	"time"
)

// Landed is a merged change with the identity of its patch.
type Landed struct {
	Issue     int    // that it closes; 0 for none
	PatchID   string // git patch-id --stable of its source patch, which the caller computes; "" unknown
	Number    int
	OnDefault bool // it went to the default branch
	Merged    time.Time
}

// Group is one change and its ports to other branches.
type Group struct {
	Canonical  Landed
	Duplicates []Landed
}

// Backports groups changes that close the same issue with the same patch (multi-swe-bench issue 84: four instances of one fix). The
// earliest one on the default branch stands for them, or the earliest of all. What has no patch id stands alone. The order of the arguments
// does not matter.
func Backports(landed []Landed) []Group {
	type same struct {
		issue int
		patch string
	}
	sorted := slices.Clone(landed)
	slices.SortFunc(sorted, func(a, b Landed) int {
		byBranch := 0
		if a.OnDefault != b.OnDefault {
			byBranch = 1
			if a.OnDefault {
				byBranch = -1
			}
		}
		return cmp.Or(byBranch, a.Merged.Compare(b.Merged), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Issue, b.Issue), cmp.Compare(a.PatchID, b.PatchID))
	})
	var groups []Group
	place := map[same]int{}
	for _, l := range sorted {
		k := same{l.Issue, l.PatchID}
		if i, ok := place[k]; ok && l.PatchID != "" {
			groups[i].Duplicates = append(groups[i].Duplicates, l)
			continue
		}
		place[k] = len(groups)
		groups = append(groups, Group{Canonical: l})
	}
	return groups
}
