package sanitise

import (
	"regexp"
	"strings"
)

// Answer is what the report must not give away, as far as it is known. Every part may be empty.
type Answer struct {
	Commits []string // full ids of the culprit and of the fix
	Numbers []int    // of the changes that they landed with
}

// Report takes out of a regression report what names its culprit or its fix: transcripts of bisections and commits as git prints
// them, verdicts, patches, reverts, then links, numbers and ids of any change. Frames of a stack, addresses and the like stay.
func Report(text string, answer Answer) *Draft {
	d := NewDraft(text)
	LineEnds(d)
	Comments(d)
	transcripts(d)
	patches(d)
	d.cutSentences(Verdict, verdict)
	d.cutSentences(Revert, reverts)
	Trailers(d)
	d.CutAll(subject, CommitID)
	d.CutAll(titled, LinkCut)
	d.CutAll(permalink, LinkCut)
	d.CutIf(wholeID, CommitID, func(s Span) bool { return s.End-s.Start == 40 }) // before a cut beside it lets it touch more
	d.CutAll(anyLink, LinkCut)
	named(d, answer)
	references(d, innocent)
	d.CutIf(described, CommitID, func(s Span) bool { return looksLikeID(d.text[s.Start:s.End]) })
	named(d, answer)
	emptyFences(d)
	Tidy(d)
	return d
}

var (
	// bisected names a bisection's end.
	bisected = regexp.MustCompile(`(?i)first[- ](?:known[- ])?["'*_“]*bad["'*_”]*[- ](?:commit|revision)|\bbad commit (?:is|was|seems|:)|` +
		`\b(?:culprit|offending|guilty|breaking) (?:commit|change|patch|revision|pr|pull request|merge)|` +
		`\b(?:git[- ])?bisect(?:ed|ing|ion)?\b.{0,120}\b(?:to|into|points?|pointed|shows?|showed|found|finds|leads?|led|landed|lands|ends?|ended|gave|gives|blames?|` +
		`blamed|identif\w+|says|said|tells|told|results?|resulted|commit|culprit|reveals?|revealed|yields?|yielded|suggests?|indicates?|narrowed)\b`)
	// unbisected says that there is none.
	unbisected = regexp.MustCompile(`(?i)\b(?:have(?: not|n't)|did(?: not|n't)|can(?:not|'t)|could(?: not|n't)|will|would|should|going to|try to|tried to|please|happy to|able to|not yet|need to|help|haven't)\b[^,;]{0,60}\bbisect`)
	// blames says that a change is to blame; only with a reference to one is it a verdict: "since 2.3" is a symptom.
	blames = regexp.MustCompile(`(?i)\b(?:introduced|caused by|(?:broken|broke) (?:by|in|since|with|after|due)|regress\w*|culprit|blame[sd]?|triggered|started (?:with|by|from|after|in)|` +
		`(?:came|comes|stems|coming) (?:from|with|in)|due to|because of|result of|introduc(?:es|ing)|fault of|responsible|suspect\w*|fixed (?:by|in|with))\b`)
	// pointed is a reference that a sentence can blame.
	pointed = regexp.MustCompile(`(?:^|[\s(\[:,/\x60])(?:[#!]\d{1,7}|GH-\d+|[\w.-]+/[\w.-]+#\d+)\b|\b(?i:pull request|pr|mr|commit|patch|change|revision|rev)\s*[:#!]?\s*\d{2,}\b|` +
		`https?://\S*/(?:pull|pulls|commit|commits|merge_requests|compare|changeset)/|\b(?i:commit|revision|rev|change) ["'\x60]`)
	reverting = regexp.MustCompile(`(?i)\brevert(?:s|ed|ing)?\b`)
	changeish = regexp.MustCompile(`(?i)\b(?:commit|patch|change|pr|pull request|merge|revision)s?\b|["\x60]`)

	// subject is an id with the subject of its commit, as kernels and their kin cite.
	subject = regexp.MustCompile(`\b[0-9a-f]{7,40}\s*[,:]?\s*\(\s*["'“][^"'”\n]{3,200}(?:\n[^"'”\n]{1,200})?["'”]\s*(?:\)|,[^)\n]{0,40}\))`)
	// titled is a link to a change with the words that stand for it: often the change's own title.
	titled = regexp.MustCompile(`(?i)\[[^\]\n]{0,300}\]\(\s*` + changeLink + `\)`)
	// permalink is a link with a whole id in it.
	permalink = regexp.MustCompile(`https?://[^\s<>()]*\b[0-9a-f]{40}\b[^\s<>()]*`)
	// anyLink is a link to a change even where it touches other words.
	anyLink = regexp.MustCompile(`(?i)` + changeLink)
	// wholeID is a whole id even where it touches other words; what is longer is a digest of something else.
	wholeID = regexp.MustCompile(`(?i)[0-9a-f]{40,}`)
	// described is the id in a version as git describe makes it.
	described = regexp.MustCompile(`[-_.+~]g[0-9a-f]{7,40}\b`)
)

