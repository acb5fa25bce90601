package github

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"sluice/miners/links"
)

// Ways in which an issue and a change are linked.
const (
	Keyword        = "keyword"         // the change's text says that it closes the issue, or enumerates it beside one
	Timeline       = "timeline"        // an event of the issue says that a commit of the change closed it
	CrossReference = "cross-reference" // the change mentions the issue
	Manual         = "manual"          // GitHub holds them for linked, and no text says so
)

// Change is what is known of a pull request.
type Change struct {
	Number  int
	SHA     string // of the commit that it landed as; "" unless merged
	Base    string // the branch that it went to
	Merged  *bool  // nil unknown, or still open
	Created time.Time
}

// IssueLink says that a change and an issue belong together, and how that is known.
type IssueLink struct {
	Change     Change
	Issue      int
	External   string // "owner/name#12" for an issue of another repository; Issue is 0 then
	Method     string
	Where      string // body, title, "commit <sha>", timeline, api
	Closing    *bool  // whether merging the change closed the issue; nil unknown
	Why        string // of Closing
	Strong     bool
	Negated    bool
	Quote      string
	Author     string
	At         time.Time
	CutOff     time.Time   // of the statement
	TextStates []TextState // of issue and change at the cut-off; nil when the issue was not read
	RevertedBy int         // a merged change that took this one back as a whole; 0: none is known
}

// Origin says that an earlier change introduced the defect that the change repairs.
type Origin struct {
	links.Claim
	Intro  Change    // the change that Number names, where it was looked up
	Landed time.Time // when Intro was merged; zero unknown
	Change Change
	Merged time.Time // when Change was
	Issue  int       // in whose text it stands; 0: in the change's own
	Where  string
	Author string
	At     time.Time
}

// Report says that a search through history ended at a change.
type Report struct {
	links.FirstBadRef
	Issue   int
	Comment int64 // 0: the issue's own text
	Author  string
	At      time.Time
}

// Derived is what the texts and events of a bundle claim.
type Derived struct {
	Links   []IssueLink
	Origins []Origin
	Reports []Report
}

// Derive reads a bundle. It is pure: the same bundle gives the same result, so that whoever doubts a link can derive it again.
func Derive(b Bundle) (Derived, error) {
	switch b.Kind {
	case PullBundle:
		return derivePull(b)
	case IssueBundle:
		return deriveIssue(b)
	case ReleaseBundle:
		return Derived{}, nil
	}
	return Derived{}, fmt.Errorf("deriving: unknown kind of bundle %q", short(b.Kind))
}

// pull is a bundle of a change, read.
type pull struct {
	Bundle
	self    links.Repo
	change  Change
	merged  time.Time
	commits []string
	named   []int
	taken   int // back, by which change
}

func readPull(b Bundle) (pull, error) {
	var pr github.PullRequest
	if err := json.Unmarshal(b.Pull, &pr); err != nil {
		return pull{}, fmt.Errorf("reading a pull request: %w", err)
	}
	p := pull{Bundle: b, self: links.ParseRepo(b.Repo.Name), change: changeOf(&pr), merged: pr.GetMergedAt().Time}
	commits, err := decodeAll[github.RepositoryCommit](b.Commits)
	if err != nil {
		return pull{}, fmt.Errorf("reading the commits of #%d: %w", pr.GetNumber(), err)
	}
	for _, c := range commits {
		p.commits = append(p.commits, c.GetSHA())
	}
	if p.change.SHA != "" {
		p.commits = append(p.commits, p.change.SHA)
	}
	if p.taken, err = b.revertedBy(p.change.Number); err != nil {
		return pull{}, err
	}
	p.named, err = named(b)
	return p, err
}

// revertedBy goes by the merged changes that mention this one.
func (b Bundle) revertedBy(number int) (int, error) {
	events, err := decodeAll[github.Timeline](b.Timeline)
	if err != nil {
		return 0, fmt.Errorf("reading the timeline of #%d: %w", number, err)
	}
	for _, e := range events {
		from, ok := b.mentionedBy(e)
		if !ok || from.PullRequestLinks.GetMergedAt().IsZero() {
			continue
		}
		if _, n, _, ok := links.RevertOf(from.GetTitle(), from.GetBody()); ok && n == number {
			return from.GetNumber(), nil
		}
	}
	return 0, nil
}

// mentionedBy gives the change of this repository that an event says to mention the item.
func (b Bundle) mentionedBy(e github.Timeline) (from *github.Issue, ok bool) {
	if e.GetEvent() != "cross-referenced" || e.Source == nil || e.Source.Issue == nil || !e.Source.Issue.IsPullRequest() {
		return nil, false
	}
	from = e.Source.Issue
	name := from.GetRepository().GetFullName()
	return from, name == "" || strings.EqualFold(name, b.Repo.Name)
}

func changeOf(pr *github.PullRequest) Change {
	c := Change{Number: pr.GetNumber(), Base: pr.GetBase().GetRef(), Created: pr.GetCreatedAt().Time}
	switch {
	case pr.MergedAt != nil:
		c.Merged, c.SHA = github.Bool(true), pr.GetMergeCommitSHA()
	case pr.GetState() == "open": // it may still be merged
	case pr.Merged != nil:
		c.Merged = pr.Merged
	case pr.GetState() == "closed":
		c.Merged = github.Bool(false) // the key merged_at is there and null, or the change would be merged
	}
	return c
}

