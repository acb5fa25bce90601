package github

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-github/v62/github"
)

// Text is something that somebody wrote about a change or an issue.
type Text struct {
	Where   string // title, body, "commit <sha>", "review <id>", "review-comment <id>", "comment <id>"; of an issue: "issue <n> …"
	Text    string
	Author  string
	At      time.Time
	Updated time.Time // zero: not told
}

// States of a text at a cut-off.
const (
	TextClean   = "clean"   // as it was then
	TextEdited  = "edited"  // changed since
	TextLater   = "later"   // was not there yet
	TextUnknown = "unknown" // something about the issue changed since; whether the text did, the API does not tell
)

// TextState is what is known of a text at a cut-off.
type TextState struct {
	What  string    `json:"what"` // title, body, "comment <id>"; of the change itself: "change title", "change body"
	State string    `json:"state"`
	At    time.Time `json:"at,omitzero"`   // of the last change, as far as it is known
	Was   string    `json:"was,omitempty"` // a title at the cut-off, when it was changed since
}

// CutOff is the moment up to which a statement may be used: the change's creation, or its first push where that is known to be earlier.
// The dates of commits do not count: rebasing and wrong clocks make them years off.
func CutOff(created time.Time, pushes ...time.Time) time.Time {
	for _, p := range pushes {
		if !p.IsZero() && p.Before(created) {
			created = p
		}
	}
	return created
}

// states tells for each text of an issue whether it is as it was at the cut-off. A comment's updated_at moves when it is edited; an issue's
// moves with everything that happens to it.
func (l Linked) states(cut time.Time) ([]TextState, error) {
	var is github.Issue
	if err := json.Unmarshal(l.Issue, &is); err != nil {
		return nil, fmt.Errorf("reading issue #%d: %w", l.Number, err)
	}
	events, err := decodeAll[github.Timeline](l.Timeline)
	if err != nil {
		return nil, fmt.Errorf("reading the timeline of #%d: %w", l.Number, err)
	}
	comments, err := decodeAll[github.IssueComment](l.Comments)
	if err != nil {
		return nil, fmt.Errorf("reading the comments of #%d: %w", l.Number, err)
	}
	body := TextState{What: "body", State: TextUnknown}
	created, updated := is.GetCreatedAt().Time, is.GetUpdatedAt().Time
	edit, known := lastEdit(l.Edits)
	switch {
	case created.After(cut):
		body = TextState{What: "body", State: TextLater, At: created}
	case known && edit.After(cut):
		body = TextState{What: "body", State: TextEdited, At: edit}
	case known, !updated.After(cut):
		body.State = TextClean
	}
	out := []TextState{titleState(events, created, cut), body}
	for _, c := range comments {
		s := TextState{What: fmt.Sprintf("comment %d", c.GetID()), State: TextClean}
		switch {
		case c.GetCreatedAt().After(cut):
			s.State, s.At = TextLater, c.GetCreatedAt().Time
		case c.GetUpdatedAt().After(cut):
			s.State, s.At = TextEdited, c.GetUpdatedAt().Time
		}
		out = append(out, s)
	}
	return out, nil
}

// ownStates tells the same of the change's title and description, which stand in where no issue is linked.
func (b Bundle) ownStates(cut time.Time) ([]TextState, error) {
	states, err := Linked{Issue: b.Issue, Timeline: b.Timeline, Edits: b.Edits}.states(cut)
	for i := range states {
		states[i].What = "change " + states[i].What
	}
	return states, err
}

// titleState goes by the events that tell of each change of the title, with the old one.
func titleState(events []github.Timeline, created, cut time.Time) TextState {
	s := TextState{What: "title", State: TextClean}
	if created.After(cut) {
		s.State, s.At = TextLater, created
		return s
	}
	for _, e := range events {
		if e.GetEvent() != "renamed" || !e.GetCreatedAt().After(cut) || e.Rename == nil {
			continue
		}
		if s.State == TextClean {
			s.State, s.Was = TextEdited, e.Rename.GetFrom()
		}
		s.At = e.GetCreatedAt().Time
	}
	return s
}

// ownTexts are title, description and commit messages of a change.
func (b Bundle) ownTexts() ([]Text, error) {
	var pr github.PullRequest
	if err := json.Unmarshal(b.Pull, &pr); err != nil {
		return nil, fmt.Errorf("reading a pull request: %w", err)
	}
	commits, err := decodeAll[github.RepositoryCommit](b.Commits)
	if err != nil {
		return nil, fmt.Errorf("reading the commits of #%d: %w", pr.GetNumber(), err)
	}
	out := []Text{
		{"title", pr.GetTitle(), pr.GetUser().GetLogin(), pr.GetCreatedAt().Time, time.Time{}},
		{"body", pr.GetBody(), pr.GetUser().GetLogin(), pr.GetCreatedAt().Time, pr.GetUpdatedAt().Time},
	}
	for _, c := range commits {
		author := c.GetAuthor().GetLogin()
		if author == "" {
			author = c.GetCommit().GetAuthor().GetName()
		}
		out = append(out, Text{"commit " + c.GetSHA(), c.GetCommit().GetMessage(), author, c.GetCommit().GetCommitter().GetDate().Time, time.Time{}})
	}
	return out, nil
}

// talk are the reviews and comments of a change or an issue.
func (b Bundle) talk() ([]Text, error) {
	reviews, err := decodeAll[github.PullRequestReview](b.Reviews)
	if err != nil {
		return nil, fmt.Errorf("reading reviews: %w", err)
	}
	notes, err := decodeAll[github.PullRequestComment](b.ReviewComments)
	if err != nil {
		return nil, fmt.Errorf("reading review comments: %w", err)
	}
	var out []Text
	for _, r := range reviews {
		out = append(out, Text{fmt.Sprintf("review %d", r.GetID()), r.GetBody(), r.GetUser().GetLogin(), r.GetSubmittedAt().Time, time.Time{}})
	}
	for _, n := range notes {
		out = append(out, Text{fmt.Sprintf("review-comment %d", n.GetID()), n.GetBody(), n.GetUser().GetLogin(), n.GetCreatedAt().Time, n.GetUpdatedAt().Time})
	}
	comments, err := commentTexts("", b.Comments)
	return slices.Concat(out, comments), err
}

func commentTexts(prefix string, raws []json.RawMessage) ([]Text, error) {
	comments, err := decodeAll[github.IssueComment](raws)
	if err != nil {
		return nil, fmt.Errorf("reading comments: %w", err)
	}
	var out []Text
	for _, c := range comments {
		where := fmt.Sprintf("%scomment %d", prefix, c.GetID())
		out = append(out, Text{where, c.GetBody(), c.GetUser().GetLogin(), c.GetCreatedAt().Time, c.GetUpdatedAt().Time})
	}
	return out, nil
}

// issueTexts are an issue's title with its description, and its comments.
func issueTexts(prefix string, issue json.RawMessage, comments []json.RawMessage) ([]Text, error) {
	var is github.Issue
	if err := json.Unmarshal(issue, &is); err != nil {
		return nil, fmt.Errorf("reading an issue: %w", err)
	}
	first := Text{prefix + "body", is.GetTitle() + "\n\n" + is.GetBody(), is.GetUser().GetLogin(), is.GetCreatedAt().Time, is.GetUpdatedAt().Time}
	rest, err := commentTexts(prefix, comments)
	return append([]Text{first}, rest...), err
}
