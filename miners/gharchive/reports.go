package gharchive

import (
	"time"

	"sluice/miners/links"
)

// Report is a text on an issue's page that states a completed search for the commit which broke something.
type Report struct {
	Issue    int
	Comment  int64  // 0: the issue's own text
	OnPR     bool   // the page is a pull request's
	FirstBad string // 7 to 40 digits in lower case
	Cue      string
	Quote    string // exactly as it stands in the text
	Author   string
	At       time.Time
}

// statement is a text with who said it and when.
type statement struct {
	text, author string
	at           time.Time
	comment      int64
}

// reports adds a find for every first bad commit that a text states, but for words that it quotes: their author has a text of his
// own.
func (x *extractor) reports(e Event, st statement) {
	if isBot(st.author) {
		return
	}
	if st.at.IsZero() {
		st.at = e.Created
	}
	for _, ref := range links.FirstBad(st.text, links.ParseRepo(e.Repo.Name)) {
		switch {
		case ref.External != "":
			x.counts.add(cElsewhere, 1)
		case ref.Quoted:
			x.counts.add("quoted_statements", 1)
		case ref.SHA == "":
			x.counts.add("first_bad_numbers", 1)
		default:
			x.add(Find{Kind: ReportKind, Method: Statement, Report: &Report{
				Issue: e.Issue.Number, Comment: st.comment, OnPR: e.Issue.IsPR != nil && *e.Issue.IsPR, FirstBad: ref.SHA,
				Cue: ref.Cue, Quote: clip(ref.Quote), Author: st.author, At: st.at,
			}})
		}
	}
}
