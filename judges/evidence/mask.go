package evidence

import (
	"regexp"
	"strings"
)

// What stands for what was masked.
const (
	numberMask = "<PR-Number>"
	commitMask = "<Commit-Id>"
	linkMask   = "<Change-Link>"
)

// changeLink is an address of a change, an issue or a commit on the forges and trackers in use.
var changeLink = regexp.MustCompile(`(?i)^https?://\S*?(?:` +
	`/(?:pulls?|issues?|merge_requests|changesets?|changes|tickets?|bugs?|browse|c|cl|r|b)/\S*\d` +
	`|/(?:commits?|compare|tree|blob|raw|rev)/\S*[0-9a-f]{7}` +
	`|show_bug\.cgi\?\S*\d|/\+bug/\d|[?&](?:id|bug|issue|ticket)=\d|/\+/\d|/[DTR]\d+\b)`)

// cues are the words that make a number after them that of a change or an issue. Verbs do so for longer numbers only: people fix 2 bugs.
var (
	cues = wordSet(`pr prs mr mrs cl cls pull pulls request requests issue issues bug bugs bugzilla bz rhbz ticket tickets gh changeset revision
		commit patchset ghsa lp trac jira`)
	verbs = wordSet(`closes close closed fixes fix fixed resolves resolve resolved reverts revert reverted`)
)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// Classes of bytes; 0 is what begins nothing.
const (
	inWord = 1
	figure = inWord | 2
	sign   = 4 // # and !
)

var classes = func() (out [256]byte) {
	for b := range out {
		switch c := byte(b); {
		case isDigit(c):
			out[b] = figure
		case isWord(c):
			out[b] = inWord
		case c == '#' || c == '!':
			out[b] = sign
		}
	}
	return out
}()

// masker walks a text once. It is written by hand: a dozen expressions over every patch cost more than all else.
type masker struct {
	text string
	out  strings.Builder
	from int    // what stands before was written
	last string // the last mask
}

// Mask replaces what gives a change's identity: links to changes, issues and commits, their numbers, and commit ids, full and
// short. Words around them stay.
func Mask(text string) string {
	m := masker{text: text}
	for i := 0; i < len(text); {
		if classes[text[i]] == 0 {
			i++
			continue
		}
		i = m.step(i)
	}
	if m.from == 0 {
		return text
	}
	m.out.WriteString(text[m.from:])
	return m.out.String()
}

// step looks at what begins at i and gives the place after it.
func (m *masker) step(i int) int {
	c := m.text[i]
	switch {
	case (c == 'h' || c == 'H') && linkEnd(m.text, i) > 0:
		return m.put(i, linkEnd(m.text, i), linkMask)
	case (c == '#' || c == '!') && numberSign(m.text, i):
		return m.put(i, digits(m.text, i+1), numberMask)
	case isWord(c):
		return m.word(i)
	}
	return i + 1
}

func (m *masker) put(start, end int, mask string) int {
	m.out.WriteString(m.text[m.from:start])
	m.out.WriteString(mask)
	m.from, m.last = end, mask
	return end
}

// word looks at a run of letters, digits and underscores.
func (m *masker) word(start int) int {
	end := start
	figures := false
	for ; end < len(m.text) && classes[m.text[end]]&inWord != 0; end++ {
		figures = figures || classes[m.text[end]] == figure
	}
	word := m.text[start:end]
	switch {
	case !figures:
	case commitID(word):
		return m.put(start, end, commitMask)
	case (word[0] == 'g' || word[0] == 'I') && commitID(word[1:]): // git describe; Change-Id
		return m.put(start+1, end, commitMask)
	case allDigits(word) && (m.inSeries(start) || cueBefore(m.text, start, len(word))) && !decimal(m.text, end):
		return m.put(start, end, numberMask)
	}
	return end
}

// inSeries reports whether only commas or "and" stand between a masked number and i: "PRs 12, 13 and 14".
func (m *masker) inSeries(i int) bool {
	if m.last != numberMask || i-m.from > 8 {
		return false
	}
	between := strings.TrimSpace(m.text[m.from:i])
	return between != "" && strings.Trim(strings.ReplaceAll(between, "and", ""), ", &/+") == ""
}

// decimal reports whether the digits that end there go on after a point: a version, not a number of a change.
func decimal(text string, end int) bool {
	if end >= len(text) || text[end] != '.' {
		return false
	}
	stop := digits(text, end+1)
	return stop > end+1 && stop <= end+5 && (stop == len(text) || !isWord(text[stop]))
}

// commitID accepts 7 to 40 (or 64) hexadecimal digits, letters and figures among them unless it is of full length.
func commitID(w string) bool {
	if len(w) < 7 || len(w) > 40 && len(w) != 64 || w == "ed25519" {
		return false
	}
	letters, figures := 0, 0
	for i := range len(w) {
		switch c := w[i] | 0x20; {
		case isDigit(w[i]):
			figures++
		case 'a' <= c && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return figures > 0 && letters > 0 || len(w) >= 40
}

// cueBefore reports whether the word before a number makes it one of a change: "PR 12", "issue no. 3", "GH-4".
func cueBefore(text string, i, digits int) bool {
	end := i
	for end > 0 && i-end < 4 && strings.IndexByte(" \t:-#./", text[end-1]) >= 0 {
		end--
	}
	if end == i {
		return false
	}
	start := end
	for start > 0 && end-start < 12 && isLetter(text[start-1]) {
		start--
	}
	word := strings.ToLower(text[start:end])
	if word == "no" || word == "number" || word == "nr" {
		return cueBefore(text, start, digits)
	}
	if start > 0 && isWord(text[start-1]) { // part of a name: VERSION_ISSUE 1
		return false
	}
	return cues[word] || verbs[word] && digits >= 3
}

// numberSign reports whether #12 or !12 begins at i. It leaves out entities such as &#39;, things such as #10px, colours such as #000000,
// and conditions such as x && !386.
func numberSign(text string, i int) bool {
	end := digits(text, i+1)
	if end == i+1 || text[i+1] == '0' || end < len(text) && (isLetter(text[end]) || text[end] == '_') {
		return false
	}
	if before := strings.TrimRight(text[max(0, i-8):i], " "); text[i] == '!' && before != "" {
		switch before[len(before)-1] {
		case '(': // (!12) ends a subject, (!0) is code
			return end > i+2 && end < len(text) && text[end] == ')'
		case '&', '|', '=', '!':
			return false
		}
	}
	return !(i > 0 && text[i-1] == '&' && end < len(text) && text[end] == ';')
}

// linkEnd gives the end of the link to a change that begins at i, 0 without. Punctuation after it is not part of it.
func linkEnd(text string, i int) int {
	rest := text[i:]
	if len(rest) < 12 || !strings.EqualFold(rest[:4], "http") || rest[4] != ':' && rest[5] != ':' {
		return 0
	}
	end := i
	for end < len(text) && text[end] > ' ' && strings.IndexByte("<>()[]\"'`|{}", text[end]) < 0 {
		end++
	}
	link := strings.TrimRight(text[i:end], ".,;:!?")
	if !changeLink.MatchString(link) {
		return 0
	}
	return i + len(link)
}

func digits(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

func allDigits(w string) bool { return digits(w, 0) == len(w) }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isWord(b byte) bool { return b == '_' || isDigit(b) || isLetter(b) }