func derivePull(b Bundle) (d Derived, err error) {
	p, err := readPull(b)
	if err != nil {
		return d, err
	}
	texts, err := b.ownTexts()
	if err != nil {
		return d, err
	}
	for _, t := range texts {
		for _, ref := range links.Issues(t.Text, p.self) {
			l, ok, err := p.keyword(t, ref)
			if err != nil {
				return d, err
			}
			if ok {
				d.Links = append(d.Links, l)
			}
		}
	}
	told, err := p.eventLinks(d.Links)
	if err != nil {
		return d, err
	}
	d.Links = append(d.Links, told...)
	d.Origins, err = p.origins(texts, d.Links)
	return d, err
}

// keyword makes a link of a reference in one of the change's own texts. A number that is no issue's makes none.
func (p pull) keyword(t Text, ref links.IssueRef) (l IssueLink, ok bool, err error) {
	l = IssueLink{
		Change: p.change, Issue: ref.Number, External: ref.External, Method: Keyword, Where: t.Where, Negated: ref.Negated,
		Quote: ref.Quote, Author: t.Author, At: t.At, CutOff: CutOff(p.change.Created), RevertedBy: p.taken,
	}
	if ref.External != "" {
		l.Why = "an issue of another repository"
		return l, true, nil
	}
	issue, found := p.issue(ref.Number)
	if !found {
		l.Why = "the issue was not read"
		return l, !slices.Contains(p.named, ref.Number), nil
	}
	if l.Closing, l.Why, err = p.closing(ref.Closes, issue); err != nil {
		return l, false, err
	}
	l.Strong = ref.Closes && !ref.Weak && !ref.Negated && (t.Where != "title" || l.Closing != nil && *l.Closing)
	l.TextStates, err = p.statesOf(issue, l.CutOff)
	return l, true, err
}

func (p pull) issue(number int) (Linked, bool) {
	i := slices.IndexFunc(p.Linked, func(l Linked) bool { return l.Number == number })
	if i < 0 {
		return Linked{}, false
	}
	return p.Linked[i], true
}

func (p pull) statesOf(issue Linked, cut time.Time) ([]TextState, error) {
	of, err := issue.states(cut)
	if err != nil {
		return nil, err
	}
	own, err := p.ownStates(cut)
	return append(of, own...), err
}

// origins are the claims of all texts about a merged change, the own ones first, each target once.
func (p pull) origins(own []Text, linked []IssueLink) (out []Origin, err error) {
	if p.change.Merged == nil || !*p.change.Merged {
		return nil, nil
	}
	texts := append([]Text{{own[0].Where, own[0].Text + "\n\n" + own[1].Text, own[1].Author, own[1].At, own[1].Updated}}, own[2:]...)
	texts[0].Where = "body"
	talk, err := p.talk()
	if err != nil {
		return nil, err
	}
	for _, t := range append(texts, talk...) {
		out = p.claims(out, t, 0)
	}
	for _, l := range linked {
		if l.Closing == nil || !*l.Closing {
			continue
		}
		issue, _ := p.issue(l.Issue)
		said, err := issueTexts(fmt.Sprintf("issue %d ", l.Issue), issue.Issue, issue.Comments)
		if err != nil {
			return nil, err
		}
		for _, t := range said {
			out = p.claims(out, t, l.Issue)
		}
	}
	return p.intros(out)
}

// intros reads the changes that were looked up for the claims.
func (p pull) intros(origins []Origin) ([]Origin, error) {
	pulls, err := decodeAll[github.PullRequest](p.Origins)
	if err != nil {
		return nil, fmt.Errorf("reading the changes that #%d names: %w", p.change.Number, err)
	}
	origins = slices.DeleteFunc(origins, func(o Origin) bool { return o.Number > 0 && slices.Contains(p.NoChanges, o.Number) })
	for i := range origins {
		for j := range pulls {
			if origins[i].Number > 0 && pulls[j].GetNumber() == origins[i].Number {
				origins[i].Intro, origins[i].Landed = changeOf(&pulls[j]), pulls[j].GetMergedAt().Time
			}
		}
	}
	return origins, nil
}

// claims adds those of one text. A change is not its own origin, nor is an issue that it closes.
func (p pull) claims(out []Origin, t Text, issue int) []Origin {
	for _, c := range links.Claims(t.Text, p.self) {
		known := func(o Origin) bool { return o.Number == c.Number && o.SHA == c.SHA }
		own := func(sha string) bool { return c.SHA != "" && strings.HasPrefix(sha, c.SHA) }
		_, isIssue := p.issue(c.Number)
		if c.Negated || c.External != "" || c.Number == p.change.Number || isIssue || slices.ContainsFunc(p.commits, own) || slices.ContainsFunc(out, known) {
			continue
		}
		out = append(out, Origin{Claim: c, Change: p.change, Merged: p.merged, Issue: issue, Where: t.Where, Author: t.Author, At: t.At})
	}
	return out
}
