package mining

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sluice/miners/github"
	"sluice/store"
)

// githubFound derives the leads of a bundle.
func githubFound(b github.Bundle) ([]Found, error) {
	d, err := github.Derive(b)
	if err != nil {
		return nil, err
	}
	var out []Found
	add := func(kind, method, key string, data any) {
		key = fmt.Sprintf("%s %d %s", b.Repo.Host, b.Repo.ID, key) // another repository may come to have the name
		out = append(out, Found{Kind: kind, Repo: b.Repo.Name, Source: GitHubSource, Method: method, Key: key, Data: data})
	}
	for _, l := range d.Links {
		data := issuePR(b, l)
		add(store.IssuePRLead, l.Method, fmt.Sprintf("%d %d%s %s %s %s", l.Change.Number, l.Issue, l.External, l.Method, l.Where, data.phase()), data)
	}
	for _, o := range d.Origins {
		add(store.PairLead, o.Method, fmt.Sprintf("%d %d%s %s", o.Change.Number, o.Number, o.SHA, o.Change.SHA), pairOf(b, o))
	}
	for _, r := range d.Reports {
		bad := firstBad(r.SHA, r.Number)
		add(store.ReportLead, TestimonyMethod, fmt.Sprintf("%d %d %s", r.Issue, r.Comment, bad), Report{
			Host: b.Repo.Host, RepoID: b.Repo.ID, Issue: r.Issue, Comment: r.Comment, FirstBad: bad, Cue: r.Cue, Quote: r.Quote, Author: r.Author, Quoted: r.Quoted, At: r.At,
		})
	}
	return out, nil
}

func issuePR(b github.Bundle, l github.IssueLink) IssuePR {
	p := IssuePR{
		Host: b.Repo.Host, RepoID: b.Repo.ID, Issue: l.Issue, PR: l.Change.Number, Closing: l.Closing, Merged: l.Change.Merged, Confidence: Confidence(l.Strong),
		Negated: l.Negated, Quote: l.Quote, At: l.At, External: l.External, Where: l.Where, Why: l.Why, Base: l.Change.Base,
		SHA: l.Change.SHA, Author: l.Author, CutOff: l.CutOff, RevertedBy: l.RevertedBy,
	}
	for _, t := range l.TextStates {
		p.Texts = append(p.Texts, TextState(t))
	}
	return p
}

func pairOf(b github.Bundle, o github.Origin) Pair {
	p := Pair{
		Host: b.Repo.Host, RepoID: b.Repo.ID, Intro: Ref{SHA: o.SHA, Number: o.Number}, Fix: Ref{SHA: o.Change.SHA, Number: o.Change.Number}, Issue: o.Issue,
		Cue: o.Cue, Quote: o.Quote, Where: o.Where, Author: o.Author, At: o.At,
	}
	switch {
	case o.Number == 0:
		p.Unknown = []string{"order"} // only git knows
	case o.Intro.Number == 0:
		p.Unknown = []string{"change", "merged", "order"}
	case o.Landed.IsZero():
		p.Unknown = []string{"merged", "order"}
	default:
		p.Intro.SHA = o.Intro.SHA
		if !o.Landed.Before(o.Merged) {
			p.Unknown = []string{"order"} // the origin would have landed after its repair
		}
	}
	return p
}

// ErrMismatch: a stored lead does not follow from its evidence.
var ErrMismatch = errors.New("the lead does not follow from its evidence")

// VerifyGitHub derives the leads of a repository ("" for all) again from their evidence, without any network, and returns one error for
// each that does not come out as it is stored: ErrMismatch (an instance once carried another change's issue: SWE-bench issue 255). The last
// result is for what could not be looked at.
func VerifyGitHub(ctx context.Context, s *store.Store, repo string) (checked int, wrong []error, err error) {
	leads, err := s.Leads(ctx, store.LeadFilter{Repo: repo, Source: GitHubSource})
	if err != nil {
		return 0, nil, err
	}
	slices.SortStableFunc(leads, func(a, b store.Lead) int { return bytes.Compare([]byte(a.Evidence), []byte(b.Evidence)) })
	var v verifier
	for _, l := range leads {
		if err := ctx.Err(); err != nil {
			return checked, wrong, err
		}
		if err := v.verify(ctx, s, l); err != nil {
			wrong = append(wrong, err)
		}
		checked++
	}
	return checked, wrong, nil
}

// verifier keeps the evidence that it read last.
type verifier struct {
	digest string
	lines  [][]byte
	line   int
	found  []store.Lead // of that line
}

func (v *verifier) verify(ctx context.Context, s *store.Store, l store.Lead) error {
	if l.Evidence != v.digest || v.lines == nil {
		data, err := s.Get(ctx, l.Evidence)
		if err != nil {
			return fmt.Errorf("verifying %s: %w", l.ID, err)
		}
		v.digest, v.lines, v.line = l.Evidence, bytes.Split(data, []byte("\n")), 0
	}
	if l.Line != v.line {
		v.line, v.found = 0, nil
		if l.Line < 1 || l.Line > len(v.lines) {
			return fmt.Errorf("verifying %s: %w: there is no line %d", l.ID, ErrMismatch, l.Line)
		}
		found, err := derive(v.lines[l.Line-1], l.Evidence)
		if err != nil {
			return fmt.Errorf("verifying %s: %w", l.ID, err)
		}
		v.line, v.found = l.Line, found
	}
	for _, f := range v.found {
		if f.ID != l.ID {
			continue
		}
		if f.Kind != l.Kind || f.Repo != l.Repo || f.Method != l.Method || !bytes.Equal(f.Data, l.Data) {
			return fmt.Errorf("verifying %s: %w: it gives %s", l.ID, ErrMismatch, f.Data)
		}
		return nil
	}
	return fmt.Errorf("verifying %s: %w: it gives no such lead", l.ID, ErrMismatch)
}

func derive(line []byte, evidence string) ([]store.Lead, error) {
	var b github.Bundle
	if err := json.Unmarshal(line, &b); err != nil {
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	found, err := githubFound(b)
	if err != nil {
		return nil, err
	}
	leads := make([]store.Lead, 0, len(found))
	for _, f := range found {
		l, err := f.lead(evidence)
		if err != nil {
			return nil, err
		}
		leads = append(leads, l)
	}
	return leads, nil
}
