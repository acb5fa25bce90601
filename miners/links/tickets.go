package links

import (
	"regexp"
	"slices"
	"strings"
)

// Systems of tickets. A ticket of another tracker has the host of its address.
const (
	Trac        = "trac"
	Bugzilla    = "bugzilla"
	Jira        = "jira"
	Launchpad   = "launchpad"
	Debian      = "debian"
	Phabricator = "phabricator"
	Forge       = "forge"     // the issues of the repository's own host
	Numbered    = "bug"       // "Bug: 123", whoever's it is
	ChangeID    = "change-id" // Gerrit's id of a change and all its versions
)

// Ticket is an entry of a tracker that a message names: what two changes of one defect have in common.
type Ticket struct {
	System string `json:"system"`
	ID     string `json:"id"`     // without #: "12345", "ABC-123", "T64"
	Closes bool   `json:"closes"` // the words say that the change settles it
	Quote  string `json:"quote"`  // the line
}

// ticketForm is a way in which projects name tickets. The last group that matched holds the ids.
type ticketForm struct {
	system string
	line   *regexp.Regexp // on a line of the message
	title  bool           // only on the first line
	closes *regexp.Regexp // of the words before the ids; nil: never
}

// Words that settle a ticket.
var (
	closing = regexp.MustCompile(`(?i)\b(?:clos|fix|resolv)\w*`)
	always  = regexp.MustCompile(``)
)

// ids is one or more numbers, with # or without.
const ids = `((?:#?\d{1,9})(?:(?:\s*,\s*|\s+and\s+|,\s*and\s+)#?\d{1,9})*)`

// ticketForms: the first form that takes a line counts. Django (Trac), CPython, Mozilla and GNOME (Bugzilla), Apache (Jira), Ubuntu
// and OpenStack (Launchpad), Debian's changelog, Wikimedia and LLVM (Phabricator), Chromium (Bug:) are where they come from.
var ticketForms = []ticketForm{
	{Trac, regexp.MustCompile(`^(Fixed|Fixes|Refs|Thanks)\s+` + ids + `\s+--`), true, closing},
	{Trac, regexp.MustCompile(`(?i)^\[?(?:ticket|trac)[: ]+` + ids + `\b`), false, nil},
	{Bugzilla, regexp.MustCompile(`^[Bb]ug (\d{3,9})(?:\s*[-,:.(]|\s+[-–])`), true, always},
	{Bugzilla, regexp.MustCompile(`(?i)\((?:bug|bz|rhbz|bsc|boo|bnc)\s*#?\s*(\d{4,9})\)`), true, always},
	{Bugzilla, regexp.MustCompile(`(?i)^(?:Resolves|Related|Fixes|Closes)?:?\s*(?:rhbz|bz|bsc|boo|bnc)\s*#\s*(\d{4,9})\b`), false, closing},
	{Bugzilla, regexp.MustCompile(`^(?:[A-Za-z-]+:\s*)?<?https?://[^\s/]*\b(?:bugzilla|bugs)\.[^\s]*?/?show_bug\.cgi\?id=(\d{2,9})`), false, always},
	{Launchpad, regexp.MustCompile(`(?i)^.*?\bLP: ?` + ids + `\b`), false, always},
	{Launchpad, regexp.MustCompile(`(?i)^(?:(Closes)|Partial|Related)-Bug: ?` + ids + `\s*$`), false, regexp.MustCompile(`(?i)closes`)},
	{Launchpad, regexp.MustCompile(`(?i)^.*?https?://(?:bugs\.)?launchpad\.net/\S*?(?:\+bug|bugs)/(\d{3,9})\b`), false, closing},
	{Debian, regexp.MustCompile(`(?i)^.*?\bcloses: ?(?:bug)?#?(\d{5,7}\b(?:,\s*(?:bug)?#?\d{5,7}\b)*)`), false, always},
	{Debian, regexp.MustCompile(`(?i)^.*?https?://bugs\.debian\.org/(?:cgi-bin/bugreport\.cgi\?bug=)?(\d{5,7})\b`), false, closing},
	{Phabricator, regexp.MustCompile(`^(?:Bug|Maniphest Tasks?|Task|Fixes|Ref|Refs|Closes): ?(T\d{2,9}(?:,\s*T\d{2,9})*)\s*$`), false, closing},
	{Numbered, regexp.MustCompile(`^(?:bpo-(\d{3,6})[:,]|Issue #?(\d{3,6}):)`), true, always},
	{Numbered, regexp.MustCompile(`^(?:Bug|BUG|Fixed|BUG ?=)\s*[:=]\s*(?:[a-z]+:|b/)?` + ids + `\s*$`), false, regexp.MustCompile(`(?i)fixed`)},
	{Jira, regexp.MustCompile(`^(?:\[?)([A-Z][A-Z0-9]{1,9}-\d{1,6})(?:[\]:.,]|\s|$)`), true, always},
	{Jira, regexp.MustCompile(`(?i)^(?:jira|issue|ticket|task)(?:[- ]?(?:id|url))?: *(?:https?://\S+/browse/)?([A-Z][A-Z0-9]{1,9}-\d{1,6})\b`), false, nil},
	{Jira, regexp.MustCompile(`^.*?https?://\S+/browse/([A-Z][A-Z0-9]{1,9}-\d{1,6})\b`), false, closing},
	{ChangeID, regexp.MustCompile(`^Change-Id: (I[0-9a-f]{40})\s*$`), false, nil},
}

