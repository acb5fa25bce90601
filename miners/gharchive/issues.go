package gharchive

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sluice/miners/links"
)

// IssuePR is an issue and the pull request that is said to close it.
type IssuePR struct {
	Issue, PR       int
	External        string // "owner/name#12" for an issue of another repository; Issue is 0 then
	Closing, Merged *bool  // nil unknown
	Strong, Negated bool
	Quote           string
	Where           string // body, "issue <n> body", "comment <id>"
	Author          string
	Base            string // the branch that the change is for
	At              time.Time
	Landed          string // the commit by which git shows that it was merged, where the event does not say so
}

// pullRequest searches the text of a pull request.
func (x *extractor) pullRequest(e Event) {
	pr := e.PR
	if !pr.BodyKnown {
		x.counts.add("body_unknown", 1)
	}
	if e.Action == "closed" && pr.Merged == nil {
		x.counts.add("merged_unknown", 1)
	}
	if pr.Number <= 0 || pr.Body == "" {
		return
	}
	if why := x.screenAll(pr.Title, pr.Body, pr.Author, e.actorOf(pr.Author)); why {
		return
	}
	var closing *bool
	if pr.Base != "" && pr.Default != "" {
		closing = ptr(pr.Base == pr.Default)
	}
	x.closing(e, cutText(pr.Body, x.counts), IssuePR{
		PR: pr.Number, Closing: closing, Merged: pr.Merged, Where: "body", Author: e.actorOf(pr.Author), Base: pr.Base, At: e.Created,
	})
}

// actorOf is who speaks where the author is not named.
func (e Event) actorOf(author string) string {
	if author != "" {
		return author
	}
	return e.Actor
}

func (x *extractor) screenAll(title, body string, authors ...string) (out bool) {
	for _, a := range authors {
		if why := screen(a, title, body); why != "" {
			x.counts.add(why, 1)
			return true
		}
	}
	return false
}

// closing adds a find for every issue that a pull request's text closes. Outside of the default branch the words close nothing.
func (x *extractor) closing(e Event, body string, base IssuePR) {
	asked := false // of git whether it was merged
	for _, ref := range links.Issues(body, links.ParseRepo(e.Repo.Name)) {
		if ref.Number == base.PR {
			continue
		}
		f := base
		if f.Merged == nil && !asked {
			base.Landed, asked = x.landed(e, base.PR), true
		}
		if f.Landed = base.Landed; f.Landed != "" {
			f.Merged = ptr(true)
		}
		f.Issue, f.External = ref.Number, ref.External
		f.Strong, f.Negated, f.Quote = ref.Closes && !ref.Weak && !ref.Negated, ref.Negated, clip(ref.Quote)
		if !ref.Closes {
			f.Closing = ptr(false)
		}
		x.add(Find{Kind: IssuePRKind, Method: Keyword, Issue: &f})
	}
}

// dealt matches statements on an issue's page that name the change which dealt with it. A number that is not called a pull
// request may be an issue's.
var dealt = regexp.MustCompile(`(?i)\b(?:fixed|closed|resolved|addressed|solved|implemented)\s+(?:by|in|with|via|through)\s+(?:the\s+|this\s+)?(?:(?:PR|pull[ -]request)\s*:?\s*#?(\d{1,9})\b|(?:(?:PR|pull[ -]request)\s*:?\s*)?https?://(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/pull/(\d{1,9})\b)`)

// issue searches an issue and the comment on it.
func (x *extractor) issue(e Event) {
	is := e.Issue
	if is.Number <= 0 {
		return
	}
	author, at := e.actorOf(is.Author), is.Created
	is.Body = cutText(is.Body, x.counts)
	if is.IsPR != nil && *is.IsPR {
		if is.Body != "" && !x.screenAll(is.Title, is.Body, author) {
			x.closing(e, is.Body, IssuePR{PR: is.Number, Merged: is.Merged, Where: "body", Author: author, At: e.Created})
		}
	} else if is.Body != "" {
		x.answers(e, statement{is.Body, author, at, 0})
		x.reports(e, statement{is.Body, author, at, 0})
	}
	if c := e.Comment; c != nil && c.Body != "" && e.Action != "deleted" {
		author, c.Body = e.actorOf(c.Author), cutText(c.Body, x.counts)
		if is.IsPR == nil || !*is.IsPR {
			x.answers(e, statement{c.Body, author, c.Created, c.ID})
		}
		x.reports(e, statement{c.Body, author, c.Created, c.ID})
	}
}

// hedge finds what is less than a statement: a question, a suspicion, a wish, a denial.
var hedge = regexp.MustCompile(`(?i)\b(?:may|might|maybe|perhaps|probably|possibly|could|should|would|will|can|cannot|likely|not|never|unless|if|whether|until|once|please|think|hope\w*|seems?|suspect\w*)\b|n['’]t\b|\?`)

// answers adds a find for every change that a text on an issue's page says to have dealt with it.
func (x *extractor) answers(e Event, st statement) {
	if isBot(st.author) {
		return
	}
	text, where := st.text, fmt.Sprintf("issue %d body", e.Issue.Number)
	if st.comment != 0 {
		where = fmt.Sprintf("comment %d", st.comment)
	}
	for _, at := range dealt.FindAllStringSubmatchIndex(text, 20) {
		from, to := sentenceAt(text, at[0], at[1])
		if at[4] >= 0 && !strings.EqualFold(text[at[4]:at[5]], e.Repo.Name) {
			x.counts.add(cElsewhere, 1)
			continue
		}
		if hedge.MatchString(text[from:to]) || quoted(text, at[0]) {
			continue
		}
		digits := at[2:4]
		if digits[0] < 0 {
			digits = at[6:8]
		}
		n, _ := strconv.Atoi(text[digits[0]:digits[1]])
		if n > 0 && n != e.Issue.Number {
			f := IssuePR{Issue: e.Issue.Number, PR: n, Quote: strings.TrimSpace(text[from:to]), Where: where, Author: st.author, At: e.Created}
			x.add(Find{Kind: IssuePRKind, Method: Reference, Issue: &f})
		}
	}
}

// quoted tells whether the line that holds i was quoted from somebody else, who said it first.
func quoted(text string, i int) bool {
	line := text[strings.LastIndexByte(text[:i], '\n')+1:]
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), ">")
}
