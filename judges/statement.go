// Package judges decides what structure alone can decide about a pair of changes, and prepares the texts that people, models
// and agents read.
//
// It sees texts and lists, never a repository; what it cannot answer it leaves open, and it never guesses.
package judges

import (
	"regexp"
	"strings"
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

// ref is one reference to a change, an issue or a commit.
const ref = `(?:\S*[#!]\d+|` + changeLink + `|[0-9a-f]{7,40}|GH-\d+|D\d+)`

// changeLink is a link to a change, an issue or a commit on any forge.
const changeLink = `https?://\S*?/(?:pull|pulls|issues|commit|commits|merge_requests|compare|c|cl|changeset)/\S*`

var (
	// Lines that only machines read, wherever they stand: people write them in the middle of squash messages too.
	trailers = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^[a-z-]+-by:\s.*$`),
		regexp.MustCompile(`(?i)^(?:cc|change-id|reviewed-on|differential revision|pr-url|pull-request|part-of|git-svn-id):\s.*$`),
		regexp.MustCompile(`(?i)^see merge request \S+$`),
		regexp.MustCompile(`(?i)^\(cherry picked from commit [0-9a-f]+\)$`),
		regexp.MustCompile(`(?i)^(?:[-*] )?(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|references|see(?: also)?|bug|issues?|related(?: to)?|` +
			`follow[- ]?up(?: to| for)?|supersedes|reverts|depends on)\s*:?\s+` + ref + `(?:[\s,]+(?:and\s+)?` + ref + `)*\s*(?:\(.*\))?\.?$`),
	}
	trailerKey  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*: \S`)
	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
	numberTail  = regexp.MustCompile(`\s*\((?:[\w.-]+/[\w.-]+)?[#!]\d+\)`)
	closing     = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|see|refs?|issue|pr|pull request)\b:?\s+(?:(?:[\w.-]+/[\w.-]+)?[#!]\d+|GH-\d+)(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?:[#!]\d+))*`)
	hostLink    = regexp.MustCompile(`(?i)\b` + changeLink)
	bareNumber  = regexp.MustCompile(`(?:[\w.-]+/[\w.-]+)?(?:^|\B)[#!]\d+\b|\bGH-\d+\b`)
	hexID       = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	markdownRef = regexp.MustCompile(`\[([^\]\n]*)\]\(\s*\)`)
	blankRun    = regexp.MustCompile(`\n{3,}`)
	spaceRun    = regexp.MustCompile(`[ \t]+`)
)

// CleanStatement takes trailers, numbers, commit ids, comments and links to the project's own changes out of a title and body.
// It only deletes.
func CleanStatement(title, body string) Statement {
	var s Statement
	cut := func(re *regexp.Regexp, text, with string) string {
		return re.ReplaceAllStringFunc(text, func(m string) string {
			s.Removed = append(s.Removed, strings.TrimSpace(m))
			return re.ReplaceAllString(m, with)
		})
	}
	refs := func(text string) string {
		text = cut(hostLink, text, "")
		text = cut(numberTail, text, "")
		text = cut(closing, text, "")
		text = cut(bareNumber, text, "")
		text = cutHex(text, &s.Removed)
		return markdownRef.ReplaceAllString(text, "$1")
	}
	s.Title = tidyLine(refs(title))
	body = strings.ReplaceAll(body, "\r\n", "\n")
	body = cut(comment, body, "")
	body = dropTrailers(body, &s.Removed)
	lines := strings.Split(refs(body), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	s.Body = strings.TrimSpace(blankRun.ReplaceAllString(strings.Join(dropHollow(lines), "\n"), "\n\n"))
	return s
}

// cutHex removes words that look like commit ids: hexadecimal with a letter and a digit in it.
func cutHex(text string, removed *[]string) string {
	return hexID.ReplaceAllStringFunc(text, func(m string) string {
		if !strings.ContainsAny(m, "abcdef") || !strings.ContainsAny(m, "0123456789") {
			return m
		}
		*removed = append(*removed, m)
		return ""
	})
}

// dropTrailers removes trailer lines, and the block of "Key: value <address>" lines at the end.
func dropTrailers(body string, removed *[]string) string {
	var keep []string
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if isTrailer(t) || trailerKey.MatchString(t) && strings.Contains(t, "@") && onlyTrailersAfter(lines[i:]) {
			*removed = append(*removed, t)
			continue
		}
		keep = append(keep, l)
	}
	return strings.Join(keep, "\n")
}

func isTrailer(line string) bool {
	for _, re := range trailers {
		if re.MatchString(line) {
			return true
		}
	}
	return false
}

func onlyTrailersAfter(lines []string) bool {
	for _, l := range lines {
		if t := strings.TrimSpace(l); t != "" && !trailerKey.MatchString(t) {
			return false
		}
	}
	return true
}

// dropHollow removes lines that were only references: a list mark or punctuation is all that is left of them.
func dropHollow(lines []string) []string {
	out := lines[:0]
	for _, l := range lines {
		t := strings.TrimSpace(l)
		if t != "" && strings.Trim(t, "-*+.:,;()[]<> ") == "" && !isRule(t) {
			continue
		}
		out = append(out, l)
	}
	return out
}

// isRule reports whether a line is a Markdown rule or table border, which structure a text.
func isRule(t string) bool { return len(t) >= 3 && strings.Count(t, string(t[0])) == len(t) }

func tidyLine(s string) string {
	return strings.TrimSpace(strings.TrimRight(spaceRun.ReplaceAllString(s, " "), " :-,"))
}