// verdict reports whether a sentence says which change is to blame.
func verdict(s string) bool {
	if bisected.MatchString(fold(s)) {
		return !unbisected.MatchString(fold(s)) || refers(s)
	}
	return blames.MatchString(s) && refers(s)
}

func reverts(s string) bool {
	return reverting.MatchString(s) && (refers(s) || changeish.MatchString(s))
}

func refers(s string) bool {
	if pointed.MatchString(s) {
		return true
	}
	for _, m := range hexID.FindAllStringIndex(s, -1) {
		if looksLikeID(s[m[0]:m[1]]) && !address(s, Span{m[0], m[1]}) {
			return true
		}
	}
	return false
}

// fold lays the lines of a sentence into one.
func fold(s string) string { return strings.ReplaceAll(s, "\n", " ") }

var (
	frame    = regexp.MustCompile(`^\s+(?:0x[0-9a-f]+\b|in\s|<|\S+\s*\(|\S+::|\S+\.\S+:\d)`)
	counted  = regexp.MustCompile(`(?i)(?:thread|cpu|core|frame|step|test|case|item|line|page|run|attempt|try|worker|node|slot|row|disk|device|display|example|option|method|question|scenario|part|section|figure)\s*:?\s*$`)
	dumpLine = regexp.MustCompile(`^\s*(?:0x)?[0-9a-f]{4,16}:?(?:\s+[0-9a-f]{2,8}){4,}`)
)

// innocent reports whether a number or an id only looks like one: a frame of a stack, a counted thing, a character's code, a colour,
// an address, a part of a UUID.
func innocent(text string, s Span) bool {
	before, after := text[max(0, s.Start-40):s.Start], text[s.End:min(len(text), s.End+80)]
	if text[s.Start] != '#' && text[s.Start] != '!' {
		return address(text, s)
	}
	number := text[s.Start+1 : s.End]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	switch {
	case strings.HasSuffix(before, "&"): // &#39;
		return true
	case strings.TrimSpace(line) == "" && len(number) <= 4 && frame.MatchString(after):
		return true
	case counted.MatchString(line):
		return true
	}
	return len(number) == 6 && number[0] == '0' || number == "000" || strings.HasPrefix(after, "!/") // a colour; a script's first line
}

// address reports whether a hexadecimal word is a kernel's address, a part of a UUID or of a dump, or a digest with its name.
func address(text string, s Span) bool {
	word := text[s.Start:s.End]
	if len(word) == 16 && (strings.HasPrefix(word, "ffff") || strings.HasPrefix(word, "0000")) {
		return true
	}
	if s.Start > 0 && text[s.Start-1] == '-' && len(word) == 12 || len(word) == 8 && uuidAfter.MatchString(text[s.End:min(len(text), s.End+30)]) {
		return true
	}
	if strings.HasSuffix(text[:s.Start], "sha256:") || strings.HasSuffix(text[:s.Start], "0x") || strings.HasSuffix(text[:s.Start], "+") && s.End < len(text) && text[s.End] == '/' {
		return true
	}
	line := text[strings.LastIndexByte(text[:s.Start], '\n')+1:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return len(word) <= 16 && len(line) < 300 && dumpLine.MatchString(line)
}

var uuidAfter = regexp.MustCompile(`^-[0-9a-f]{4}-[0-9a-f]{4}-`)

// minID is the shortest abbreviation of an id that git prints by itself.
const minID = 7

var hexOrDigits = regexp.MustCompile(`(?i)\b[0-9a-f]{7,40}\b`)

// named takes out what is known of the answer wherever it still stands: abbreviations of digits or letters only, numbers without a mark.
func named(d *Draft, a Answer) {
	d.CutIf(hexOrDigits, CommitID, func(s Span) bool {
		word := strings.ToLower(d.text[s.Start:s.End])
		for _, id := range a.Commits {
			if len(word) >= minID && strings.HasPrefix(strings.ToLower(id), word) {
				return true
			}
		}
		return false
	})
	d.CutIf(spoken, Number, func(s Span) bool {
		n := digitsOf(d.text[s.Start:s.End])
		for _, own := range a.Numbers {
			if n == own {
				return true
			}
		}
		return false
	})
}

var spoken = regexp.MustCompile(`(?i)\b(?:pull request|merge request|pull|pr|mr|issue|change|bug|ticket|cl|gh)(?:\s+(?:no\.?|number|id)?\s*|/|-)[#!]?\d{1,9}\b|[#!]\d{1,9}\b`)

// digitsOf reads the number at the end of a match; -1: too large.
func digitsOf(s string) int {
	n := 0
	for _, r := range s[strings.LastIndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })+1:] {
		if n = n*10 + int(r-'0'); n > 1<<30 {
			return -1
		}
	}
	return n
}
