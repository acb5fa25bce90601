// Package gitrepo reads repositories: incremental bare mirrors, the changes that landed on the default branch, merge-base-correct
// diffs, trees, blame and three-way application of patches.
//
// It runs the git program with a filtered environment: no hooks, filters, submodule URLs or configuration of a mined
// repository are ever used, and a mirror's objects are never written to except by fetching. It keeps paths and contents as bytes
// (Go strings that need not be UTF-8). It knows nothing of defects, tests or benchmarks.
package gitrepo

import (
	"errors"
	"time"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotRepository   = errors.New("not a git repository")
	ErrEmpty           = errors.New("the repository has no commits")
	ErrNoDefaultBranch = errors.New("the default branch is unknown")
	ErrMissingObject   = errors.New("the repository lacks an object (shallow or partial clone)")
	ErrConflict        = errors.New("the patch does not apply")
)

// Landing says how a change came to the default branch.
type Landing string

// The ways a change lands. Direct: a plain commit with no number known.
const (
	Merge  Landing = "merge"
	Squash Landing = "squash"
	Rebase Landing = "rebase"
	Direct Landing = "direct"
)

// Change is a unit that landed on the default branch. The tree of Base is the state that it really landed on (the
// first-parent state just before it), the tree of Head the state just after: patch and base agree, also for stale branches.
type Change struct {
	Landing   Landing   `json:"landing"`
	Number    int       `json:"number,omitempty"`    // of the pull or merge request; 0 unknown
	NumberBy  string    `json:"number_by,omitempty"` // how it is known: see OriginWays
	Base      string    `json:"base"`                // full commit id; "" for a root commit
	Head      string    `json:"head"`
	Commits   []string  `json:"commits,omitempty"` // the commits that it brought in, oldest first (Head itself for direct and squash)
	Parents   int       `json:"parents"`           // of Head; more than 2 is an octopus merge
	Author    string    `json:"author"`
	Authored  time.Time `json:"authored"`
	Committed time.Time `json:"committed"`
	Title     string    `json:"title"` // the change's own: for a merge, the pull request's title where the message has it
	Body      string    `json:"body,omitempty"`
	Position  int       `json:"position"` // in first-parent order, the oldest is 0: of two changes the lower one is an ancestor
}

// Status of a file in a diff.
type Status string

// The statuses of a file in a diff.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Typed    Status = "type-changed"
)

// FileChange is one file of a diff. Lines are -1 for binary files.
type FileChange struct {
	Status  Status `json:"status"`
	Path    string `json:"path"` // the new path; for a deleted file the old one
	OldPath string `json:"old_path,omitempty"`
	OldMode string `json:"old_mode,omitempty"` // "100644", "160000" (submodule), …
	Mode    string `json:"mode,omitempty"`
	OldID   string `json:"old_id,omitempty"` // blob ids
	ID      string `json:"id,omitempty"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
}

// Range is lines First to Last of a file, counted from 1, both included.
type Range struct{ First, Last int }

// Hunk is one block of a -U0 diff: Old.Last < Old.First means that nothing was deleted (Old.First-1 is the line above).
type Hunk struct{ Old, New Range }

// BlameLine says which commit last touched a line of a file.
type BlameLine struct {
	Line     int    // in the blamed commit's file
	Commit   string // that introduced it
	OrigPath string
	OrigLine int
	Boundary bool // history ends here (root commit or shallow border)
	Ignored  bool // an ignored revision touched it and git guessed further back
}
