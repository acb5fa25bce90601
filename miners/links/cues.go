package links

import (
	"regexp"
	"slices"
	"strings"
)

// cue is a pattern of words beside a reference. Before is matched against what stands in front of it, after against what
// follows.
type cue struct {
	name   string
	before *regexp.Regexp
	after  *regexp.Regexp
	// stems are in lower case. The text holds one of them wherever the pattern matches: looking for them first is cheap.
	stems []string
	// needs says when the words alone are not enough.
	needs need
}

type need int

const (
	nothing  need = iota
	defect        // the sentence or the title speaks of a defect
	strict        // the same, and it does not speak of something that is out of use since
	blamed        // like defect, or the sentence begins with the words
	changeID      // the reference cannot be an issue: a commit id, or a number that is called a change
)

// lead is what may stand between a preposition and the reference.
const lead = `(?:\s+(?:the|this|that|our|my|a|an|earlier|previous|prior|recent|last|old|original|git|change in|changes in))*` +
	`(?:\s+(?:commits?|revs?|revisions?|changes?|changesets?|patch(?:es)?|sha|hash|work|refactor(?:ing)?|rewrite))?:?\s*` + open + `$`

const open = "[\"'`(\\[<*_]{0,4}"

// named lets the change be described before its reference stands in brackets: "introduced by the new parser (#12)".
const named = `(?:(?:\s+[\w'/.,-]+){0,8}\s*\(\s*(?:see |in )?` + open + `$|` + lead + `)`

func before(name, stems, words, tail string, n need) cue {
	return cue{name: name, stems: strings.Fields(stems), before: regexp.MustCompile(`(?i)\b(?:` + words + `)` + tail), needs: n}
}

// cues are tried in order; the first that fits gives its name.
var cues = []cue{
	before("regression", "regress", `regress(?:ion|ions|ed|es)\b([^.]{0,40})\b(?:from|in|since|by|of|with|after|due to|via)`, lead, nothing),
	before("broke", "brok breaks breakage breaking", `(?:broke|broken|breaks|breakage|breaking)\b[^.]{0,30}\b(?:in|by|since|with|after|from|due to)`, named, nothing),
	before("caused", "caused triggered provoked effect fallout consequence result", `(?:caused|triggered|provoked) by|(?:side[ -]effect|fallout|consequence|result) (?:of|from)`, named, nothing),
	before("introduced", "introduced", `introduced(?:\s+\w+){0,3}\s+(?:in|by|with|from|through|via|during|since|after|as part of)`, named, blamed),
	before("missed", "missed missing forg overlooked left omitted oversight", `(?:missed|missing|forgotten|forgot|overlooked|left[ -]?over|omitted|oversight)\b[^.]{0,20}\b(?:in|from|by|of|during)`, lead, nothing),
	before("defect-in", "bug typo mistake error thinko leak crash race deadlock flaw defect", `(?:bug|typo|mistake|error|thinko|leak|crash|race|deadlock|flaw|defect)s?\s+(?:in|from|of)`, lead, changeID),
	before("follow-up", "follow", `follow(?:ing)?[ -]?(?:up|on)s?(?:[ -](?:fix|change|commit|patch|pr))?[ -]?(?:to|for|of|on|from)?:?`, lead, defect),
	before("amends", "amend", `amend(?:s|ing)?`, lead, nothing),
	before("fixes", "fix amend correct repair", `(?:fix(?:es|ed|up|ing)?|amends?|corrects?|repairs?)(?:\s+up)?(?:\s+(?:for|of|to|on|in))?:?`, lead, changeID),
	before("bisected", "bisect", `bisect\w*\b[^.]{0,40}\b(?:to|at|on|as|is|says?|shows?|blames|finds|found)`, lead, nothing),
	before("culprit", "culprit offending guilty faulty buggy problematic bad", `(?:culprit|offending|guilty|faulty|buggy|problematic|bad)\b(?:\s+(?:commit|change|patch|pr))?(?:\s+(?:is|was|seems to be|being))?:?`, lead, nothing),
	before("partial-revert", "partial", `partial(?:ly)? reverts?(?:\s+of)?`, lead, nothing),
	before("since", "since after as starting", `(?:since|after|as of|starting (?:with|from|in))`, lead, strict),
	{name: "subject", stems: strings.Fields("bro break regress forgot miss overlook failed neglect accident inadvert mistak unintention introduc caus creat add brought"), after: regexp.MustCompile(subject)},
	{name: "bisected", stems: []string{"first bad"}, after: regexp.MustCompile(`^[^.]{0,80}? is the first bad commit`)},
}

