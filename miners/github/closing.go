package github

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/go-github/v62/github"
)

// How far from the merge GitHub's closing may be: it follows at once, and clocks differ a little.
const (
	closedBefore = 5 * time.Second
	closedAfter  = 2 * time.Minute
)

// closing decides whether merging the change closed the issue. Words have an effect only on the default branch, and an issue that another
// change closed is not this one's.
func (p pull) closing(says bool, issue Linked) (closes *bool, why string, err error) {
	yes, no := github.Bool(true), github.Bool(false)
	events, err := decodeAll[github.Timeline](issue.Timeline)
	if err != nil {
		return nil, "", fmt.Errorf("reading the timeline of #%d: %w", issue.Number, err)
	}
	switch {
	case slices.ContainsFunc(events, p.closedBy):
		return yes, "a commit of the change closed it", nil
	case !says:
		return no, "only enumerated", nil
	case p.change.Merged == nil:
		return nil, "not known whether it was merged, or it is still open", nil
	case !*p.change.Merged:
		return no, "the change was not merged", nil
	case p.change.Base == "" || p.Repo.DefaultBranch == "":
		return nil, "not known which branch it went to", nil
	case p.change.Base != p.Repo.DefaultBranch:
		return no, "the change did not go to the default branch", nil
	}
	return p.byTime(events)
}

// closedBy tells whether an event closed the issue by a commit of this change.
func (p pull) closedBy(e github.Timeline) bool {
	return e.GetEvent() == "closed" && e.GetCommitID() != "" && slices.Contains(p.commits, e.GetCommitID())
}

// byTime goes by the moments of closing, where no commit is named.
func (p pull) byTime(events []github.Timeline) (*bool, string, error) {
	others, early, late := false, false, false
	for _, e := range events {
		at := e.GetCreatedAt().Time
		switch {
		case e.GetEvent() != "closed":
		case e.GetCommitID() != "":
			others = true
		case at.Before(p.merged.Add(-closedBefore)):
			early = true
		case at.After(p.merged.Add(closedAfter)):
			late = true
		default:
			return github.Bool(true), "it was closed as the change was merged", nil
		}
	}
	switch {
	case others && !late:
		return github.Bool(false), "another change closed it", nil
	case early && !late:
		return github.Bool(false), "it was closed before the change was merged", nil
	case late:
		return nil, "it was closed later than the change was merged", nil
	}
	return nil, "no event says that it was closed", nil
}

// eventLinks are links that no text gives: the issue's events, or GitHub's own list, say so.
func (p pull) eventLinks(have []IssueLink) (out []IssueLink, err error) {
	told := p.toldLinks()
	for _, issue := range p.Linked {
		if slices.ContainsFunc(have, func(l IssueLink) bool { return l.Issue == issue.Number }) {
			continue
		}
		l := IssueLink{Change: p.change, Issue: issue.Number, Strong: true, CutOff: CutOff(p.change.Created), RevertedBy: p.taken}
		if l.Closing, l.Why, err = p.closing(true, issue); err != nil {
			return nil, err
		}
		switch {
		case l.Closing != nil && *l.Closing && l.Why == "a commit of the change closed it":
			l.Method, l.Where = Timeline, "timeline"
		case slices.Contains(told, issue.Number):
			l.Method, l.Where = Manual, "api"
		default:
			continue
		}
		if l.TextStates, err = p.statesOf(issue, l.CutOff); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
