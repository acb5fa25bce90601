package links

import (
	"regexp"
	"slices"
	"strings"
)

// Ways in which a text names the origin of a defect.
const (
	Trailer   = "trailer"   // a line of its own, such as "Fixes: 0123abc"
	Testimony = "testimony" // prose
)

// Claim is a statement that an earlier change introduced the defect that the text's own change repairs. Exactly one of Number,
// SHA and External is set.
type Claim struct {
	Method   string `json:"method"`
	Cue      string `json:"cue"`              // which pattern of words, see cues.go
	Number   int    `json:"number,omitempty"` // of a change; it may turn out to be an issue's
	SHA      string `json:"sha,omitempty"`    // 7 to 40 hexadecimal digits in lower case
	External string `json:"external,omitempty"`
	Subject  string `json:"subject,omitempty"` // that the text quotes after a commit id: the id may be wrong where this is right
	Quote    string `json:"quote"`             // the sentence or the line, exactly as it stands in the text
	Negated  bool   `json:"negated,omitempty"` // "not caused by #12"
}

// Claims lists what a text says about the origin of the defect, in the order of the text and without duplicates. The text
// of a change should begin with its title, which tells repairs from other work where a sentence does not.
//
// Left out are references to issues, cherry-picks and back-ports, reverts (see RevertOf), numbers that are no commit ids, and
// whatever a dependency bot copied from elsewhere; and only the first thousand references are read. Whether a commit id means a
// commit of this repository is for the caller.
func Claims(text string, self Repo) []Claim {
	if botText.MatchString(text) {
		return nil
	}
	p := newProse(text)
	var out []Claim
	var last *mention
	for _, m := range self.mentions(p) {
		m.judge(p, last)
		if m.cue != "" {
			out = addClaim(out, m.claim(p))
		}
		last = &m
	}
	return out
}

// botText knows the descriptions of dependency updates: they quote the change logs of other projects.
var botText = regexp.MustCompile(`(?i)\bBumps (?:the )?\[?[\w@./-]+\]?.{0,200}? (?:group|from|with)\b|renovate(?:bot)?\.com|^(?:Signed-off-by|Co-authored-by): (?:dependabot|renovate)`)

// prose is a text prepared for the search. All versions have the same length.
type prose struct {
	text   string // as given
	lines  string // without comments and fenced code
	joined string // the same with wrapped lines joined
	fixes  bool   // the first line speaks of a repair
}

func newProse(text string) prose {
	p := prose{text: text, lines: mask(text, false)}
	p.joined = join(p.lines)
	title, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	p.fixes = repair.MatchString(title)
	return p
}

// join turns line breaks inside of a paragraph into spaces. Items of lists and trailers begin paragraphs of their own.
func join(s string) string {
	out := []byte(s)
	for i, b := range out {
		if b == '\r' || b == '\n' && !newParagraph.MatchString(s[i+1:min(len(s), i+60)]) && !(i > 0 && blankBefore(s[:i])) {
			out[i] = ' '
		}
	}
	return string(out)
}

var newParagraph = regexp.MustCompile(`^[ \t]*(?:\r?\n|$|[*+-] |\d+[.)] |[A-Z][A-Za-z]*(?:-[A-Za-z]+)*: )`)

// blankBefore tells whether the line that ends s is blank.
func blankBefore(s string) bool {
	s = strings.TrimRight(s, " \t\r")
	return s == "" || s[len(s)-1] == '\n'
}

// mention is a reference to a change, with the cue that makes it a claim.
type mention struct {
	target
	start, end int
	method     string
	cue        string
	cueStart   int
	negated    bool
}

// maxMentions bounds the work on one text. Who names more changes is writing a list, not testimony.
const maxMentions = 1000

// anyRef finds what may be a reference. The bare commit id comes last.
var anyRef = regexp.MustCompile(`https?://[^\s<>()\[\]"'` + "`" + `\x00\x01]+` +
	`|\b[A-Za-z0-9][\w.-]*(?:/[\w.-]+)+(?:#\d{1,9}|@[0-9a-fA-F]{7,40})\b` +
	`|(?i:\b(?:PR|CL|MR|pull[ -]request|merge[ -]request)s?[ :-]{0,2}[#!]?\d{1,9}\b)` +
	`|#\d{1,9}\b|\bGH-\d{1,9}\b|\b[0-9a-fA-F]{7,40}\b`)