// notJira are words of that form that name no ticket.
var notJira = regexp.MustCompile(`^(?:CVE|GHSA|CWE|UTF|SHA|MD|ISO|RFC|PEP|IEEE|AES|RSA|IPV|HTTP|TLS|SSL|BASE|WIN|ECMA|ES|PR|GH|CL|MR|C|X|V|VERSION|RELEASE|RC|FIX|STEP|PART|PHASE)-`)

// otherTracker is a trailer that gives a ticket's address.
var otherTracker = regexp.MustCompile(`^(Bug|Fixes|Closes|Issue|Ticket|Resolves|Bug-Url|Link)(?:-Url)?:?\s+<?https?://([^\s/>]+)(/[^\s>]*?)(\d{1,9})/?>?\s*$`)

// Tickets lists the tickets that a commit message names, in the order of the text, each once. References to issues of the
// repository's own host are those of Issues.
func Tickets(message string, self Repo) []Ticket {
	var out []Ticket
	if botText.MatchString(message) {
		return nil
	}
	n := 0
	for line := range strings.Lines(strings.TrimLeft(message, "\n")) {
		if line = strings.TrimSpace(line); line != "" && len(line) <= 4*window {
			out = append(out, ticketsOf(line, n == 0)...)
		}
		if n++; n > maxMentions {
			break
		}
	}
	for _, ref := range Issues(message, self) {
		elsewhere := slices.ContainsFunc(out, func(t Ticket) bool { return t.ID == strings.TrimPrefix(ref.String(), "#") })
		if ref.External == "" && !ref.Negated && !elsewhere {
			out = append(out, Ticket{Forge, ref.String()[1:], ref.Closes, ref.Quote})
		}
	}
	return unique(out)
}

func ticketsOf(line string, title bool) []Ticket {
	for _, form := range ticketForms {
		if form.title && !title {
			continue
		}
		if found := form.read(line); found != nil {
			return found
		}
	}
	if m := otherTracker.FindStringSubmatch(line); m != nil && strings.Trim(m[4], "0") != "" && !issuePath.MatchString(m[3]+m[4]) {
		return []Ticket{{strings.ToLower(m[2]), strings.TrimLeft(m[4], "0"), closing.MatchString(m[1]), line}}
	}
	return nil
}

