// Package mining takes what the miners find into the store as leads, each with the evidence that it came from: the raw event,
// the message, the advisory, the row of a list. It runs the miners of GH Archive (files gharchive*.go, hour by hour, with a ledger) and of
// GitHub's API (files github*.go, item by item, with a place to go on from); packages below it run the others.
//
// It decides nothing about a lead: whether it becomes a candidate, and what that candidate is worth, is for the families.
// It prints nothing.
package mining

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/store"
)

// Ref names a change by what is known of it; zero fields are unknown.
type Ref struct {
	SHA    string `json:"sha,omitempty"`    // 7 to 64 hexadecimal digits, as the source gives them, in lower case
	Number int    `json:"number,omitempty"` // of a pull or merge request
	Tag    string `json:"tag,omitempty"`    // a release, where the source names no commit
}

// Pair is the data of a store.PairLead: Intro is said to have introduced the defect that Fix repairs.
type Pair struct {
	RepoID int64  `json:"repo_id,omitempty"` // the host's numeric id; 0 unknown
	Intro  Ref    `json:"intro"`
	Fix    Ref    `json:"fix"`
	Issue  int    `json:"issue,omitempty"`
	ID     string `json:"id,omitempty"`  // of an advisory or a ticket, as its source writes it
	Cue    string `json:"cue,omitempty"` // which words or field made it a claim
	Quote  string `json:"quote,omitempty"`
	Where  string `json:"where,omitempty"`  // in which text it stands: body, "commit <sha>", "comment <id>", "issue <n> body"
	Author string `json:"author,omitempty"` // who says so
	// Host of the repository where it is not the usual one: "gitlab.example.org"; "" is github.com or unknown.
	Host       string `json:"host,omitempty"`
	Confidence string `json:"confidence,omitempty"` // Strong or Weak; "" is not judged
	// ResolvedBy is what the introducing change was found by: id, subject (the id that stands beside it is wrong or of
	// several commits), number, ticket, change-id, revision, version.
	ResolvedBy string   `json:"resolved_by,omitempty"`
	Aliases    []string `json:"aliases,omitempty"` // other ids of the same advisory
	// LastAffected is the last commit that had the defect where no fix is known; Limit is where the advisory stops to look.
	LastAffected string `json:"last_affected,omitempty"`
	Limit        string `json:"limit,omitempty"`
	MergeMode    string `json:"merge_mode,omitempty"` // how a fix that is a merge is to be read: first-parent; "" is no merge
	Files        int    `json:"files,omitempty"`      // that the fix touches, where it was looked at
	// Unknown lists what could not be told and must be resolved from git or the API: "commits", "merged", "order", "intro",
	// "fix", "change" (the number may be an issue's).
	Unknown []string `json:"unknown,omitempty"`
	// FromGit lists what the evidence leaves unknown and git told: "commits" (the text is the message of the fix, which the event of
	// the push does not list).
	FromGit []string  `json:"from_git,omitempty"`
	At      time.Time `json:"at,omitzero"` // when it was said
}

// IssuePR is the data of a store.IssuePRLead.
type IssuePR struct {
	Host       string    `json:"host,omitempty"` // as a Pair's
	RepoID     int64     `json:"repo_id,omitempty"`
	Issue      int       `json:"issue"`
	PR         int       `json:"pr"`
	Closing    *bool     `json:"closing"`    // whether merging the change closes the issue; null unknown
	Merged     *bool     `json:"merged"`     // null unknown, or the change was still open
	Confidence string    `json:"confidence"` // Strong or Weak
	Negated    bool      `json:"negated,omitempty"`
	Quote      string    `json:"quote,omitempty"`
	At         time.Time `json:"at,omitzero"`

	External   string      `json:"external,omitempty"`    // "owner/name#12" for an issue of another repository; Issue is 0 then
	Where      string      `json:"where,omitempty"`       // what links them: body, title, "commit <sha>", "comment <id>", timeline, api, "<change log>:<line>"
	Why        string      `json:"why,omitempty"`         // Closing is what it is
	Base       string      `json:"base,omitempty"`        // the branch that the change went to
	SHA        string      `json:"sha,omitempty"`         // of the commit that it landed as
	Author     string      `json:"author,omitempty"`      // of the text that links them
	CutOff     time.Time   `json:"cut_off,omitzero"`      // up to which the issue's texts may be used
	Texts      []TextState `json:"texts,omitempty"`       // of issue and change at the cut-off; none: the issue was not read
	RevertedBy int         `json:"reverted_by,omitempty"` // a merged change that took this one back; 0: none is known
	FromGit    []string    `json:"from_git,omitempty"`    // what the evidence leaves unknown and git told: "merged"
}

