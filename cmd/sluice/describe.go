package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/miners/gitrepo"
	"sluice/store"
)

// side is one change of a pair, as results show it.
type side struct {
	Number    int       `json:"number,omitempty"`
	Landing   string    `json:"landing,omitempty"`
	Base      string    `json:"base"`
	Head      string    `json:"head"`
	Title     string    `json:"title"`
	Committed time.Time `json:"committed"`
}

// description is what list and explain say of a candidate before any attempt.
type description struct {
	Type        string      `json:"type"` // "candidate"
	ID          string      `json:"id"`
	Family      string      `json:"family"`
	Repo        string      `json:"repo"`
	State       store.State `json:"state"`
	Stage       string      `json:"stage,omitempty"`
	Code        string      `json:"code,omitempty"`
	Reason      string      `json:"reason,omitempty"`
	Transient   bool        `json:"transient,omitempty"`
	Generation  int         `json:"generation,omitempty"`
	Introducing *side       `json:"introducing,omitempty"` // unknown before a link is
	Fixing      *side       `json:"fixing,omitempty"`
	Method      string      `json:"method,omitempty"` // of the link: trailer, testimony, szz
	Quote       string      `json:"quote,omitempty"`  // that the link rests on
}

// describe reads what a candidate proposes and which link its stages found. It is the one place of the command that
// knows how families of pairs keep these.
func describe(ctx context.Context, s *store.Store, c store.Candidate) (description, error) {
	d := description{
		Type: "candidate", ID: c.ID, Family: c.Family, Repo: c.Repo, State: c.State, Stage: c.Stage, Code: c.Code,
		Reason: c.Reason, Transient: c.Transient, Generation: c.Generation,
	}
	var proposal struct {
		Fix *gitrepo.Change `json:"fix"`
	}
	if err := json.Unmarshal(c.Data, &proposal); err != nil {
		return d, fmt.Errorf("reading the proposal of %s: %w", c.ID, err)
	}
	d.Fixing = newSide(proposal.Fix)
	var link struct {
		Method string          `json:"method"`
		Intro  *gitrepo.Change `json:"intro"`
		Quote  string          `json:"quote"`
	}
	found, err := readEvidence(ctx, s, c.ID, "link", &link)
	if err != nil || !found {
		return d, err
	}
	d.Introducing, d.Method, d.Quote = newSide(link.Intro), link.Method, link.Quote
	return d, nil
}

func newSide(c *gitrepo.Change) *side {
	if c == nil {
		return nil
	}
	return &side{c.Number, string(c.Landing), c.Base, c.Head, c.Title, c.Committed.UTC()}
}

// readEvidence decodes the newest evidence of that name.
func readEvidence(ctx context.Context, s *store.Store, id, name string, v any) (bool, error) {
	e, ok, err := s.LatestEvidence(ctx, id, name)
	if err != nil || !ok {
		return false, err
	}
	b, err := s.Get(ctx, e.Digest)
	if err != nil {
		return false, fmt.Errorf("reading %s of %s: %w", name, id, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("reading %s of %s: %w", name, id, err)
	}
	return true, nil
}

// label names a change for people: "#12 d182caf", "d182caf" or "".
func (s *side) label() string {
	if s == nil {
		return ""
	}
	head := s.Head[:min(7, len(s.Head))]
	if s.Number == 0 {
		return head
	}
	return fmt.Sprintf("#%d %s", s.Number, head)
}
