package gharchive

import (
	"regexp"
	"strings"
	"time"

	"sluice/miners/links"
)

// Pair is a commit whose message names the full id of an earlier one after a word of repair or of cause.
type Pair struct {
	Intro, Fix string // 40 digits
	Cue        string
	Quote      string
	Author     string    // of the commit, by name
	At         time.Time // of the push
	FromGit    bool      // the message is git's: the event does not list the commit
}

var (
	// pairWord are the words of EReg-Factory's screen and their kin: without one there is no pair.
	pairWord = regexp.MustCompile(`(?i)\b(?:(?:bug|hot)?fix(?:es|ed|ing|up)?|correct(?:s|ed|ing|ion)?|resolv(?:e[sd]?|ing)|repair(?:s|ed|ing)?|regress(?:ion|ions|ed|es|ing)?|introduc(?:ed|es|ing|tion)|broke(?:n)?|caus(?:e[sd]?|ing)|culprit|bisect(?:ed|ing|s)?)\b|\b(?:fixes|introduced|regressed|broken|caused)-(?:by|in|commit)\b`)
	fullID   = regexp.MustCompile(`(?i)(?:https?://(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:commit|commits|pull/\d+/commits)/|\b([\w.-]+/[\w.-]+)@|\b)([0-9a-f]{40})\b`)
	// notOrigin are lines on which an id is that of a copy, a base or something taken from elsewhere.
	notOrigin = regexp.MustCompile(`(?i)cherry[ -]?pick|back[ -]?port|revert|upstream|\bmerg|rebas|\bsync|\bbump|\bupdat(?:e|es|ed|ing)\b.*\bto\b|upgrad|sub-?(?:module|tree)|git-svn|\bimport(?:ed)? from|\bsplit from|\bsquash|duplicate of|\bsee also|^\s*(?:change-id|source-link|signed-off-by|original-commit|gitorigin-revid|piperorigin|commit-id|parent|tree|base)\b`)
)

// stem is the beginning, in lower case, of every word that pairWord matches; the screen looks for it.
var pairStems = []string{"fix", "correct", "resolv", "repair", "regress", "introduc", "broke", "caus", "culprit", "bisect"}

// pairs searches the commits of a push.
func (x *extractor) pairs(e Event) {
	p := e.Push
	if !p.CommitsKnown {
		x.unknownCommits(p.Head != "" && p.Before != "")
		x.resolvePush(e)
		return
	}
	if p.Truncated {
		x.counts.add("commits_truncated", 1)
	}
	for _, c := range p.Commits {
		x.commit(e, c)
	}
	if p.Truncated {
		x.resolvePush(e)
	}
}

// plainID finds what is certainly no full id in a hurry.
var plainID = regexp.MustCompile(`(?i)[0-9a-f]{40}`)

// unknownCommits counts a push that does not list its commits: git knows them where the event says between which ids they are.
func (x *extractor) unknownCommits(ranged bool) {
	x.counts.add("commits_unknown", 1)
	if ranged {
		x.counts.add("commits_unknown_range_known", 1)
	}
}

func (x *extractor) commit(e Event, c Commit) {
	fix := strings.ToLower(c.SHA)
	if len(c.Message) < 40 || !isFullID(fix) || !plainID.MatchString(c.Message) {
		return
	}
	text := cutText(c.Message, x.counts)
	word := pairWord.FindStringIndex(text)
	if word == nil {
		return
	}
	title, body := titleOf(text)
	if why := screen(c.Author, title, body); why != "" {
		x.counts.add(why, 1)
		return
	}
	claims := links.Claims(text, links.ParseRepo(e.Repo.Name))
	said := map[string]bool{fix: true}
	for _, at := range fullID.FindAllStringSubmatchIndex(text, 100) {
		id := strings.ToLower(text[at[6]:at[7]])
		switch {
		case said[id] || !isFullID(id) || at[0] < word[1] || !idBorders(text, at):
		case elsewhere(text, at, e.Repo.Name):
			x.counts.add(cElsewhere, 1)
		default:
			if method, pair, ok := x.pair(text, at, id, claims); ok {
				said[id] = true
				pair.Fix, pair.Author, pair.At, pair.FromGit = fix, c.Author, e.Created, x.fromGit
				x.add(Find{Kind: PairKind, Method: method, Pair: &pair})
			}
		}
	}
}

// pair judges one id: by the claim that package links finds, else by the words before it.
func (x *extractor) pair(text string, at []int, id string, claims []links.Claim) (method string, p Pair, ok bool) {
	for _, c := range claims {
		if c.SHA == id {
			return c.Method, Pair{Intro: id, Cue: c.Cue, Quote: clip(c.Quote)}, !c.Negated
		}
	}
	from, to := sentenceAt(text, at[0], at[1])
	if notOrigin.MatchString(lineAt(text, at[0])) || notOrigin.MatchString(text[from:at[0]]) {
		x.counts.add(cBackports, 1)
		return "", p, false
	}
	words := pairWord.FindAllString(text[:at[0]], -1)
	return Keyword, Pair{Intro: id, Cue: strings.ToLower(words[len(words)-1]), Quote: strings.TrimSpace(text[from:to])}, true
}

// isFullID refuses the id of nothing, which stands for a branch's beginning.
func isFullID(id string) bool {
	return len(id) == 40 && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}

// idBorders refuses digits that are part of something longer: a path, another digest, a file's name.
func idBorders(s string, at []int) bool {
	from, to := at[6], at[7]
	if to < len(s) && (s[to] == '-' || s[to] == '/' || s[to] == '@' || s[to] == '=' || s[to] == '.' && to+1 < len(s) && wordByte[s[to+1]]) {
		return false
	}
	named := at[2] >= 0 || at[4] >= 0
	return named || from == 0 || strings.IndexByte("/-@#=.+$%&\\", s[from-1]) < 0 && s[from-1] < 0x80
}

// elsewhere tells whether an id belongs to another repository.
func elsewhere(s string, at []int, repo string) bool {
	for _, i := range []int{2, 4} {
		if at[i] >= 0 && !strings.EqualFold(s[at[i]:at[i+1]], repo) {
			return true
		}
	}
	return false
}

// clip bounds a quotation that another package chose.
func clip(s string) string {
	if len(s) <= 2*maxQuote {
		return s
	}
	return strings.ToValidUTF8(s[:2*maxQuote], "")
}
