// Package szz names the change that probably introduced the defect that another change fixes: it follows the lines of code
// which the fix deletes or rewrites back to the changes that wrote them.
//
// The work has three parts that know nothing of each other's methods: a tracer follows lines (trace.go), the lines are counted by
// the change that landed them (votes.go), and the counts are ranked. Comments, blank lines and files that are not source
// never count, changes of layout alone are looked through, and a fix never blames itself. Where there is nothing to follow the
// result says why; the package never guesses, reads no messages and asks no model.
package szz

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sluice/miners/gitrepo"
)

// Version names the method in every result. It changes whenever an answer may.
const Version = "deleted-lines/1"

// FirstParent is how the patch of a merge is read: against the state that it landed on.
const FirstParent = "first-parent"

// Reason is why no change is named, or why a file was passed over.
type Reason = string

// The reasons. The empty one means that there is an answer.
const (
	NoSource      Reason = "no-source"        // the fix touches no source file
	NewFiles      Reason = "new-files-only"   // all of its source files are new
	AddOnly       Reason = "add-only"         // it deletes no line of source
	LayoutOnly    Reason = "layout-only"      // what it deletes differs only in white space
	AllComments   Reason = "all-comments"     // all deleted lines are comments or blank
	Boundary      Reason = "boundary"         // the lines are as old as the history
	Unmapped      Reason = "unmapped"         // their commits belong to no change of the index
	Unfollowed    Reason = "ignored-only"     // they come from ignored commits and cannot be followed further
	MissingObject Reason = "missing-object"   // the repository lacks what is needed
	Exhausted     Reason = "budget_exhausted" // the step budget ended before the lines did
	RootFix       Reason = "root"             // the fix has no state before it
)

// Options says how far an attribution goes. The zero value is usable.
type Options struct {
	// IgnoreRevs are commits to look through, by full id, besides those that .git-blame-ignore-revs lists at the fix's base.
	IgnoreRevs []string
	// Files are the files of the fix, where the caller has them (see gitrepo.AllFiles); nil: they are read.
	Files []gitrepo.FileChange
	// Budget is how often git may blame for one fix; 0 means 100.
	Budget int
	// Memo keeps what was found out about changes from one fix to the next; nil: nothing is kept.
	Memo *Memo
}

// Line is a line of code that the fix deletes or rewrites, and where it came from.
type Line struct {
	File     string `json:"file"` // as it is called before the fix
	Line     int    `json:"line"` // there
	Commit   string `json:"commit"`
	OrigFile string `json:"orig_file"`         // as it was called in Commit
	OrigLine int    `json:"orig_line"`         // there
	Change   string `json:"change,omitempty"`  // head of the change that landed Commit
	Guessed  bool   `json:"guessed,omitempty"` // it was led through an ignored commit, where git matches lines by likeness
	Dropped  Reason `json:"dropped,omitempty"`
}

// Vote is what speaks for one change.
type Vote struct {
	Change   string   `json:"change"` // its head
	Number   int      `json:"number,omitempty"`
	Position int      `json:"position"`
	Lines    int      `json:"lines"`   // of the fix's deleted lines, those that it landed
	Commits  []string `json:"commits"` // that wrote them, sorted
	Files    []string `json:"files"`   // as they are called before the fix, sorted
}

// Skip is a file of the fix that was passed over for a reason that may hide an answer.
type Skip struct {
	File   string `json:"file"`
	Reason Reason `json:"reason"`
}

// Attribution is the answer for one fix.
type Attribution struct {
	Version   string   `json:"version"`
	MergeMode string   `json:"merge_mode"`
	Fix       string   `json:"fix"`                 // its head
	Votes     []Vote   `json:"inducing"`            // the likeliest first; never nil
	Lines     []Line   `json:"lines,omitempty"`     // all that were followed, by file and line
	Abstained Reason   `json:"abstained,omitempty"` // set when there are no votes
	Ignored   []string `json:"ignored,omitempty"`   // commits of layout alone that were looked through, sorted
	Skipped   []Skip   `json:"skipped,omitempty"`
}

// Attribute traces a fix. The index should hold every change before the fix: a line whose commit it does not know does
// not vote. Errors are those of git and of the context; what a repository lacks is a reason, not an error.
func Attribute(ctx context.Context, m *gitrepo.Mirror, idx *gitrepo.Index, fix gitrepo.Change, o Options) (Attribution, error) {
	a := Attribution{Version: Version, MergeMode: FirstParent, Fix: fix.Head, Votes: []Vote{}}
	t := newTracer(m, idx, o)
	lines, why, err := t.fix(ctx, fix)
	if err != nil {
		return a, fmt.Errorf("attributing %.12s: %w", fix.Head, err)
	}
	a.Lines, a.Skipped, a.Ignored = lines, t.skipped, t.lookedThrough()
	a.Votes = rank(tally(lines, idx, fix))
	if len(a.Votes) == 0 {
		a.Abstained = abstention(why, lines, t.skipped)
	}
	return a, nil
}

// abstention finds the reason for having no votes: what the patch says, else what befell the lines, else a skipped file.
func abstention(why Reason, lines []Line, skipped []Skip) Reason {
	if len(lines) > 0 {
		for _, r := range []Reason{Exhausted, Unmapped, Unfollowed, Boundary} {
			if slices.ContainsFunc(lines, func(l Line) bool { return l.Dropped == r }) {
				return r
			}
		}
	}
	if len(skipped) > 0 {
		return skipped[0].Reason
	}
	return why
}

// lacking tells the errors that mean "it is not there" from those of the machinery.
func lacking(err error) bool { return errors.Is(err, gitrepo.ErrMissingObject) || notExist(err) }