// mentions lists the references in order. The address of a link counts, not its text.
func (r Repo) mentions(p prose) []mention {
	var out []mention
	end := 0
	for _, at := range anyRef.FindAllStringIndex(p.joined, maxMentions) {
		m := mention{start: at[0], end: at[1]}
		if m.start < end {
			continue
		}
		var ok bool
		if t, n, link := r.linked(p.joined, at[0]); link {
			m.target, m.end, ok = t, m.start+n, true
		} else {
			m.target, ok = r.read(p.joined, at[0], at[1])
		}
		if ok && !m.issue {
			out = append(out, m)
		}
		end = m.end
	}
	return out
}

// linked reads the link whose text begins at i.
func (r Repo) linked(s string, i int) (t target, length int, ok bool) {
	if i == 0 || s[i-1] != '[' || !linkForm.MatchString(cut(s, i-1)) {
		return t, 0, false
	}
	t, length, ok = r.parse(cut(s, i-1))
	return t, length - 1, ok
}

func (r Repo) read(s string, start, end int) (target, bool) {
	word := s[start:end]
	if isHex(word) {
		t := target{sha: strings.ToLower(word)}
		return t, (plausibleSHA(t.sha) || quotedDigits.MatchString(s[end:])) && hexBorders(s, start, end)
	}
	if digits := strings.LastIndexAny(word, " #!:-") + 1; !strings.Contains(word, "/") && digits > 0 || strings.HasPrefix(word, "PR") {
		n, ok := atoi(strings.TrimLeft(word[digits:], "PRprCLclMRmrs"))
		return target{number: n, change: word[0] != '#' && !strings.HasPrefix(strings.ToUpper(word), "GH")}, ok && leftBorder(s, start)
	}
	t, _, ok := r.parseBare(word)
	return t, ok
}

// subjectAfter is how the kernel's rules quote a commit: 0123abcd ("area: what it did"). Subjects may have quotes inside.
var subjectAfter = regexp.MustCompile(`^[\]"'` + "`" + `)>*_]{0,4}[ \t]*,?[ \t]*(?:\(["“'](.{4,250}?)["”'][ \t]*\)|["“](.{4,250}?)["”][ \t]*(?:\n|$))`)

// quotedDigits finds an id that has digits only and is an id all the same, since its subject follows.
var quotedDigits = regexp.MustCompile(`^ \(["“]`)

func isHex(s string) bool {
	return len(s) >= 7 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// plausibleSHA refuses numbers, which are bug trackers', and words such as "defaced".
func plausibleSHA(s string) bool {
	if len(s) == 40 {
		return true
	}
	return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef")
}

// hexBorders refuses parts of longer things: paths, UUIDs, digests with their algorithm, colours, file names.
func hexBorders(s string, start, end int) bool {
	if start > 0 && strings.IndexByte("/-@:#=.+$%&\\", s[start-1]) >= 0 && !strings.HasSuffix(strings.ToLower(s[:start]), "fixes:") {
		return false
	}
	return end == len(s) || s[end] != '-' && s[end] != '/' && s[end] != '@' && s[end] != '=' && !(s[end] == '.' && end+1 < len(s) && isWord(s[end+1]))
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

func (m mention) claim(p prose) Claim {
	c := Claim{Method: m.method, Cue: m.cue, Number: m.number, SHA: m.sha, External: m.external, Negated: m.negated}
	if quoted := subjectAfter.FindStringSubmatch(cut(p.joined, m.end)); quoted != nil && m.number == 0 {
		c.Subject = strings.Join(strings.Fields(quoted[1]+quoted[2]), " ")
	}
	from, to := p.sentence(m.cueStart, m.end)
	if m.method == Trailer {
		from, to = p.line(m.start)
	}
	c.Quote = strings.TrimSpace(p.text[from:to])
	return c
}

// addClaim keeps one claim for each target: the first, but a trailer before testimony and a plain one before a negated one.
func addClaim(claims []Claim, c Claim) []Claim {
	i := slices.IndexFunc(claims, func(o Claim) bool {
		return o.Number == c.Number && o.SHA == c.SHA && strings.EqualFold(o.External, c.External)
	})
	switch {
	case i < 0:
		return append(claims, c)
	case claims[i].Negated && !c.Negated, claims[i].Negated == c.Negated && claims[i].Method != Trailer && c.Method == Trailer:
		claims[i] = c
	}
	return claims
}
