// Package judges decides what structure alone can decide about a pair of changes, and prepares the texts that people, models
// and agents read.
//
// It sees texts and lists, never a repository; what it cannot answer it leaves open, and it never guesses.
package judges

import (
	"regexp"
	"strings"

	"sluice/judges/sanitise"
)

// Statement is a change's own words as a task, without what gives its identity or the future away.
type Statement struct {
	Title   string   `json:"title"`
	Body    string   `json:"body,omitempty"`
	Removed []string `json:"removed,omitempty"` // what was cut, verbatim, in order
}

// Text is the statement as an agent reads it.
func (s Statement) Text() string {
	if s.Body == "" {
		return s.Title
	}
	return s.Title + "\n\n" + s.Body
}

var spaceRun = regexp.MustCompile(`[ \t]+`)

// CleanStatement takes trailers, numbers, commit ids, comments and links to the project's own changes out of a title and body.
// It only deletes.
func CleanStatement(title, body string) Statement {
	head, text := sanitise.NewDraft(title), sanitise.NewDraft(body)
	sanitise.References(head)
	sanitise.LineEnds(text)
	sanitise.Comments(text)
	sanitise.Trailers(text)
	sanitise.References(text)
	sanitise.Tidy(text)
	return Statement{Title: tidyLine(head.Text()), Body: text.Text(), Removed: append(head.Removed(), text.Removed()...)}
}

func tidyLine(s string) string {
	return strings.TrimSpace(strings.TrimRight(spaceRun.ReplaceAllString(s, " "), " :-,"))
}
