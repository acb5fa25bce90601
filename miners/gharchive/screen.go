package gharchive

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// wanted tells by its bytes whether an event may hold a find. It looks at strings whatever their names are, so it must only know
// how the texts look, and it may err on one side only: an event that it refuses has no find. Where letters are written as escapes
// the bytes say nothing.
func (s *scanner) wanted(kind, b []byte) bool {
	blind := s.odd || s.crowded
	switch string(kind) {
	case `"PushEvent"`:
		return blind || s.anyText(b, 40+len("fix "), pushText)
	case `"PullRequestEvent"`:
		return blind || s.anyText(b, len("fix #1"), closingText)
	case `"IssuesEvent"`, `"IssueCommentEvent"`:
		return blind || s.anyText(b, len("fix #1"), issueText)
	}
	return s.odd && bytes.IndexByte(kind, '\\') >= 0 // a type that is written with an escape
}

// searched are the types that hold finds, and unknown pushes, which are counted.
func searched(kind []byte) bool {
	switch string(kind) {
	case `"PushEvent"`, `"PullRequestEvent"`, `"IssuesEvent"`, `"IssueCommentEvent"`:
		return true
	}
	return false
}

// anyText tells whether test accepts one of the document's texts of at least so many bytes.
func (s *scanner) anyText(b []byte, least int, test func(s []byte) bool) bool {
	for _, t := range s.texts {
		if t.to-t.from >= least && test(t.of(b)) {
			return true
		}
	}
	return false
}

// closing finds the quote that closes the string which begins at i.
func closing(b []byte, i int) int {
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote, slash := x^('"'*ones), x^('\\'*ones)
			if m := ((quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		switch {
		case i >= len(b):
			return len(b)
		case b[i] == '"':
			return i
		case b[i] == '\\':
			i += 2
		default:
			i++
		}
	}
}

// pushText tells whether a string may be a message that names a full id after a word of repair or cause.
func pushText(s []byte) bool {
	at := hexRun(s, 40)
	if at < 0 {
		return false
	}
	// The last id may have the only word before it.
	for next := at; next >= 0; {
		at = next
		if next = hexRun(s[at+40:], 40); next >= 0 {
			next += at + 40
		}
	}
	return hasStem(s[:at], pairStems)
}

// hexRun finds the first n hexadecimal digits in a row, looking at every n-th byte only.
func hexRun(s []byte, n int) int {
	for i := n - 1; i < len(s); i += n {
		if !hexDigit[s[i]] {
			continue
		}
		from, to := i, i+1
		for from > 0 && i-from < n-1 && hexDigit[s[from-1]] {
			from--
		}
		for to < len(s) && to-from < n && hexDigit[s[to]] {
			to++
		}
		if to-from >= n {
			return from
		}
	}
	return -1
}

var fold = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

// hasPrefixFold compares without case.
func hasPrefixFold(s []byte, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if fold[s[i]] != word[i] {
			return false
		}
	}
	return true
}

// hasStem looks for one of some beginnings of words, without case.
func hasStem(s []byte, stems []string) bool {
	for i, c := range s {
		if !letter[c] {
			continue
		}
		for _, stem := range stems {
			if fold[c] == stem[0] && hasPrefixFold(s[i:], stem) {
				return true
			}
		}
	}
	return false
}

// letter holds the first letters of all stems.
var letter = table("fFcCrRiIbBhHgGtTpPdDmM")

// closingText tells whether a string may hold a closing keyword with a reference after it.
func closingText(s []byte) bool {
	for i := 0; i+5 < len(s); i++ {
		if !keywordStart[s[i]] {
			continue
		}
		if n := keywordLen(s[i:]); n > 0 && mayRefer(s[i+n:]) {
			return true
		}
	}
	return false
}

var keywordStart = table("fFcCrR")

// keywordLen measures the beginning of a closing keyword.
func keywordLen(s []byte) int {
	for _, stem := range [...]string{"fix", "close", "resolve"} {
		if fold[s[0]] == stem[0] && hasPrefixFold(s, stem) {
			return len(stem)
		}
	}
	return 0
}

// mayRefer tells whether a reference may follow the beginning of a keyword: the rest of it, a gap, some words, and something with
// a number sign, an address or a short form. The gap may hide a comment, which is not looked into.
func mayRefer(s []byte) bool {
	n := 0
	for n < len(s) && n < 2 && (fold[s[n]] == 'e' || fold[s[n]] == 's' || fold[s[n]] == 'd') {
		n++
	}
	s, gap := blankPrefix(s[n:], ":*_")
	if gap == 0 {
		return len(s) > 0 && mayHide(s)
	}
	for {
		if len(s) == 0 {
			return false
		}
		token := s[:tokenLen(s)]
		if mayHide(s) || bytes.IndexByte(token, '#') >= 0 || token[0] == '[' || token[0] == '(' || hasStem(token, refStems) {
			return true
		}
		if !issueWord(token) {
			return false
		}
		s, _ = blankPrefix(s[len(token):], "")
	}
}

