package gharchive

import (
	"time"

	"sluice/miners/links"
)

// Report is a text on an issue's page that states a completed search for the change which broke something. SHA or Number is set.
type Report struct {
	Issue   int
	Comment int64  // 0: the issue's own text
	OnPR    bool   // the page is a pull request's
	SHA     string // 7 to 40 digits in lower case
	Number  int    // of a change; it may turn out to be an issue's
	Cue     string
	Quote   string // exactly as it stands in the text
	Quoted  bool   // in a quotation of somebody else's words
	Author  string
	At      time.Time
}

// statement is a text with who said it and when.
type statement struct {
	text, author string
	at           time.Time
	comment      int64
}

// reports adds a find for every first bad change that a text states.
func (x *extractor) reports(e Event, st statement) {
	if isBot(st.author) {
		return
	}
	if st.at.IsZero() {
		st.at = e.Created
	}
	for _, ref := range links.FirstBad(st.text, links.ParseRepo(e.Repo.Name)) {
		if ref.External != "" {
			x.counts.add(cElsewhere, 1)
			continue
		}
		x.add(Find{Kind: ReportKind, Method: links.Testimony, Report: &Report{
			Issue: e.Issue.Number, Comment: st.comment, OnPR: e.Issue.IsPR != nil && *e.Issue.IsPR, SHA: ref.SHA, Number: ref.Number,
			Cue: ref.Cue, Quote: clip(ref.Quote), Quoted: ref.Quoted, Author: st.author, At: st.at,
		}})
	}
}