// subject is what follows a reference that is said to have done harm.
const subject = `(?i)^[\]"'` + "`" + `)>*_]{0,4}\s*(?:\(\s*(?:"[^"]*"|'[^']*'|[^()]*)\s*\)|"[^"]*"|'[^']*'|“[^”]*”)?,?\s*` +
	`(?:(?:which|that|has|had|have|also|then|actually|probably|unfortunately)\s+){0,3}` +
	`(?:broke|breaks|regressed|forgot|missed|overlooked|failed to|neglected to|accidentally|inadvertently|mistakenly|unintentionally|` +
	`(?:[^.]{0,80}\s)?(?:introduced|caused|created|added|brought)\s+(?:a|an|the|this|that|these|some|two|several)\s+(?:[\w-]+\s+){0,3}` +
	`(?:regressions?|bugs?|leaks?|crash(?:es)?|races?|deadlocks?|breakage|typos?|mistakes?|errors?|panics?|problems?|issues?|failures?)\b)`

// beginsIntroduced knows sentences whose only news is where something came from: its author thinks of a defect.
var beginsIntroduced = regexp.MustCompile(`(?i)^\W*(?:(?:this|it|that|these|the)\s+(?:\w+\s+)?(?:was|were|got|has been)\s+)?(?:originally\s+|first\s+)?introduced\b`)

var (
	trailerLine = regexp.MustCompile(`(?i)^[ \t]*(?:[*-][ \t]+)?(fixes|introduced-(?:by|in)|regress(?:ed|ion)-(?:by|in|of|from)|broken-by|caused-by|bug-introduced-by|fixes-commit)[ \t]*:[ \t]*(?:the[ \t]+)?(?:commits?|rev|PR)?:?[ \t]*` + open + `$`)
	listBetween = regexp.MustCompile(`^["'` + "`" + `)\]>*_]{0,4}\s*(?:,|,?\s*and|&|,?\s*or|/)\s*(?:in\s+|by\s+|the\s+)?(?:commits?\s+)?` + open + `$`)
	notOrigin   = regexp.MustCompile(`(?i)\b(?:cherry[ -]?picked|back[ -]?port(?:ed|s|ing)?|upstream(?:ed)?|reverts?|reverted|reverting|see(?: also)?|closes|closed|duplicate of|depends on|supersedes|replaces|rebased)(?:\s+(?:from|of|as|to|in|by|on|with))?` + lead)
	partialOf   = regexp.MustCompile(`(?i)\bpartial(?:ly)?\s+reverts?(?:\s+of)?` + lead)
	testsOf     = regexp.MustCompile(`(?i)\btests?\b`)
	notClaim    = regexp.MustCompile(`(?i)(?:\b(?:not|never|unrelated|no|without|isn|wasn|rather than|instead of)\b|n['’]t\b)(?:\s+[\w'’-]+){0,3}\s*$`)

	// repair is for titles, trouble for sentences. Both are about words, not about meaning.
	repair  = regexp.MustCompile(`(?i)\b(?:fix\w*|bugs?|bugfix|hotfix|regress\w*|crash\w*|broke\w*|break\w*|repairs?|corrects?|incorrect\w*|panics?|leaks?|races?|typos?|wrong\w*|fail\w*|hangs?|deadlocks?|restores?|avoids?|prevents?|missing|errors?|oops|forgot\w*|miss(?:ed)?|don't|follow[ -]?up fix)\b`)
	trouble = regexp.MustCompile(`(?i)\b(?:bugs?|regress\w*|crash\w*|brok\w*|break\w*|fail\w*|panics?|leak\w*|races?|racy|wrong\w*|incorrect\w*|errors?|hangs?|deadlock\w*|missing|no longer works?|stopped working|does(?:n't| not) work|typos?|problems?|invalid|corrupt\w*|mistake\w*|defects?|faulty|vulnerab\w*|flaky|fix\w*|never|forgot\w*|overlook\w*)\b`)
	unused  = regexp.MustCompile(`(?i)\b(?:unused|unneeded|obsolete\w*|redundant|unnecessary|dead|deprecated|supported|available|superfluous|leftovers?|no longer (?:used|needed|necessary|required|supported|applies|true|valid|relevant)|not (?:needed|used|necessary|required)|can be removed|stale|outdated)\b`)
)

