// Package store is sluice's ledger: candidates, attempts, evidence, runs, reviews and releases in SQLite, and big
// things as compressed, content-addressed blobs in a folder beside it.
//
// It knows no family, no stage and no repository format; it never interprets the JSON that it keeps, never deletes
// an attempt, and never lets a half-written thing look whole.
package store

import (
	"errors"
	"time"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrNewer    = errors.New("the store was written by a newer sluice")
	ErrLeased   = errors.New("another process holds the candidate")
	ErrNoSpace  = errors.New("no disk space")
)

// State is where a candidate stands.
type State string

// Open candidates have stages ahead; the other four are the ends.
const (
	Open     State = "open"
	Admitted State = "admitted"
	Rejected State = "rejected"
	Held     State = "held"
	Failed   State = "failed"
)

// Position is a candidate's place in its family's stages.
type Position struct {
	State     State
	Stage     string // the stage that decided, or the next one of an open candidate
	Code      string // reason code of a rejected or held candidate; error class of a failed one
	Reason    string // one line
	Transient bool   // failed: another run may cure it
	Plan      string // digest of the stages and settings under which this holds
	Attempt   int64  // the attempt that decided it; 0 for none. Commit fills it in
}

// Candidate is a proposed instance.
type Candidate struct {
	ID     string // stable: a digest of family, repository and what was proposed
	Family string
	Repo   string // "owner/name" or the mirror's name
	Data   []byte // JSON: the miner's proposal, never changed later
	Order  int64  // position in the miner's order (for a change: its place in history)
	// Generation counts re-openings; it is part of every memo key, so that a re-opened candidate runs anew.
	Generation int
	Position
}

// Filter chooses candidates; zero fields match all. IDPrefix matches the start of the id.
type Filter struct {
	Family, Repo, Stage, Code, IDPrefix string
	States                              []State
}

// Evidence is a named thing that an attempt made; the blob with that digest holds it.
type Evidence struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Digest    string `json:"digest"` // "sha256:…" of the uncompressed bytes
	Size      int64  `json:"size"`   // uncompressed
}

// Attempt is one run of one stage on one candidate. Rows are only ever added.
type Attempt struct {
	ID        int64
	Candidate string
	Stage     string
	Version   int
	Key       string // memo key; unique per candidate among attempts whose Outcome is not "error"
	Outcome   string // pass, reject, hold, error
	Code      string
	Reason    string
	Transient bool
	Owner     string
	Started   time.Time
	Ended     time.Time
	Evidence  []Evidence
}

// Run is one memoised piece of work inside a stage (a sandbox run, an environment, a blame), shared by all candidates.
type Run struct {
	Key       string // digest of everything that the result depends on
	Kind      string // "test-run", "environment", …
	Label     string // for people: "h1+T2 #2 of fs-1a2b3c"
	Digest    string // blob of the result
	Candidate string // the candidate for which it ran first
	Started   time.Time
	Ended     time.Time
}

// Review is a person's decision about a candidate: "reopen" is the one that the engine acts on.
type Review struct {
	Candidate string
	Decision  string
	Note      string
	By        string
	At        time.Time
}

// Release is a frozen set of admitted candidates.
type Release struct {
	Name       string
	Digest     string // of its manifest
	Created    time.Time
	Candidates []string
}

// Problem is one thing that Check found.
type Problem struct {
	What     string // "missing-blob", "corrupt-blob", "wrong-size", "foreign-key", "integrity", "position", "leftover-temp", …
	Where    string
	Detail   string
	Harmless bool // nothing is lost or wrong; gc will tidy it, or a person may
}
