package localgit

import (
	"cmp"
	"slices"
)

// Why something that was said became no lead, or a weaker one.
const (
	Itself      = "itself"              // the claim names the fix's own change
	NotAncestor = "not-an-ancestor"     // what is named is there, but not in the history of the fix
	Unrelated   = "unrelated-history"   // … and shares no commit with it
	Ambiguous   = "ambiguous"           // several ancestors begin so
	Unknown     = "in-no-ref"           // no reference reaches such a commit
	OtherRepo   = "other-repository"    // it is named as another repository's, and is not here
	NoChange    = "number-of-no-change" // no change of that number landed
	NoTicket    = "ticket-of-no-change"
	Negated     = "negated"
	NotUTF8     = "not-utf8" // the message is not text; it is kept as bytes
	Large       = "large-fix"
	MergeFix    = "merge-fix"
	NoTag       = "version-of-no-tag"
	NoCommit    = "entry-of-no-commit" // an entry of a change log that no commit could be found for
)

// largeFix is from how many files on a fix is named in the report: what people call a fix does not touch a thousand files.
const largeFix = 1000

// maxProblems is how many are kept with their names; the counts are of all.
const maxProblems = 10000

// Problem is one thing that is counted, with its name.
type Problem struct {
	Reason string `json:"reason"`
	Where  string `json:"where"`           // the commit, or the file and its line
	Named  string `json:"named,omitempty"` // what it names
}

// problems counts and keeps.
type problems struct {
	counts map[string]int
	named  []Problem
}

func (p *problems) add(reason, where, named string) {
	if p.counts == nil {
		p.counts = map[string]int{}
	}
	p.counts[reason]++
	if len(p.named) < maxProblems {
		p.named = append(p.named, Problem{reason, where, named})
	}
}

// sorted are the named problems in an order that does not depend on how they were met.
func (p *problems) sorted() []Problem {
	out := slices.Clone(p.named)
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Named, b.Named))
	})
	return out
}
