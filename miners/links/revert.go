package links

import (
	"regexp"
	"strings"
)

var (
	revertLine   = regexp.MustCompile(`^(?i:revert(?:s|ed)?):?\s+["“](.+)["”]\s*(?:\(#\d+\))?$`)
	revertPrefix = regexp.MustCompile(`^(?i:revert(?:\([\w./-]+\))?!?:\s+|revert(?:s|ing)?\s+|back(?:ed)?[ -]?out\s+)(.+)$`)
	thisReverts  = regexp.MustCompile(`(?m)^[ \t]*This reverts (?:commit|changeset|PR|pull request|merge request)s?:?\s+(?:#(\d{1,9})\b|([0-9a-f]{7,40})\b)`)
	revertsRef   = regexp.MustCompile(`(?mi)^[ \t]*reverts?:?[ \t]+([^\s]+)`)
	bareSHA      = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	tailNumber   = regexp.MustCompile(`\s*\(#(\d{1,9})\)$`)
)

// RevertOf tells whether a change takes back another one as a whole, and which: its commit id, its number and its title, as far
// as the text says. The title must say so, or the body must begin with it; a partial revert is none.
func RevertOf(title, body string) (sha string, number int, subject string, ok bool) {
	title = strings.TrimSpace(title)
	body = strings.ReplaceAll(body, "\r\n", "\n")
	quoted := revertLine.FindStringSubmatch(title)
	bare := revertPrefix.FindStringSubmatch(title)
	named := thisReverts.FindStringSubmatchIndex(body)
	switch {
	case quoted != nil:
		subject = quoted[1]
	case bare != nil && named != nil:
		subject = bare[1]
	case bare != nil && refersToChange(bare[1]):
	case named != nil && strings.TrimSpace(body[:named[0]]) == "":
	default:
		return "", 0, "", false
	}
	sha, number = reverted(title, body, named)
	if m := tailNumber.FindStringSubmatch(subject); m != nil {
		subject = strings.TrimSuffix(subject, m[0])
		if number == 0 {
			number, _ = atoi(m[1])
		}
	}
	return sha, number, subject, true
}

// refersToChange tells whether the words after "Revert" begin with an id: "commit abc1234", "#12", "PR 12".
func refersToChange(s string) bool {
	sha, n := changeRef(s)
	return sha != "" || n > 0
}

var refWord = regexp.MustCompile(`^(?i:(?:the\s+)?(?:commit|changeset|rev|pull request|merge request|PR|MR)s?\s+)`)

// changeRef reads an id at the start of s.
func changeRef(s string) (sha string, n int) {
	word := refWord.FindString(s)
	first, _, _ := strings.Cut(s[len(word):], " ")
	first = strings.TrimRight(first, ".,;:)")
	digits := strings.TrimPrefix(first, "#")
	if v, ok := atoi(digits); ok && (digits != first || word != "") && len(digits) < 10 {
		return "", v
	}
	if id := strings.ToLower(first); bareSHA.MatchString(id) && strings.ContainsAny(id, "0123456789") && strings.ContainsAny(id, "abcdef") {
		return id, 0
	}
	return "", 0
}

// reverted finds the ids, the body's before the title's.
func reverted(title, body string, named []int) (sha string, n int) {
	if named != nil {
		if named[2] >= 0 {
			n, _ = atoi(body[named[2]:named[3]])
		} else {
			sha = body[named[4]:named[5]]
		}
	}
	if m := revertsRef.FindStringSubmatch(body); m != nil && n == 0 {
		if i := strings.LastIndexAny(m[1], "#/"); i >= 0 {
			n, _ = atoi(strings.TrimRight(m[1][i+1:], ".,"))
		}
	}
	if m := revertPrefix.FindStringSubmatch(title); m != nil && sha == "" && n == 0 {
		sha, n = changeRef(m[1])
	}
	return sha, n
}
