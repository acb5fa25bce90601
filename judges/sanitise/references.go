package sanitise

import (
	"regexp"
	"strings"
	"unicode"
)

// The reasons that rules give.
const (
	Hollow     = "hollow" // nothing but marks and white space were left of it
	Note       = "comment"
	Trailer    = "trailer"
	LinkCut    = "link"
	Number     = "number"
	CommitID   = "commit-id"
	Transcript = "bisect-transcript"
	Verdict    = "verdict"
	Patch      = "patch"
	Revert     = "revert"
	History    = "history" // commits as git log or git show prints them
)

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
	markdownRef = regexp.MustCompile(`\[[^\]\n]*\](\(\s*\))`)
	lineEnd     = regexp.MustCompile(`\r\n`)
)

// LineEnds leaves the newline of each carriage return and newline.
func LineEnds(d *Draft) {
	var spans []Span
	for _, m := range lineEnd.FindAllStringIndex(d.text, -1) {
		spans = append(spans, Span{m[0], m[0] + 1})
	}
	d.Cut(spans, Hollow, ByRule)
}

// Comments takes out HTML comments: hints of templates that nobody sees.
func Comments(d *Draft) { d.CutAll(comment, Note) }

// References takes out links to changes, their numbers and commit ids, and the words that close issues.
func References(d *Draft) { references(d, func(string, Span) bool { return false }) }

// references leaves what is spared: numbers and ids that only look like one.
func references(d *Draft, spared func(text string, s Span) bool) {
	wanted := func(s Span) bool { return !spared(d.text, s) }
	d.CutAll(hostLink, LinkCut)
	d.CutAll(numberTail, Number)
	d.CutAll(closing, Number)
	d.CutIf(bareNumber, Number, wanted)
	d.CutIf(hexID, CommitID, func(s Span) bool { return looksLikeID(d.text[s.Start:s.End]) && wanted(s) })
	var brackets []Span
	for _, m := range markdownRef.FindAllStringSubmatchIndex(d.text, -1) {
		brackets = append(brackets, Span{m[0], m[0] + 1}, Span{m[2] - 1, m[3]})
	}
	d.Cut(brackets, Hollow, ByRule)
}

// looksLikeID: hexadecimal with a letter and a digit in it, which no word and no number is.
func looksLikeID(s string) bool {
	return strings.ContainsAny(s, "abcdef") && strings.ContainsAny(s, "0123456789")
}

// Trailers takes out trailer lines, and the block of "Key: value <address>" lines at the end.
func Trailers(d *Draft) {
	lines := strings.Split(d.text, "\n")
	// From which line on nothing but trailers follows.
	block := len(lines)
	for block > 0 {
		if t := strings.TrimSpace(lines[block-1]); t != "" && !trailerKey.MatchString(t) {
			break
		}
		block--
	}
	d.cutLines(Trailer, func(lines []string, i int) bool {
		t := strings.TrimSpace(lines[i])
		return isTrailer(t) || i >= block && trailerKey.MatchString(t) && strings.Contains(t, "@")
	})
}

func isTrailer(line string) bool {
	for _, re := range trailers {
		if re.MatchString(line) {
			return true
		}
	}
	return false
}

// Tidy takes out what deletions leave behind: blanks at the ends of lines and of the text, lines of marks only, more than one
// empty line in a row.
func Tidy(d *Draft) {
	d.Cut(trailingBlanks(d.text), Hollow, ByRule)
	d.cutLines(Hollow, func(lines []string, i int) bool {
		t := strings.TrimSpace(lines[i])
		return t != "" && strings.Trim(t, "-*+.:,;()[]<> ") == "" && !isRule(t)
	})
	empty := 0
	d.cutLines(Hollow, func(lines []string, i int) bool {
		if strings.TrimRight(lines[i], "\n") != "" {
			empty = 0
			return false
		}
		empty++
		return empty > 1
	})
	front := len(d.text) - len(strings.TrimLeftFunc(d.text, unicode.IsSpace))
	back := len(strings.TrimRightFunc(d.text, unicode.IsSpace))
	d.Cut([]Span{{0, front}, {max(front, back), len(d.text)}}, Hollow, ByRule)
}

func trailingBlanks(text string) []Span {
	var out []Span
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		out = append(out, Span{at + len(strings.TrimRight(bare, " \t")), at + len(bare)})
		at += len(line)
	}
	return out
}

// isRule reports whether a line is a Markdown rule or table border, which structure a text.
func isRule(t string) bool { return len(t) >= 3 && strings.Count(t, string(t[0])) == len(t) }
