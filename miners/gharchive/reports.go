package gharchive

import (
	"regexp"
	"strings"
	"time"
)

// Report is a text on an issue's page that states a completed search for the commit which broke something.
type Report struct {
	Issue    int
	Comment  int64  // 0: the issue's own text
	OnPR     bool   // the page is a pull request's
	FirstBad string // 7 to 40 digits in lower case
	Cue      string
	Quote    string // exactly as it stands in the text
	Author   string
	At       time.Time
}

// statement is a text with who said it and when.
type statement struct {
	text, author string
	at           time.Time
	comment      int64
}

const (
	someID = "(?:(?:commit|revision|changeset|change|rev|sha)\\s*:?\\s*)?[\\[(<\"'`*_]{0,4}(?:https?://(?:www\\.)?github\\.com/([\\w.-]+/[\\w.-]+)/(?:commit|commits|pull/\\d+/commits)/|([\\w.-]+/[\\w.-]+)@)?([0-9a-f]{7,40})\\b"
	few    = `(?:[\w'’-]+\s+){0,4}?`
)

// verdicts are the ways in which a completed search is stated. Each has the three groups of someID.
var verdicts = []struct {
	cue  string
	form *regexp.Regexp
}{
	{"first-bad", regexp.MustCompile("(?i)(?:https?://(?:www\\.)?github\\.com/([\\w.-]+/[\\w.-]+)/commit/|\\b([\\w.-]+/[\\w.-]+)@|\\b)([0-9a-f]{7,40})\\b[\\])>\"'`*_]{0,4}[^\\n.?]{0,60}?\\bis\\s+(?:indeed\\s+)?(?:the\\s+)?first\\s+bad\\s+commit\\b")},
	{"first-bad", regexp.MustCompile(`(?i)\bfirst\s+bad\s+commit\b(?:\s*(?:is|was|found|being|at|as)\b|\s*[:=-]|\s*\bthat\s+(?:I|we|git)\s+found\s+(?:is|was))*\s*(?:the\s+|this\s+)?` + someID)},
	{"bisected", regexp.MustCompile(`(?i)\bbisected\s+` + few + `(?:down\s+|back\s+)?to\s+(?:be\s+)?(?:the\s+|this\s+)?(?:following\s+|single\s+|commit\s+)*:?\s*` + someID)},
	{"bisect-found", regexp.MustCompile(`(?i)\bbisect(?:ing|ion)?\b\s+` + few + `(?:found|finds|points?\s+(?:\w+\s+)?(?:to|at)|pointed\s+(?:\w+\s+)?(?:to|at)|pointing\s+(?:to|at)|shows?|showed|blames?|blamed|identif(?:ies|ied)|end(?:s|ed)\s+(?:up\s+)?(?:at|on|with)|leads?\s+to|led\s+(?:\w+\s+)?to|says?|gives?|gave|reveals?|revealed|lands?\s+on|landed\s+on)\s+(?:that\s+)?(?:the\s+|this\s+)?` + few + `:?\s*` + someID)},
	{"introduced", regexp.MustCompile(`(?i)\bregression\s+(?:was\s+|is\s+|has\s+been\s+|got\s+)?introduced\s+(?:by|in|with)\s+(?:the\s+|this\s+)?` + few + someID)},
}

