package szz

import (
	"context"
)

// Fix is the commit whose defect is sought, seen against its first parent.
type Fix struct {
	Commit string // full id
	Base   string // its first parent; "" for a root commit
}

// Evidence says what speaks for a commit. A weaker kind is never mixed with a stronger one: each has a vote of its own.
type Evidence string

// The kinds of evidence, the strongest first.
const (
	Deletion Evidence = "deletion" // it wrote lines that the fix deletes or rewrites
	Earlier  Evidence = "earlier"  // it wrote what such lines were before they were changed
	Anchor   Evidence = "anchor"   // it wrote lines next to those that the fix adds
	Context  Evidence = "context"  // it wrote lines near the fix, or of the functions that the fix changes
	Past     Evidence = "past"     // it touched a file that the fix changes
)

// Suspect is a commit that may have introduced the defect.
type Suspect struct {
	Commit   string   `json:"commit"`
	Score    float64  `json:"score"`    // comparable within one answer only
	Evidence Evidence `json:"evidence"` // the strongest
	Lines    int      `json:"lines"`    // of the fix's deleted lines, those that it wrote
	Files    []string `json:"files,omitempty"`
	// Votes are lines by what they have to do with the fix: deleted, scrap, second, third, anchor, edge, nearby, function. Strategies
	// that only count deleted lines have none.
	Votes map[string]int `json:"votes,omitempty"`
}

// Answer is what a strategy says of one fix.
type Answer struct {
	Strategy   string    `json:"strategy"` // its name and version
	Fix        string    `json:"fix"`
	Suspects   []Suspect `json:"inducing"`             // the likeliest first; never nil
	Confidence float64   `json:"confidence,omitempty"` // how likely the first suspect is right, 0 to 1; 0 when the strategy cannot tell
	Abstained  Reason    `json:"abstained,omitempty"`  // set when there are no suspects
	MergeMode  string    `json:"merge_mode"`
	Skipped    []Skip    `json:"skipped,omitempty"`
	Omitted    int       `json:"files_omitted,omitempty"` // files of a large fix that were not looked at
}

// Strategy names suspects. Its methods may be called from many goroutines.
type Strategy interface {
	// Name is what --variant takes.
	Name() string
	// Attribute never fails for what a repository lacks: that is a reason to abstain. Errors are those of git and of the context.
	Attribute(ctx context.Context, fix Fix) (Answer, error)
}
