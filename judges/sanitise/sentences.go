package sanitise

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ownLine is a line that begins something new: a list item, a heading, a quotation, a table's row.
var ownLine = regexp.MustCompile(`^\s*(?:[-*+•]\s|\d+[.)]\s|#+\s|>|\|)`)

// sentences cuts a text where people end sentences, and where paragraphs, list items and lines with a colon at their end do. Lines of
// code are one each.
func sentences(text string) []Span {
	var out []Span
	fenced, short := false, false
	start, at := 0, 0 // of the passage that is read, of the line
	end := func(to int) {
		out = append(out, within(text, start, to)...)
		start = to
	}
	for line := range strings.Lines(text) {
		next := at + len(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case fenceLine.MatchString(line):
			end(at)
			fenced = !fenced
			start = next // a fence is no sentence
		case fenced:
			start = at
			out = append(out, Span{at, next})
			start = next
		case trimmed == "":
			end(at)
			start = next
		default:
			if ownLine.MatchString(line) || short && startsUpper(trimmed) {
				end(at)
			}
			if strings.HasSuffix(trimmed, ":") {
				end(next)
			}
		}
		short = len(trimmed) < wrapped
		at = next
	}
	end(at)
	return out
}

// wrapped is how long a line is, in bytes, that was broken where its sentence went on. A shorter one that an upper-case letter follows
// ended by itself.
const wrapped = 50

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// within cuts one passage.
func within(text string, from, to int) []Span {
	var out []Span
	start := from
	for i := from; i < to; i++ {
		if c := text[i]; c != '.' && c != '!' && c != '?' {
			continue
		}
		j := i + 1
		for j < to && strings.IndexByte(".!?\"')]*_", text[j]) >= 0 {
			j++
		}
		k := j
		for k < to && (text[k] == ' ' || text[k] == '\n' || text[k] == '\t') {
			k++
		}
		r, _ := utf8.DecodeRuneInString(text[k:to])
		if k == to || k > j && !unicode.IsLower(r) {
			out = append(out, Span{start, j})
			start = k
		}
		i = j - 1
	}
	if start < to {
		out = append(out, Span{start, to})
	}
	return out
}

// cutSentences takes out the sentences that are wanted.
func (d *Draft) cutSentences(reason string, wanted func(sentence string) bool) {
	var spans []Span
	for _, s := range sentences(d.text) {
		if wanted(d.text[s.Start:s.End]) {
			spans = append(spans, s)
		}
	}
	d.Cut(spans, reason, ByRule)
}
