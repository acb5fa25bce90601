package foresight

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/store"
)

// minerVersion is part of the mark that says what has been mined: raise it when Propose can propose other candidates.
const minerVersion = 1

// Propose returns a candidate for every change inside the window, oldest first. Screens say later which are out and why:
// what never became a candidate could not be audited.
func Propose(ctx context.Context, h *history.History, repo string, s Settings) ([]store.Candidate, error) {
	changes, _, err := h.Changes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	var inside []gitrepo.Change
	for _, c := range changes {
		if s.contains(c.Committed) {
			inside = append(inside, c)
		}
	}
	if err := h.Preload(ctx, inside); err != nil {
		return nil, fmt.Errorf("reading the changed files: %w", err)
	}
	out := make([]store.Candidate, 0, len(inside))
	for _, c := range inside {
		data, err := json.Marshal(Proposal{Fix: c})
		if err != nil {
			return nil, fmt.Errorf("encoding change %s: %w", c.Head, err)
		}
		out = append(out, store.Candidate{
			ID: pipeline.CandidateID("fs", repo, c.Head), Family: Name, Repo: repo, Data: data, Order: int64(c.Position),
		})
	}
	return out, nil
}

// MineMark names what Propose depends on: a store that holds it as the mark of a repository has nothing new to mine.
func MineMark(tip string, s Settings) string {
	return fmt.Sprintf("v%d %s %s %s", minerVersion, tip, s.Since.UTC().Format(time.RFC3339), s.Until.UTC().Format(time.RFC3339))
}

func (s Settings) contains(t time.Time) bool {
	return (s.Since.IsZero() || !t.Before(s.Since)) && (s.Until.IsZero() || t.Before(s.Until))
}

// outside says of a time that the window does not contain which border it is beyond.
func (s Settings) outside(t time.Time) string {
	const day = "2006-01-02"
	if !s.Since.IsZero() && t.Before(s.Since) {
		return "landed on " + t.UTC().Format(day) + ", before --since " + s.Since.UTC().Format(day)
	}
	return "landed on " + t.UTC().Format(day) + ", not before --until " + s.Until.UTC().Format(day)
}

// Decode reads a candidate's data.
func Decode(c store.Candidate) (Proposal, error) {
	var p Proposal
	if err := json.Unmarshal(c.Data, &p); err != nil {
		return p, fmt.Errorf("decoding the proposal of %s: %w", c.ID, err)
	}
	return p, nil
}
