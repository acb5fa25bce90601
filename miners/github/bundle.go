package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-github/v62/github"

	"sluice/miners/links"
)

// Kinds of bundles.
const (
	PullBundle    = "pull"
	IssueBundle   = "issue"
	ReleaseBundle = "releases"
)

// Bundle is one pull request, one issue or the releases of a repository with everything that the API said about it, element by element as
// it came. It is the evidence: what is derived from a bundle can be derived from it again.
type Bundle struct {
	Kind           string            `json:"kind"`
	Repo           Repository        `json:"repo"` // without Raw
	Pull           json.RawMessage   `json:"pull,omitempty"`
	Issue          json.RawMessage   `json:"issue,omitempty"`
	Commits        []json.RawMessage `json:"commits,omitempty"` // the API gives 250 at most
	Reviews        []json.RawMessage `json:"reviews,omitempty"`
	ReviewComments []json.RawMessage `json:"review_comments,omitempty"`
	Comments       []json.RawMessage `json:"comments,omitempty"`
	Timeline       []json.RawMessage `json:"timeline,omitempty"`
	Linked         []Linked          `json:"linked,omitempty"`     // issues that the texts of the change name, and that are issues
	Origins        []json.RawMessage `json:"origins,omitempty"`    // changes that texts blame
	NoChanges      []int             `json:"no_changes,omitempty"` // numbers that texts blame, and that are no changes
	Closers        []Closer          `json:"closers,omitempty"`    // changes that hold a commit which closed the issue
	Releases       []json.RawMessage `json:"releases,omitempty"`
	Tags           []json.RawMessage `json:"tags,omitempty"`
	Edits          json.RawMessage   `json:"edits,omitempty"` // GraphQL's answer about edits and linked issues; absent: not asked or not told
}

// Linked is an issue that a change names.
type Linked struct {
	Number   int               `json:"number"`
	Issue    json.RawMessage   `json:"issue"`
	Comments []json.RawMessage `json:"comments,omitempty"`
	Timeline []json.RawMessage `json:"timeline"`
	Edits    json.RawMessage   `json:"edits,omitempty"` // as a bundle's
}

// Closer says which changes hold a commit.
type Closer struct {
	SHA   string            `json:"sha"`
	Pulls []json.RawMessage `json:"pulls"`
}

func (r Repository) bare() Repository { r.Raw = nil; return r }

// Fetch reads everything about an item of the list.
func (c *Client) Fetch(ctx context.Context, r Repository, it Item) (Bundle, error) {
	if it.Pull {
		return c.fetchPull(ctx, r, it)
	}
	b := Bundle{Kind: IssueBundle, Repo: r.bare(), Issue: it.Raw}
	var err error
	if b.Comments, b.Timeline, err = c.discussion(ctx, r, it); err != nil {
		return b, err
	}
	events, err := decodeAll[github.Timeline](b.Timeline)
	if err != nil {
		return b, fmt.Errorf("reading the timeline of #%d: %w", it.Number, err)
	}
	for _, sha := range closingCommits(events) {
		pulls, err := c.list(ctx, r.path("commits/%s/pulls", sha))
		if missing(err) {
			continue // the commit is in no branch of this repository, or is gone
		}
		if err != nil {
			return b, err
		}
		b.Closers = append(b.Closers, Closer{SHA: sha, Pulls: pulls})
	}
	b.Edits, err = c.edits(ctx, r, it)
	return b, err
}

// discussion reads comments, where the item says that it has some, and events.
func (c *Client) discussion(ctx context.Context, r Repository, it Item) (comments, timeline []json.RawMessage, err error) {
	if it.Comments > 0 {
		if comments, err = c.list(ctx, r.path("issues/%d/comments", it.Number)); err != nil {
			return nil, nil, err
		}
	}
	timeline, err = c.list(ctx, r.path("issues/%d/timeline", it.Number))
	return comments, timeline, err
}

