package links

import (
	"regexp"
	"slices"
	"strings"
)

// FirstBadRef is a statement that a search through history ended at one change: a completed localisation. Exactly one of SHA,
// Number and External is set.
type FirstBadRef struct {
	SHA      string `json:"sha,omitempty"`    // 7 to 40 hexadecimal digits in lower case
	Number   int    `json:"number,omitempty"` // of a change; it may turn out to be an issue's
	External string `json:"external,omitempty"`
	Cue      string `json:"cue"`
	Quote    string `json:"quote"`            // the sentence or the line, exactly as it stands in the text
	Quoted   bool   `json:"quoted,omitempty"` // it stands in a quotation of somebody else's words ("> …")
}

// FirstBad lists the completed localisations of a report or a comment, in the order of the text and without duplicates:
// "<sha> is the first bad commit", "first bad commit: <sha>", "bisected to <sha>", "regression introduced by <sha>", the verdict of a
// git bisect log. Fenced code counts, since that is where people put the log.
//
// Left out are ranges, suspicions ("might be", a question), denials, plans to bisect, and ids that nobody says anything about. Whether a
// statement is credible, and whether a later one takes it back, is for the caller. It does nothing but look for three words in texts that
// hold none of them.
func FirstBad(text string, self Repo) []FirstBadRef {
	if !speaksOfBad(strings.ToLower(text)) || botText.MatchString(text) {
		return nil
	}
	p := newReport(text)
	var out []FirstBadRef
	var last *mention
	for _, m := range self.mentions(p) {
		if last != nil && last.cue != "" && alternative.MatchString(p.joined[last.end:m.start]) {
			out = dropTarget(out, last.target) // "bisected to A or B" is a range of two
			last = nil
			continue
		}
		m.localise(p)
		if m.cue != "" {
			out = addFirstBad(out, m.firstBad(p))
		}
		last = &m
	}
	return out
}

// badStems are in lower case. A text without one of them holds no statement, and is left after a search that is cheaper than a pattern.
var badStems = []string{"bisect", "first bad", "first-bad", "first broken", "first-broken", "first fail", "first-fail", "first fault", "first-fault", "regress"}

func speaksOfBad(low string) bool {
	return slices.ContainsFunc(badStems, func(stem string) bool { return strings.Contains(low, stem) })
}

var alternative = regexp.MustCompile(`^["'` + "`" + `)\]>*_]{0,4}\s*,?\s*or\s+(?:in\s+|by\s+|to\s+)?(?:commits?\s+)?` + open + `$`)

// newReport prepares a text of which code is a part: only comments of HTML are hidden, and lines of code stay lines.
func newReport(text string) prose {
	code := mask(text, false)
	lines := []byte(text)
	for _, at := range htmlComment.FindAllStringIndex(text, -1) {
		for i := at[0]; i < at[1]; i++ {
			if code[i] == commentMark {
				lines[i] = commentMark
			}
		}
	}
	p := prose{text: text, lines: string(lines)}
	joined := []byte(join(p.lines))
	for start := 0; start < len(lines); {
		end := len(lines)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		if end < len(lines) && (strings.IndexByte(code[start:end], codeMark) >= 0 || ownLine.Match(lines[start:end])) {
			joined[end] = '\n'
		}
		if start > 0 && ownLine.Match(lines[start:end]) {
			joined[start-1] = '\n'
		}
		start = end + 1
	}
	p.joined = string(joined)
	return p
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	// ownLine matches lines of the output and the log of git bisect, and lines that are quoted.
	ownLine = regexp.MustCompile(`^(?:#|[ \t]*>|git bisect|[0-9a-f]{7,40} is the first|commit [0-9a-f]{40}|(?:Author|Date|Merge):)`)
)

// localisers are the words before a reference, tried in order. What stands between the words and the reference must not be a limit of a
// range.
var localisers = []struct {
	name   string
	before *regexp.Regexp
	stem   string // in lower case; stands in the words
	bisect bool   // only where the sentence speaks of a bisection
}{
	{"first-bad", regexp.MustCompile(`(?i)\bfirst[ -](?:bad|broken|faulty|failing) (?:git )?(?:commit|revision|rev|change|changeset|patch|pr|merge)(?:\s+(?:is|was|being|i found is|i found was))?\s*(?:[:=]|->|=>)?` + named), "first", false},
	{"bisected", regexp.MustCompile(`(?i)\bbisect(?:ed|ing|ion|s)?\b[^.\n]{0,60}?\b(?:to|at|on|as|is|was|found|finds|identif(?:ied|ies)|blame[sd]?|says|said|shows?|showed|gave|gives|yield(?:s|ed)|names?|named|revealed|reveals|returned|returns|reports?|reported|landed|confirms?|confirmed)` + named), "bisect", false},
	{"regression", regexp.MustCompile(`(?i)\bregress(?:ion|ions|ed|es)\b[^.\n]{0,40}?\b(?:introduced|caused|started|starts|began|created|brought in|came)\b[^.\n]{0,12}?\b(?:in|by|with|from|through|via|since|after)` + named), "regress", false},
	{"regressed", regexp.MustCompile(`(?i)\b(?:regressed (?:in|by|with|since|due to)|regressed commit:?|regressing (?:commit|change|pr):?)` + named), "regress", false},
	{"bisected", regexp.MustCompile(`(?i)\b(?:introduced (?:in|by|with)|caused by|broken (?:in|by|since)|(?:culprit|offending commit|bad commit|guilty commit) (?:is|was|seems to be)|started (?:with|in|at|after))` + named), "", true},
}

