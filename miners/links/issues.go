package links

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// IssueRef is a reference to an issue that a text claims to close, or that it names next to one.
type IssueRef struct {
	Number   int    `json:"number,omitempty"`   // in the text's own repository
	External string `json:"external,omitempty"` // "owner/name#12" where it is another's; Number is 0 then
	Closes   bool   `json:"closes"`             // a keyword stands right before it; false: only enumerated after one that closes
	Negated  bool   `json:"negated,omitempty"`  // "does not fix #1": hosts close it all the same
	Weak     bool   `json:"weak,omitempty"`     // in a form that hosts may not act on
	Keyword  string `json:"keyword,omitempty"`  // in lower case
	Quote    string `json:"quote"`              // the words, as they stand in the text
}

var (
	keyword = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b`)
	// afterKeyword takes at most one line break: the next paragraph is another matter.
	afterKeyword = regexp.MustCompile(`^[*_]{0,2}[ \t]?(?::[*_]{0,2}[ \t\x01]*(?:\r?\n[ \t]*)?|[ \t\x01]+(?:\r?\n[ \t]*)?|\r?\n[ \t]*)`)
	issueWord    = regexp.MustCompile(`^(?i:(?:the |this )?(?:github )?(?:issue|bug|ticket)s?:?[ \t]+)`)
	listGap      = regexp.MustCompile(`^[\])*_]{0,3}(?:[ \t]*,[ \t]*(?:\r?\n[ \t]*)?(?:and |& )?|[ \t]+(?:and|&|or|\+)[ \t]+|[ \t]*/[ \t]*)`)
	negation     = regexp.MustCompile(`(?i)(?:\b(?:not|never|cannot|without|nor|hardly|would|could|might|may|(?:would|could|should|must) have|instead of|rather than|no longer)|n['’]t|n['’]t have)(?:\s+[\w'-]+){0,2}\s*$`)
	partial      = regexp.MustCompile(`(?i)\b(?:partial(?:ly)?|partly|in part)\s*$`)
)

// window bounds how far around a match the search looks, in bytes.
const window = 200

// Issues lists the issues that a text closes by the rules of GitHub, and those enumerated after them, in the order of their first
// mention and without duplicates. Code, comments of HTML and the quoted title of a reverted change do not count; links to changes are
// left out, and only the first thousand keywords are read. Closing words have an effect only where the change went to the
// default branch, which is for the caller to know.
func Issues(text string, self Repo) []IssueRef {
	masked := mask(text, true)
	var out []IssueRef
	for _, at := range keyword.FindAllStringIndex(masked, maxMentions) {
		if !leftBorder(masked, at[0]) {
			continue
		}
		for _, ref := range self.closing(text, masked, at) {
			out = addIssue(out, ref)
		}
	}
	return out
}

// leftBorder refuses words that only end with the word at i, such as "hot-fix".
func leftBorder(s string, i int) bool {
	return i == 0 || s[i-1] < 0x80 && strings.IndexByte("-./#@", s[i-1]) < 0
}

// closing reads the references after the keyword at a place.
func (r Repo) closing(text, masked string, at []int) []IssueRef {
	rest := cut(masked, at[1])
	gap := afterKeyword.FindString(rest)
	if gap == "" {
		return nil
	}
	words := issueWord.FindString(rest[len(gap):])
	pos := len(gap) + len(words)
	t, n, ok := r.parse(rest[pos:])
	if !ok {
		return nil
	}
	before := sentenceBefore(masked, at[0])
	first := IssueRef{
		Closes: true, Negated: negation.MatchString(before), Keyword: strings.ToLower(text[at[0]:at[1]]),
		Weak: t.weak || words != "" || strings.Contains(gap, string(rune(commentMark))) || partial.MatchString(before),
	}
	var out []IssueRef
	for ; ok; t, n, ok = r.parse(rest[pos:]) {
		pos += n
		if !t.change && t.sha == "" && !strings.Contains(t.external, "@") {
			ref := first
			ref.Number, ref.External, ref.Weak = t.number, t.external, ref.Weak || t.weak
			ref.Quote = text[at[0] : at[1]+pos]
			out = append(out, ref)
		}
		first.Closes = false
		if gap = listGap.FindString(rest[pos:]); gap == "" {
			break
		}
		pos += len(gap)
	}
	return out
}

// cut gives the part of s from i on that a match may cover.
func cut(s string, i int) string { return s[i:min(len(s), i+2*window)] }

// sentenceBefore gives what stands before i in its sentence.
func sentenceBefore(s string, i int) string {
	s = s[max(0, i-window/2):i]
	for _, end := range []string{". ", "! ", "? ", "; ", "\n\n", "\n- ", "\n* ", ".\n"} {
		if j := strings.LastIndex(s, end); j >= 0 {
			s = s[j+len(end):]
		}
	}
	return s
}

// addIssue keeps the first mention's place and the strongest claim.
func addIssue(refs []IssueRef, ref IssueRef) []IssueRef {
	i := slices.IndexFunc(refs, func(o IssueRef) bool { return o.Number == ref.Number && strings.EqualFold(o.External, ref.External) })
	if i < 0 {
		return append(refs, ref)
	}
	if ref.strength() > refs[i].strength() {
		refs[i] = ref
	}
	return refs
}

func (ref IssueRef) strength() int {
	n := 0
	for _, plus := range []bool{!ref.Weak, !ref.Negated, ref.Closes} {
		n *= 2
		if plus {
			n++
		}
	}
	return n
}

// String names the reference: "#12" or "owner/name#12".
func (ref IssueRef) String() string {
	if ref.External != "" {
		return ref.External
	}
	return "#" + strconv.Itoa(ref.Number)
}
