package links

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// minWords is the least that Blind looks for, in bytes: shorter words stand in any text.
const minWords = 8

// Blind takes out of a text what says where the defect came from: every sentence and every trailer that makes a claim (see Claims),
// also one that is said again, that is negated, or that is about another repository; every other sentence that names the same change,
// but for the title; and every sentence that holds one of the words given, such as the change's title (white space and case do not
// matter, and words of less than eight bytes are passed over). What is left stays as it is, without the gaps.
func Blind(text string, self Repo, words ...string) string {
	text = blind(text, self, words)
	for range mostRounds { // what is left may read as a claim only now that something before it is gone
		if len(Claims(text, self)) == 0 {
			break
		}
		text = blind(text, self, nil)
	}
	return text
}

const mostRounds = 5

func blind(text string, self Repo, words []string) string {
	b := blinder{text: text, gone: make([]bool, len(text))}
	if !botText.MatchString(text) {
		b.claims(newProse(text), self)
	}
	whole := join(text)
	for _, w := range words {
		if fields := strings.Fields(w); len(strings.Join(fields, " ")) >= minWords {
			b.words(whole, fields)
		}
	}
	return b.rest()
}

// blinder marks the bytes of a text that go.
type blinder struct {
	text string
	gone []bool
}

func (b blinder) claims(p prose, self Repo) {
	var all []mention
	var last *mention
	for _, m := range self.mentions(p) {
		m.judge(p, last)
		all = append(all, m)
		last = &m
	}
	title := strings.IndexByte(p.joined, '\n')
	for _, m := range all {
		again := m.start > title && slices.ContainsFunc(all, func(o mention) bool { return o.cue != "" && o.target.same(m.target) })
		switch {
		case m.method == Trailer:
			from, to := paragraph(p.joined, m.start, m.end)
			b.take(from, to)
		case m.cue != "":
			b.sentence(p.joined, min(m.cueStart, m.start), m.end)
		case again:
			b.sentence(p.joined, m.start, m.end)
		}
	}
}

// same reports whether two references name one change. An abbreviated commit id names what it begins.
func (t target) same(o target) bool {
	switch {
	case t.sha != "" && o.sha != "":
		return strings.HasPrefix(t.sha, o.sha) || strings.HasPrefix(o.sha, t.sha)
	case t.external != "" || o.external != "":
		return strings.EqualFold(t.external, o.external)
	}
	return t.number != 0 && t.number == o.number
}

func (b blinder) words(whole string, fields []string) {
	for i := range fields {
		fields[i] = regexp.QuoteMeta(fields[i])
	}
	re, err := regexp.Compile(`(?i)` + strings.Join(fields, `\s+`))
	if err != nil {
		return // too long for an expression: no text repeats it
	}
	for _, at := range re.FindAllStringIndex(whole, maxMentions) {
		b.sentence(whole, at[0], at[1])
	}
}

// sentence takes the sentences that a range touches.
func (b blinder) sentence(s string, start, end int) {
	if b.gone[start] && b.gone[end-1] {
		return // so that a thousand references in one sentence cost no more than one
	}
	from, to := paragraph(s, start, end)
	for i := start - 2; i >= from; i-- {
		if endsSentence(s, i) {
			from = i + 1
			break
		}
	}
	for i := end - 1; i < to; i++ {
		if endsSentence(s, i) {
			to = i + 1
			break
		}
	}
	b.take(from, to)
}

// paragraph gives the borders of the joined lines that hold a range.
func paragraph(s string, start, end int) (from, to int) {
	from = strings.LastIndexByte(s[:start], '\n') + 1
	if to = strings.IndexByte(s[end:], '\n'); to < 0 {
		return from, len(s)
	}
	return from, end + to
}

func (b blinder) take(from, to int) {
	for i := from; i < to; i++ {
		b.gone[i] = true
	}
}

var (
	lineEnds  = regexp.MustCompile(`[ \t]+\n`)
	manyEmpty = regexp.MustCompile(`\n{3,}`)
)

// rest is what was not taken. A gap leaves neither blanks nor empty lines of its own.
func (b blinder) rest() string {
	if !slices.Contains(b.gone, true) {
		return b.text
	}
	var out bytes.Buffer
	for i := 0; i < len(b.text); i++ {
		switch c := b.text[i]; {
		case b.gone[i]:
		case i > 0 && b.gone[i-1] && (c == ' ' || c == '\t') && (out.Len() == 0 || bytes.HasSuffix(out.Bytes(), []byte("\n"))):
			b.gone[i] = true // so that the next blank goes too
		default:
			out.WriteByte(c)
		}
	}
	text := lineEnds.ReplaceAllString(out.String(), "\n")
	return strings.TrimSpace(manyEmpty.ReplaceAllString(text, "\n\n"))
}