var (
	// isFirstBad is what may follow a reference.
	isFirstBad = regexp.MustCompile(`^[\]"'` + "`" + `)>*_]{0,4}\s*(?:\([^()\n]*\)|"[^"\n]*"|'[^'\n]*'|“[^”\n]*”)?,?\s*(?i:(?:is|was|as|being|to be)\s+(?:the|a)\s+first[ -](?:bad|broken|faulty|failing)\b)`)
	// verdict is git's own line, which admits no doubt.
	verdict = regexp.MustCompile(`(?m)^(?:[ \t>]*#[ \t]*first bad commit: \[|[ \t>]*[0-9a-f]{7,40} is the first bad commit)`)
	// doubt stands before the words: a suspicion, a denial, a plan, a condition.
	doubt = regexp.MustCompile(`(?i)(?:\b(?:may|might|maybe|perhaps|possibly|probably|presumably|likely|suspect\w*|guess\w*|seem(?:s|ed|ingly)?|appear(?:s|ed)?|appears|could|think|thought|believe|assume|assuming|not|never|cannot|unsure|unclear|wonder\w*|whether|if|unless|try|tried|trying|will|going to|need(?:s|ed)? to|should|would|please|want|hard to|unable|unlikely|no idea|failed to|somewhere|between|range|one of|any of|either|around|roughly|approximately)\b|n['’]t\b)`)
	// limits are what makes two references a range, or a step of the search that is not its end.
	limits  = regexp.MustCompile(`(?i)\b(?:between|range|from|good|start|skip(?:ped)?|any of|one of|either|somewhere|around|not|never|likely|probably|maybe|perhaps|seem\w*|might|may|could|unclear)\b|\.\.`)
	rangeOn = regexp.MustCompile(`^["'` + "`" + `)\]>*_]{0,4}(?:\.\.|…|\s*(?:-{1,2}|–|—|to|through|until)\s*` + open + `[0-9a-f]{7,40}\b)`)
)

// localise finds the words that make the mention a completed localisation, if any.
func (m *mention) localise(p prose) {
	from, to := p.line(m.start)
	first, last := p.sentence(m.start, m.end)
	if !speaksOfBad(strings.ToLower(p.text[min(from, first):max(to, last)])) {
		return
	}
	if strings.HasSuffix(p.joined[:m.start], "..") || rangeOn.MatchString(p.joined[m.end:min(len(p.joined), m.end+window)]) {
		return
	}
	if at := verdict.FindStringIndex(p.text[from:to]); at != nil && from+at[0] <= m.start && m.start <= from+at[1]+1 {
		m.cue, m.cueStart, m.method = "first-bad", from, Trailer
		return
	}
	from, to = first, last
	if strings.HasSuffix(strings.TrimSpace(p.joined[from:to]), "?") {
		return
	}
	left, right := p.joined[from:m.start], p.joined[m.end:to]
	if isFirstBad.MatchString(right) && !doubt.MatchString(left) {
		m.cue, m.cueStart = "first-bad", m.start
		return
	}
	low, bisected := strings.ToLower(left), strings.Contains(strings.ToLower(left+right), "bisect")
	for _, l := range localisers {
		if l.bisect && !bisected || !strings.Contains(low, l.stem) {
			continue
		}
		at := l.before.FindStringIndex(left)
		if at == nil {
			continue
		}
		if doubt.MatchString(left[:at[0]]) || limits.MatchString(left[at[0]:at[1]]) {
			return
		}
		m.cue, m.cueStart = l.name, from+at[0]
		return
	}
}

func (m mention) firstBad(p prose) FirstBadRef {
	f := FirstBadRef{SHA: m.sha, Number: m.number, External: m.external, Cue: m.cue}
	from, to := p.sentence(m.cueStart, m.end)
	if m.method == Trailer {
		from, to = p.line(m.start)
	}
	f.Quote = strings.TrimSpace(p.text[from:to])
	start, _ := p.line(m.start)
	f.Quoted = strings.HasPrefix(strings.TrimLeft(p.text[start:m.start], " \t"), ">")
	return f
}

func (f FirstBadRef) same(o FirstBadRef) bool {
	return f.Number == o.Number && f.SHA == o.SHA && strings.EqualFold(f.External, o.External)
}

// addFirstBad keeps the first statement about each target, but one's own words before quoted ones. A short id of a known one is the same.
func addFirstBad(refs []FirstBadRef, f FirstBadRef) []FirstBadRef {
	i := slices.IndexFunc(refs, func(o FirstBadRef) bool {
		return f.same(o) || f.SHA != "" && o.SHA != "" && (strings.HasPrefix(f.SHA, o.SHA) || strings.HasPrefix(o.SHA, f.SHA))
	})
	if i < 0 {
		return append(refs, f)
	}
	if len(f.SHA) > len(refs[i].SHA) {
		refs[i].SHA, refs[i].Quote = f.SHA, f.Quote
	}
	if refs[i].Quoted && !f.Quoted {
		f.SHA = refs[i].SHA
		refs[i] = f
	}
	return refs
}

func dropTarget(refs []FirstBadRef, t target) []FirstBadRef {
	return slices.DeleteFunc(refs, func(f FirstBadRef) bool {
		return f.same(FirstBadRef{Number: t.number, SHA: t.sha, External: t.external})
	})
}