// judge finds the cue that makes the mention a claim, if any. A mention in a list takes the cue of the one in front of it.
func (m *mention) judge(p prose, last *mention) {
	from, _ := p.line(m.start)
	if line := p.lines[max(from, m.start-window):m.start]; strings.Contains(line, ":") && trailerLine.MatchString(line) && m.trailerTarget(line) {
		m.method, m.cue, m.cueStart = Trailer, strings.ToLower(trailerLine.FindStringSubmatch(line)[1]), from
		return
	}
	from, to := p.sentence(m.start, m.end)
	left, right := p.joined[max(from, m.start-window):m.start], p.joined[m.end:min(to, m.end+window)]
	switch {
	case last != nil && last.cue != "" && last.end <= m.start && listBetween.MatchString(p.joined[last.end:m.start]):
		m.method, m.cue, m.cueStart, m.negated = last.method, last.cue, last.cueStart, last.negated
		return
	}
	low := strings.ToLower(left + "\n" + right)
	for _, c := range cues {
		if at := c.match(left, right, low); at != nil && m.satisfies(c.needs, p, p.joined[from:to]) {
			if notOrigin.MatchString(left) && !partialOf.MatchString(left) {
				return
			}
			m.method, m.cue, m.cueStart = Testimony, c.name, m.start-len(left)+at[0]
			if c.after != nil {
				m.cueStart = m.start
			}
			m.negated = notClaim.MatchString(left[:min(at[0], len(left))])
			return
		}
	}
}

// trailerTarget refuses "Fixes: #12", which closes an issue.
func (m *mention) trailerTarget(line string) bool {
	name := strings.ToLower(trailerLine.FindStringSubmatch(line)[1])
	return name != "fixes" || m.sha != "" || strings.Contains(m.external, "@")
}

// match gives the place of the cue's words in left, or an empty place for words that follow.
func (c cue) match(left, right, low string) []int {
	if !slices.ContainsFunc(c.stems, func(s string) bool { return strings.Contains(low, s) }) {
		return nil
	}
	if c.after != nil {
		if c.after.MatchString(right) {
			return []int{len(left), len(left)}
		}
		return nil
	}
	at := c.before.FindStringSubmatchIndex(left)
	if len(at) > 3 && testsOf.MatchString(left[at[2]:at[3]]) {
		return nil // "regression tests for #12"
	}
	return at
}

func (m *mention) satisfies(n need, p prose, sentence string) bool {
	switch n {
	case defect:
		return p.fixes || trouble.MatchString(sentence)
	case strict:
		return (p.fixes || trouble.MatchString(sentence)) && !unused.MatchString(sentence)
	case blamed:
		return p.fixes || trouble.MatchString(sentence) || beginsIntroduced.MatchString(sentence)
	case changeID:
		return m.sha != "" || m.change || strings.Contains(m.external, "@")
	}
	return true
}