func (f ticketForm) read(line string) []Ticket {
	at := f.line.FindStringSubmatchIndex(line)
	if at == nil {
		return nil
	}
	from, to := -1, -1
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			from, to = at[i], at[i+1]
		}
	}
	if from < 0 || f.system == Jira && notJira.MatchString(line[from:to]) {
		return nil
	}
	closes := f.closes != nil && f.closes.MatchString(line[:from])
	var out []Ticket
	for _, id := range strings.FieldsFunc(line[from:to], func(r rune) bool { return strings.ContainsRune(" ,\t", r) }) {
		id = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(id), "bug"), "#"), "0")
		if id == "and" || id == "" {
			continue
		}
		if f.system == Jira || f.system == Phabricator || f.system == ChangeID {
			id = strings.ToUpper(id[:1]) + id[1:]
		}
		if f.system == Jira {
			id = strings.ToUpper(id)
		}
		out = append(out, Ticket{f.system, id, closes, line})
	}
	return out
}

// unique keeps the first mention of each ticket, closing when any is.
func unique(tickets []Ticket) []Ticket {
	var out []Ticket
	for _, t := range tickets {
		i := slices.IndexFunc(out, func(o Ticket) bool { return o.System == t.System && o.ID == t.ID })
		if i < 0 {
			out = append(out, t)
		} else {
			out[i].Closes = out[i].Closes || t.Closes
		}
	}
	return out
}

// TicketClaim is a statement that the change of another ticket introduced the defect: by the ticket, by Gerrit's id of the
// change, or by the revision of a repository that was in Subversion.
type TicketClaim struct {
	Cue   string `json:"cue"`
	ID    string `json:"id"` // "12345" of a ticket, "ABC-123", "I0123abcd", "r12345"
	Quote string `json:"quote"`
}

// blamedTicket: the cue, what kind of thing is named, and its id.
var blamedTicket = regexp.MustCompile(`(?i)\b(regress(?:ion|ions|ed|es)?|brok(?:e|en)|breakage|caused|introduced|fallout|follow[- ]?up|missed|since)\b[^.\n]{0,30}?` +
	`\b(?:from|by|in|of|to|with|after|for|since)\s+(?:the\s+)?(?:(?:fix|patch|change)(?:es)?\s+(?:for|of|in)\s+)?` +
	`(?:(?:bug|ticket|issue)\s+#?(\d{2,9})|\[?([A-Z][A-Z0-9]{1,9}-\d{1,6})\b|(?:change(?:-id)?:?\s+)?(I[0-9a-f]{8,40})\b|(?:rev(?:ision)?\s+|r|\[)(\d{3,7})\b)`)

// TicketClaims lists what a message says about origins in tickets and the like. What a number means is for the caller to find out.
func TicketClaims(message string) []TicketClaim {
	if botText.MatchString(message) {
		return nil
	}
	p := newProse(message)
	var out []TicketClaim
	for _, at := range blamedTicket.FindAllStringSubmatchIndex(p.joined, maxMentions) {
		c := TicketClaim{Cue: strings.ToLower(p.joined[at[2]:at[3]])}
		for i, prefix := range []string{"", "", "", "r"} {
			if from := at[4+2*i]; from >= 0 {
				c.ID = prefix + p.joined[from:at[5+2*i]]
			}
		}
		if notJira.MatchString(c.ID) || c.ID != strings.ToUpper(c.ID) && strings.Contains(c.ID, "-") {
			continue
		}
		from, to := p.sentence(at[0], at[1])
		c.Quote = strings.TrimSpace(p.text[from:to])
		if notClaim.MatchString(p.joined[from:at[0]]) || !p.fixes && !trouble.MatchString(c.Quote) {
			continue
		}
		if !slices.ContainsFunc(out, func(o TicketClaim) bool { return o.ID == c.ID }) {
			out = append(out, c)
		}
	}
	return out
}

// FixIsh tells whether a title speaks of a repair.
func FixIsh(title string) bool { return repair.MatchString(title) }