// TextState tells whether a text of an issue is as it was at the cut-off.
type TextState struct {
	What  string    `json:"what"`  // title, body, "comment <id>", "change title", "change body"
	State string    `json:"state"` // clean, edited, later, unknown
	At    time.Time `json:"at,omitzero"`
	Was   string    `json:"was,omitempty"` // a title at the cut-off, when it was changed since
}

// Report is the data of a store.ReportLead: somebody states a completed localisation.
type Report struct {
	Host     string    `json:"host,omitempty"` // as a Pair's
	RepoID   int64     `json:"repo_id,omitempty"`
	Issue    int       `json:"issue"`
	Comment  int64     `json:"comment,omitempty"` // 0: the issue's own text
	FirstBad string    `json:"first_bad"`         // a commit id as it is written, in lower case, or "#12" for a change
	Cue      string    `json:"cue"`
	Quote    string    `json:"quote"`
	Author   string    `json:"author,omitempty"`
	Quoted   bool      `json:"quoted,omitempty"` // in a quotation of somebody else's words
	At       time.Time `json:"at,omitzero"`
}

// Instance is the data of a store.InstanceLead: a finished instance of another data set. Its row, as it was given, is the evidence.
type Instance struct {
	Format   string   `json:"format"` // swe-bench, swe-rebench-v2, multi-swe-bench, …
	ID       string   `json:"id"`
	Base     string   `json:"base,omitempty"` // commit id
	PR       int      `json:"pr,omitempty"`
	Issues   []int    `json:"issues,omitempty"`
	Fix      string   `json:"fix,omitempty"` // commit id
	F2P      *int     `json:"f2p"`           // tests that fail before and pass after; null unknown
	P2P      *int     `json:"p2p"`
	Language string   `json:"language,omitempty"`
	Created  string   `json:"created,omitempty"`  // as the row has it
	Inverted bool     `json:"inverted,omitempty"` // the row's patch is the one that breaks
	Unknown  []string `json:"unknown,omitempty"`  // "base", "pr", "f2p", "p2p"
}

// phase says how the change of a link stood when it was seen. It is part of the key: leads never change, so what a later look at the same
// two numbers tells is another lead.
func (p IssuePR) phase() string {
	switch {
	case p.Merged == nil:
		return "unknown"
	case *p.Merged:
		return "merged"
	}
	return "unmerged"
}

// firstBad writes what a report names.
func firstBad(sha string, number int) string {
	if sha != "" {
		return sha
	}
	return fmt.Sprintf("#%d", number)
}

// How much the words of a claim are worth. It is about the words, not about the defect.
const (
	Strong = "strong"
	Weak   = "weak"
)

// Confidence is Strong or Weak.
func Confidence(strong bool) string {
	if strong {
		return Strong
	}
	return Weak
}

// Found is a lead before it is stored. Key is what makes it the same lead when the same source meets it again.
type Found struct {
	Kind   string
	Repo   string
	Source string
	Method string
	Key    string
	Data   any
	Line   int // of the evidence that is stored with it
}

// lead gives a find its id and its stored form.
func (f Found) lead(evidence string) (store.Lead, error) {
	data, err := json.Marshal(f.Data)
	if err != nil {
		return store.Lead{}, fmt.Errorf("encoding a lead of %s: %w", f.Repo, err)
	}
	repo := strings.ToLower(f.Repo)
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Source, f.Kind, repo, f.Key}, "\x00")))
	return store.Lead{
		ID: "lead-" + hex.EncodeToString(sum[:10]), Kind: f.Kind, Repo: repo, Source: f.Source, Method: f.Method,
		Data: data, Evidence: evidence, Line: f.Line,
	}, nil
}