var (
	// hedge finds what is less than a finished search: a range, a suspicion, a question, an instruction.
	hedge = regexp.MustCompile(`(?i)\b(?:between|range|maybe|perhaps|probably|possibly|presumably|might|may\s+be|may\s+have|could|suspects?|suspected|suspicion|guess(?:ing)?|(?:I|we)\s+think|seems?|appears?|likely|not|unsure|don['’]?t|doesn['’]?t|didn['’]?t|isn['’]?t|wasn['’]?t|couldn['’]?t|can['’]?t|cannot|never|one\s+of|either|somewhere|if|should|please|can\s+you|could\s+you|would|haven['’]?t|unless|assum\w+|unclear|looks\s+like|or\s+[0-9a-f]{7,40})\b|\?`)
	// aRange finds an id that is one end of a range.
	rangeAfter  = regexp.MustCompile("^[`\\])>\"'*_]{0,4}\\s*(?:\\.{2,3}|\\^|~\\d|…|(?:and|or|to|through)\\s+[`\\[(<\"'*_]{0,4}[0-9a-f]{7,40}\\b|-\\s?[0-9a-f]{7,40}\\b)")
	rangeBefore = regexp.MustCompile("(?:\\.{2,3}|…|[0-9a-f]{7,40}[`\\])>\"'*_]{0,4}\\s*-\\s?)[`\\[(<\"'*_]{0,4}$")
)

// reports adds a find for every first bad commit that a text states.
func (x *extractor) reports(e Event, st statement) {
	if isBot(st.author) || !mayReport(st.text) {
		return
	}
	text := cutText(st.text, x.counts)
	said := map[string]bool{}
	for _, v := range verdicts {
		for _, at := range v.form.FindAllStringSubmatchIndex(text, 20) {
			id := strings.ToLower(text[at[6]:at[7]])
			if said[id] || !plausible(id) || quoted(text, at[0]) {
				continue
			}
			from, to := sentenceAt(text, at[0], at[1])
			switch {
			case elsewhere(text, at, e.Repo.Name):
				x.counts.add(cElsewhere, 1)
			case hedged(text, v.cue, [4]int{from, at[0], at[1], to}) || rangeAfter.MatchString(text[at[7]:]) || rangeBefore.MatchString(text[max(0, at[6]-60):at[6]]):
				x.counts.add(cHedged, 1)
			default:
				said[id] = true
				x.add(Find{Kind: ReportKind, Method: Statement, Report: &Report{
					Issue: e.Issue.Number, Comment: st.comment, OnPR: e.Issue.IsPR != nil && *e.Issue.IsPR, FirstBad: id,
					Cue: cueOf(v.cue, text), Quote: strings.TrimSpace(text[from:to]), Author: st.author, At: x.moment(st.at, e),
				}})
			}
		}
	}
}

// hedged looks at the sentence. What follows the id in a verdict of git bisect is the commit's own title. at holds where the
// sentence and the match begin, and where they end.
func hedged(text, cue string, at [4]int) bool {
	end := at[3]
	if cue == "first-bad" {
		end = at[2]
	}
	return hedge.MatchString(text[at[0]:end]) || doubt.MatchString(text[at[2]:])
}

var doubt = regexp.MustCompile("^[`\\])>\"'*_]{0,4}\\s*(?:\\(\\?\\)|\\?)")

// moment is when a text was written, or else when the event about it happened.
func (x *extractor) moment(at time.Time, e Event) time.Time {
	if at.IsZero() {
		return e.Created
	}
	return at
}

// cueOf tells a transcript of git bisect from prose.
func cueOf(cue, text string) string {
	if cue == "first-bad" && strings.Contains(text, "git bisect start") {
		return "bisect-log"
	}
	return cue
}

// mayReport is a cheap test before the patterns: each of them needs one of these words.
func mayReport(text string) bool {
	low := strings.ToLower(text)
	return strings.Contains(low, "bisect") || strings.Contains(low, "first") && strings.Contains(low, "bad") || strings.Contains(low, "regression")
}

// plausible refuses numbers and words: dates, counts, "defaced".
func plausible(id string) bool {
	return len(id) == 40 && isFullID(id) || len(id) < 40 && strings.ContainsAny(id, "0123456789") && strings.ContainsAny(id, "abcdef")
}

// quoted tells whether the line that holds i was quoted from somebody else, who said it first.
func quoted(text string, i int) bool {
	line := text[strings.LastIndexByte(text[:i], '\n')+1:]
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), ">")
}
