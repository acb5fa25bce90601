package gharchive

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"sluice/miners/links"
)

// Names of the counts that the search makes.
const (
	cBots       = "screened_bot"
	cBackports  = "screened_backport"
	cReverts    = "screened_revert"
	cMerges     = "screened_merge"
	cElsewhere  = "other_repository" // claims about a change or issue of another repository
	cNameless   = "unattributed"     // events without a repository
	cCutTexts   = "long_texts"       // texts of which only the beginning was searched
	cUnsearched = "unsearched"       // events too large to be searched
)

// maxText bounds the work on one text, in bytes. GitHub takes no more than 64 KiB from its users.
const maxText = 256 << 10

// maxQuote bounds a quotation, in bytes.
const maxQuote = 500

// cutText gives the part of a text that is searched.
func cutText(s string, c Counts) string {
	if len(s) <= maxText {
		return s
	}
	c.add(cCutTexts, 1)
	s = s[:maxText]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if len(s) > 0 && s[len(s)-1] >= utf8.RuneSelf {
		s = s[:len(s)-1]
	}
	return s
}

// sentenceAt gives the borders of the sentence around a range; a line break ends one.
func sentenceAt(s string, from, to int) (int, int) {
	start, end := max(0, from-maxQuote/2), min(len(s), to+maxQuote/2)
	for i := from - 1; i >= start; i-- {
		if s[i] == '\n' || i+1 < from && strings.IndexByte(".!?", s[i]) >= 0 && s[i+1] == ' ' {
			start = i + 1
			break
		}
	}
	for i := to; i < end; i++ {
		if s[i] == '\n' {
			end = i
			break
		}
		if strings.IndexByte(".!?", s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' || s[i+1] == '\r') {
			end = i + 1
			break
		}
	}
	for start < from && !utf8.RuneStart(s[start]) {
		start++
	}
	for end > to && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return start, end
}

// lineAt gives the line that holds i, at most maxQuote bytes before and after it.
func lineAt(s string, i int) string {
	start, end := max(0, i-maxQuote), min(len(s), i+maxQuote)
	if at := strings.LastIndexByte(s[start:i], '\n'); at >= 0 {
		start += at + 1
	}
	if at := strings.IndexByte(s[i:end], '\n'); at >= 0 {
		end = i + at
	}
	return s[start:end]
}

var (
	backportTitle = regexp.MustCompile(`(?i)\bback[ -]?port|\bcherry[ -]?pick|^\s*\[(?:release[-/ ])?v?\d+(?:\.(?:\d+|x))+\]|\(v?\d+(?:\.(?:\d+|x))+ backport\)`)
	updateTitle   = regexp.MustCompile(`(?i)^(?:\W*\w*(?:\([\w./-]+\))?!?:\s*)?(?:bump|update dependency|upgrade dependency|update [\w@./-]+ (?:digest|docker tag|to v?\d)|pin dependenc|lock file maintenance)\b`)
	mergeTitle    = regexp.MustCompile(`^Merge (?:branch|remote|pull|commit|tag|[0-9a-f]{7,40}\b|\w+ into)`)
	botBody       = regexp.MustCompile(`\b[Bb]umps (?:the )?\[?[\w@./-]+\]?.{0,200}? (?:group|from|with)\b|(?i:renovate(?:bot)?\.com|(?:Signed-off-by|Co-authored-by): (?:dependabot|renovate))`)
)

// screen names the reason for which a change is out before its text is searched, "" for none.
func screen(author, title, body string) string {
	switch {
	case isBot(author), updateTitle.MatchString(title), mayBeBot(body) && botBody.MatchString(body):
		return cBots
	case mergeTitle.MatchString(title):
		return cMerges
	case backportTitle.MatchString(title):
		return cBackports
	}
	if _, _, _, ok := links.RevertOf(title, body); ok {
		return cReverts
	}
	return ""
}

// mayBeBot is a quick test: a text that botBody matches has one of these.
func mayBeBot(s string) bool {
	return strings.Contains(s, "umps ") || hasStem([]byte(s), []string{"renovate", "dependabot"})
}

// titleOf splits a commit message.
func titleOf(message string) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimLeft(message, "\r\n \t"), "\n")
	return strings.TrimSpace(title), body
}
