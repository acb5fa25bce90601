package foresight

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"sluice/judges"
	"sluice/miners/gitrepo"
	"sluice/miners/szz"
	"sluice/pipeline/history"
	"sluice/store"
)

// Ledger is what Read needs of a store.
type Ledger interface {
	LatestEvidence(ctx context.Context, candidate, name string) (store.Evidence, bool, error)
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Stored is what the stages left about a candidate, for whoever measures them.
type Stored struct {
	Fix        gitrepo.Change
	Link       *Link  // nil: the candidate did not get so far
	LinkDigest string // of that evidence
	Findings   []judges.Finding
	Examined   bool            // rules have looked, also when they found nothing
	Rulings    []judges.Ruling // of all judges, in the order of the stages
}

// Read collects what a store holds about a candidate of this family.
func Read(ctx context.Context, l Ledger, c store.Candidate) (Stored, error) {
	var s Stored
	p, err := Decode(c)
	if err != nil {
		return s, err
	}
	s.Fix = p.Fix
	if s.LinkDigest, err = read(ctx, l, c.ID, evLink, &s.Link); err != nil || s.Link == nil {
		return s, err
	}
	var written judges.StatementResult
	var notes Annotation
	for _, e := range []struct {
		name string
		into any
	}{{evFindings, &s.Findings}, {evPairRulings, &s.Rulings}, {evWritten, &written}, {evAnnotation, &notes}} {
		digest, err := read(ctx, l, c.ID, e.name, e.into)
		if err != nil {
			return s, err
		}
		s.Examined = s.Examined || e.name == evFindings && digest != ""
	}
	for _, step := range written.Steps {
		if step.Ruling != nil {
			s.Rulings = append(s.Rulings, *step.Ruling)
		}
	}
	s.Rulings = append(s.Rulings, notes.Rulings...)
	return s, nil
}

// read decodes evidence where there is any.
func read(ctx context.Context, l Ledger, candidate, name string, into any) (digest string, err error) {
	e, ok, err := l.LatestEvidence(ctx, candidate, name)
	if err != nil || !ok {
		return "", err
	}
	b, err := l.Get(ctx, e.Digest)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return "", fmt.Errorf("reading the %s of candidate %s: %w", name, candidate, err)
	}
	return e.Digest, nil
}

// Named returns the heads of the changes that the fix's authors name as its origin, the one that counts first, with others only that they
// name in the same way; none when only blame speaks.
func (l Link) Named() []string {
	if l.Intro == nil || l.Method == "szz" {
		return nil
	}
	out := []string{l.Intro.Head}
	for _, t := range l.Claims {
		if t.Method == l.Method && t.Resolved != "" && t.Resolved != l.Intro.Head && !slices.Contains(out, t.Resolved) {
			out = append(out, t.Resolved)
		}
	}
	return out
}

// numbered is the number that the title of a landed change may end with.
var numbered = regexp.MustCompile(`\s*\((?:#|!)\d+\)\s*$`)

// Hide lists the words that tell the origin of a fix: the claims, the subjects that they quote, and the titles of the changes that they
// name.
func (l Link) Hide(idx *gitrepo.Index) []string {
	out := l.quotes()
	for _, t := range l.Claims {
		out = append(out, t.Subject)
		if c, ok := idx.ByCommit(t.Resolved); ok {
			out = append(out, numbered.ReplaceAllString(c.Title, ""))
		}
	}
	return out
}

// Attributions has the rules look at a pair as if blame alone had found it, and returns what they say about its attribution.
func Attributions(ctx context.Context, h *history.History, p Pair, ignored []string) ([]judges.Finding, error) {
	f := &family{Deps: Deps{History: h, Repo: p.Repo}, set: Settings{}.WithDefaults(), memo: szz.NewMemo()}
	task, err := f.judged(ctx, p.Intro)
	if err != nil {
		return nil, err
	}
	moved, err := f.moved(ctx, p.Fix, Link{Intro: &p.Intro, SZZ: szz.Attribution{Lines: p.Lines, Ignored: ignored}})
	if err != nil {
		return nil, fmt.Errorf("looking for moved lines: %w", err)
	}
	var out []judges.Finding
	for _, finding := range judges.Examine(judges.Pair{Task: task, Moved: moved}) {
		if finding.Judge == judges.Attribution {
			out = append(out, finding)
		}
	}
	return out, nil
}