var refStems = []string{"http", "gh-"}

// mayHide tells whether a comment, or a character written as an escape, begins here.
func mayHide(s []byte) bool { return s[0] == '<' || bytes.HasPrefix(s, []byte(`\u`)) }

// blankPrefix drops white space, written as escapes where it is not a space, and some signs.
func blankPrefix(s []byte, signs string) (rest []byte, dropped int) {
	n := 0
	for n < len(s) {
		if s[n] == ' ' || bytes.IndexByte([]byte(signs), s[n]) >= 0 {
			n++
			continue
		}
		if s[n] == '\\' && n+1 < len(s) && (s[n+1] == 'n' || s[n+1] == 'r' || s[n+1] == 't' || s[n+1] == 'f') {
			n += 2
			continue
		}
		break
	}
	return s[n:], n
}

// tokenLen measures up to the next blank or escape; one that stands at the beginning counts.
func tokenLen(s []byte) int {
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '\\' {
			return i
		}
	}
	return len(s)
}

// issueWord knows the words that may stand between a keyword and its reference.
func issueWord(token []byte) bool {
	token = bytes.TrimRight(token, ":")
	for _, w := range [...]string{"the", "this", "github", "issue", "issues", "bug", "bugs", "ticket", "tickets"} {
		if len(token) == len(w) && hasPrefixFold(token, w) {
			return true
		}
	}
	return false
}

// issueText tells whether a string may hold what is looked for on an issue's page.
func issueText(s []byte) bool {
	for i := 0; i+5 < len(s); i++ {
		if issueStart[s[i]] && issueWords(s, s[i:]) {
			return true
		}
	}
	return false
}

var issueStart = table("bBfFcCaAsSiIrR")

// issueWords looks at one place of a string.
func issueWords(s, rest []byte) bool {
	switch fold[rest[0]] {
	case 'b':
		return hasPrefixFold(rest, "bisect") && mayPoint(s)
	case 'i':
		return hasPrefixFold(rest, "implemented") && mayName(rest[11:])
	case 'a':
		return hasPrefixFold(rest, "addressed") && mayName(rest[9:])
	case 's':
		return hasPrefixFold(rest, "solved") && mayName(rest[6:])
	case 'f':
		if hasPrefixFold(rest, "first") {
			next, _ := blankPrefix(rest[5:], "-")
			return len(next) > 0 && (fold[next[0]] == 'b' || fold[next[0]] == 'f' || mayHide(next)) && mayPoint(s)
		}
	case 'r':
		if hasPrefixFold(rest, "regress") {
			return mayPoint(s)
		}
	}
	n := keywordLen(rest)
	return n > 0 && (mayRefer(rest[n:]) || mayName(rest[n:]))
}

// mayName tells whether the words "by pull request" or their kin follow the beginning of a word such as "fixed".
func mayName(s []byte) bool {
	for len(s) > 0 && (fold[s[0]] == 'e' || fold[s[0]] == 'd') {
		s = s[1:]
	}
	s, gap := blankPrefix(s, "")
	if len(s) == 0 {
		return false
	}
	if mayHide(s) {
		return true
	}
	for _, w := range [...]string{"by", "in", "with", "via", "through"} {
		if gap > 0 && hasPrefixFold(s, w) {
			next, _ := blankPrefix(s[len(w):], "")
			return len(next) > 0 && (mayHide(next) || hasStem(next[:1], []string{"t", "p", "h"}))
		}
	}
	return false
}

// mayPoint tells whether a text may name a commit or a change.
func mayPoint(s []byte) bool {
	if hexRun(s, 7) >= 0 || bytes.IndexByte(s, '#') >= 0 {
		return true
	}
	for i, c := range s {
		if letter[c] && (hasPrefixFold(s[i:], "http") || hasPrefixFold(s[i:], "gh-") || hasPrefixFold(s[i:], "pr") || hasPrefixFold(s[i:], "pull") || hasPrefixFold(s[i:], "cl") ||
			hasPrefixFold(s[i:], "mr") || hasPrefixFold(s[i:], "merge")) {
			return true
		}
	}
	return false
}
