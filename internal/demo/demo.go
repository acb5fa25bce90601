// Package demo authors a small git repository that shows, and lets tests assert, what sluice does: pairs of changes
// that a foresight pipeline admits, and one decoy for each of its usual reasons to reject.
//
// The history is data: one readable file a change below history/, with what the pipeline should say about it. The same
// objects come out on every machine. The package runs nothing but git, and never the code that it writes.
package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Name is the repository's name.
const Name = "ledger"

//go:embed history/*.txtar
var history embed.FS

// Random is the step that adds a test whose outcome is chance; nothing builds on it.
const Random = "06-clock"

// Landing says how a step lands on the main branch.
type Landing string

// The ways a step lands.
const (
	Direct Landing = "direct"
	Squash Landing = "squash"
	Merge  Landing = "merge"
)

// Step is one authored change of the main branch.
type Step struct {
	ID      string // the name of its file: "11-sign"
	Landing Landing
	Number  int    // of the pull request; 0 for none
	Fork    string // merge: the step after which the branch began; "" for the step before this one
	Branch  string // merge: the branch's name
	Author  string // "Name <address>"
	Date    time.Time
	Message string // title and body as written; Subject adds what the landing adds
	Expect  Expectation

	commits []commit
}

// Expectation is what a foresight pipeline without a model should say of a step as the fixing change.
type Expectation struct {
	State string // "admitted", "rejected", or "none" where it is no candidate
	// Codes: rejected with one of these; the first is the usual one. Chance decides between them where a flaky test of
	// the whole suite happens to look as if it told two states apart.
	Codes []string
	// Introducer is the step that the link must name; "" where the candidate is rejected before there is a link.
	Introducer string
	Method     string   // of the link: "testimony", "trailer", "szz"
	Narrowed   []string // test functions that narrowing has to drop
	Why        string
}

// commit is one commit of a step: the whole step, or a part of its branch.
type commit struct {
	branch  string // of an octopus merge
	message string
	sync    bool // merges the main branch into the step's branch
	edits   []edit
}

// Steps returns the history, oldest first.
func Steps() ([]Step, error) {
	names, err := fs.Glob(history, "history/*.txtar")
	if err != nil {
		return nil, fmt.Errorf("listing the demo's history: %w", err)
	}
	slices.Sort(names)
	var steps []Step
	for _, name := range names {
		text, err := history.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the demo's history: %w", err)
		}
		id := strings.TrimSuffix(path.Base(name), ".txtar")
		s, err := parseStep(id, text)
		if err != nil {
			return nil, fmt.Errorf("reading step %s of the demo: %w", id, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}