func (c *Client) fetchPull(ctx context.Context, r Repository, it Item) (b Bundle, err error) {
	b = Bundle{Kind: PullBundle, Repo: r.bare(), Issue: it.Raw}
	pg, err := c.get(ctx, r.path("pulls/%d", it.Number))
	if err != nil {
		return b, err
	}
	b.Pull = pg.body
	var pr github.PullRequest
	if err := json.Unmarshal(pg.body, &pr); err != nil {
		return b, fmt.Errorf("reading pull request #%d: %w: %w", it.Number, ErrBadAnswer, err)
	}
	if pr.GetNumber() != it.Number {
		return b, fmt.Errorf("reading pull request #%d: %w: it is #%d", it.Number, ErrBadAnswer, pr.GetNumber())
	}
	if b.Comments, b.Timeline, err = c.discussion(ctx, r, it); err != nil {
		return b, err
	}
	for _, part := range []struct {
		to   *[]json.RawMessage
		name string
		skip bool
	}{
		{&b.Commits, "commits", pr.Commits != nil && *pr.Commits == 0},
		{&b.Reviews, "reviews", false},
		{&b.ReviewComments, "comments", pr.ReviewComments != nil && *pr.ReviewComments == 0},
	} {
		if part.skip {
			continue
		}
		if *part.to, err = c.list(ctx, r.path("pulls/%d/%s", it.Number, part.name)); err != nil {
			return b, err
		}
	}
	if b.Edits, err = c.edits(ctx, r, it); err != nil {
		return b, err
	}
	if b.Linked, err = c.linked(ctx, r, b); err != nil {
		return b, err
	}
	b.Origins, b.NoChanges, err = c.blamed(ctx, r, b)
	return b, err
}

// maxBlamed bounds the changes that are looked up for the claims about one change.
const maxBlamed = 20

// blamed reads the changes that the texts name as origins: whether the number is a change's, whether and as which commit it landed.
func (c *Client) blamed(ctx context.Context, r Repository, b Bundle) (pulls []json.RawMessage, none []int, err error) {
	d, err := derivePull(b)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range d.Origins {
		if o.Number == 0 || len(pulls)+len(none) >= maxBlamed {
			continue
		}
		pg, err := c.get(ctx, r.path("pulls/%d", o.Number))
		switch {
		case missing(err):
			none = append(none, o.Number)
		case err != nil:
			return nil, nil, err
		default:
			pulls = append(pulls, pg.body)
		}
	}
	return pulls, none, nil
}

// linked reads the issues of this repository that the change names. What turns out to be a pull request, or is gone, is left out.
func (c *Client) linked(ctx context.Context, r Repository, b Bundle) (out []Linked, err error) {
	numbers, err := named(b)
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		pg, err := c.get(ctx, r.path("issues/%d", n))
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		it, err := itemOf(pg.body)
		if err != nil {
			return nil, err
		}
		if it.Pull || it.Number != n || !it.in(r) {
			continue // a change, or an issue that was moved to another repository
		}
		l := Linked{Number: n, Issue: pg.body}
		if l.Comments, l.Timeline, err = c.discussion(ctx, r, it); err != nil {
			return nil, err
		}
		if l.Edits, err = c.edits(ctx, r, it); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// maxLinked bounds the issues that are looked up for one change: who names more is writing a release note.
const maxLinked = 30

// named lists the local issues of a change: those that its texts close or enumerate, and those that GitHub links.
func named(b Bundle) ([]int, error) {
	texts, err := b.ownTexts()
	if err != nil {
		return nil, err
	}
	self := links.ParseRepo(b.Repo.Name)
	var out []int
	add := func(n int) {
		if n > 0 && !slices.Contains(out, n) && len(out) < maxLinked {
			out = append(out, n)
		}
	}
	for _, t := range texts {
		for _, ref := range links.Issues(t.Text, self) {
			add(ref.Number)
		}
	}
	for _, n := range b.toldLinks() {
		add(n)
	}
	return out, nil
}

// missing tells whether something is not there, which is no failure of the fetch.
func missing(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && (gone(s.Status) || s.Status == http.StatusUnprocessableEntity)
}

// Releases reads releases and tags.
func (c *Client) Releases(ctx context.Context, r Repository) (Bundle, error) {
	b := Bundle{Kind: ReleaseBundle, Repo: r.bare()}
	var err error
	if b.Releases, err = c.list(ctx, r.path("releases")); err != nil {
		return b, fmt.Errorf("listing the releases of %s: %w", r.Name, err)
	}
	if b.Tags, err = c.list(ctx, r.path("tags")); err != nil {
		return b, fmt.Errorf("listing the tags of %s: %w", r.Name, err)
	}
	return b, nil
}

// One reads a single item again, by its number.
func (c *Client) One(ctx context.Context, r Repository, number int) (Item, error) {
	pg, err := c.get(ctx, r.path("issues/%d", number))
	if err != nil {
		return Item{}, err
	}
	it, err := itemOf(pg.body)
	if err == nil && (it.Number != number || !it.in(r)) {
		err = &StatusError{Method: "GET", Path: "/" + r.path("issues/%d", number), Status: http.StatusGone, Message: "moved to another repository"}
	}
	return it, err
}

// Gone tells whether an error says that something is not there, or no longer.
func Gone(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && gone(s.Status)
}

func decodeAll[T any](raws []json.RawMessage) ([]T, error) {
	out := make([]T, len(raws))
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("%w: element %d: %w", ErrBadAnswer, i, err)
		}
	}
	return out, nil
}
