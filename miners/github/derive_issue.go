package github

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v62/github"

	"sluice/miners/links"
)

func deriveIssue(b Bundle) (d Derived, err error) {
	var is github.Issue
	if err := json.Unmarshal(b.Issue, &is); err != nil {
		return d, fmt.Errorf("reading an issue: %w", err)
	}
	issue := Linked{Number: is.GetNumber(), Issue: b.Issue, Comments: b.Comments, Timeline: b.Timeline, Edits: b.Edits}
	if d.Reports, err = reports(b, issue.Number); err != nil {
		return d, err
	}
	if d.Links, err = closers(b, issue); err != nil {
		return d, err
	}
	mentions, err := crossReferences(b, issue)
	for _, l := range mentions {
		if !slices.ContainsFunc(d.Links, func(o IssueLink) bool { return o.Change.Number == l.Change.Number }) {
			d.Links = append(d.Links, l)
		}
	}
	return d, err
}

func reports(b Bundle, number int) (out []Report, err error) {
	texts, err := issueTexts("", b.Issue, b.Comments)
	if err != nil {
		return nil, err
	}
	self := links.ParseRepo(b.Repo.Name)
	for _, t := range texts {
		for _, f := range links.FirstBad(t.Text, self) {
			if f.External != "" || f.Number == number {
				continue
			}
			r := Report{FirstBadRef: f, Issue: number, Author: t.Author, At: t.At}
			if _, id, ok := strings.Cut(t.Where, "comment "); ok {
				r.Comment, _ = strconv.ParseInt(id, 10, 64)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func closingCommits(events []github.Timeline) (out []string) {
	for _, e := range events {
		sha := e.GetCommitID()
		if e.GetEvent() == "closed" && isSHA(sha) && !slices.Contains(out, sha) {
			out = append(out, sha)
		}
	}
	return out
}

func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// closers links an issue with the changes whose commits closed it.
func closers(b Bundle, issue Linked) (out []IssueLink, err error) {
	for _, c := range b.Closers {
		pulls, err := decodeAll[github.PullRequest](c.Pulls)
		if err != nil {
			return nil, fmt.Errorf("reading the changes of %s: %w", short(c.SHA), err)
		}
		for i := range pulls {
			l := IssueLink{
				Change: changeOf(&pulls[i]), Issue: issue.Number, Method: Timeline, Where: "timeline", Closing: github.Bool(true),
				Why: "commit " + c.SHA + " closed it", Strong: true,
			}
			if l.Change.Merged == nil || !*l.Change.Merged || slices.ContainsFunc(out, func(o IssueLink) bool { return o.Change.Number == l.Change.Number }) {
				continue
			}
			if l, err = dated(l, issue); err != nil {
				return nil, err
			}
			out = append(out, l)
		}
	}
	return out, nil
}

// crossReferences links an issue with the changes of this repository that mention it. A mention closes nothing by itself.
func crossReferences(b Bundle, issue Linked) (out []IssueLink, err error) {
	events, err := decodeAll[github.Timeline](b.Timeline)
	if err != nil {
		return nil, fmt.Errorf("reading the timeline of #%d: %w", issue.Number, err)
	}
	for _, e := range events {
		from, ok := b.mentionedBy(e)
		if !ok {
			continue
		}
		l := IssueLink{
			Change: Change{Number: from.GetNumber(), Created: from.GetCreatedAt().Time}, Issue: issue.Number, Method: CrossReference, Where: "timeline",
			Why: "a mention", Author: e.GetActor().GetLogin(), At: e.GetCreatedAt().Time,
		}
		if !from.PullRequestLinks.GetMergedAt().IsZero() {
			l.Change.Merged = github.Bool(true)
		} else if from.GetState() == "open" {
			l.Change.Merged = github.Bool(false)
		}
		if l, err = dated(l, issue); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func dated(l IssueLink, issue Linked) (IssueLink, error) {
	if l.Change.Created.IsZero() {
		return l, nil
	}
	l.CutOff = CutOff(l.Change.Created)
	var err error
	l.TextStates, err = issue.states(l.CutOff)
	return l, err
}
