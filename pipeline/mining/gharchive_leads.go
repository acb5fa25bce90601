package mining

import (
	"context"
	"fmt"

	"sluice/miners/gharchive"
	"sluice/store"
)

// hourLead is a lead with the event that it comes from.
type hourLead struct {
	store.Lead
	event uint64
}

// sink stores evidence as it comes and collects the leads until their hour is whole.
type sink struct {
	store *store.Store
	leads []hourLead
}

func (k *sink) take(ctx context.Context, evidence []byte, finds []gharchive.Find) error {
	digest, err := k.store.Put(ctx, evidence)
	if err != nil {
		return err
	}
	for _, f := range finds {
		l, err := hourFound(f).lead(digest)
		if err != nil {
			return err
		}
		k.leads = append(k.leads, hourLead{l, f.Event})
	}
	return nil
}

// hourFound gives a find its form as a lead.
func hourFound(f gharchive.Find) Found {
	key, data := "", any(nil)
	switch {
	case f.Pair != nil:
		key, data = fmt.Sprintf("%s..%s", f.Pair.Intro, f.Pair.Fix), hourPair(f.Repo, *f.Pair)
	case f.Issue != nil:
		i := hourIssue(f.Repo, *f.Issue)
		key, data = fmt.Sprintf("%d%s<-%d %s %s %s", i.Issue, i.External, i.PR, f.Method, i.Where, i.phase()), i
	default:
		r := hourReport(f.Repo, *f.Report)
		key, data = fmt.Sprintf("%d %d %s", r.Issue, r.Comment, r.FirstBad), r
	}
	return Found{
		Kind: f.Kind, Repo: f.Repo.Name, Source: GHArchiveSource, Method: f.Method, Line: f.Line, Data: data,
		Key: fmt.Sprintf("%d %s", f.Repo.ID, key), // another repository may come to have the name
	}
}

// hourPair: which of the two came first is for git to say.
func hourPair(r gharchive.Repo, p gharchive.Pair) Pair {
	var git []string
	if p.FromGit {
		git = []string{"commits"}
	}
	return Pair{
		FromGit: git, RepoID: r.ID, Intro: Ref{SHA: p.Intro}, Fix: Ref{SHA: p.Fix}, Cue: p.Cue, Quote: p.Quote, Where: "commit " + p.Fix, Author: p.Author,
		Unknown: []string{"order"}, At: p.At,
	}
}

func hourIssue(r gharchive.Repo, i gharchive.IssuePR) IssuePR {
	var git []string
	if i.Landed != "" {
		git = []string{"merged"}
	}
	return IssuePR{
		FromGit: git, SHA: i.Landed, RepoID: r.ID, Issue: i.Issue, PR: i.PR, Closing: i.Closing, Merged: i.Merged, Confidence: Confidence(i.Strong), Negated: i.Negated,
		Quote: i.Quote, At: i.At, External: i.External, Where: i.Where, Base: i.Base, Author: i.Author,
	}
}

func hourReport(r gharchive.Repo, p gharchive.Report) Report {
	return Report{
		RepoID: r.ID, Issue: p.Issue, Comment: p.Comment, FirstBad: firstBad(p.SHA, p.Number), Cue: p.Cue, Quote: p.Quote, Author: p.Author,
		Quoted: p.Quoted, At: p.At,
	}
}
