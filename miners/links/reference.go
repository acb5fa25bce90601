package links

import (
	"regexp"
	"strconv"
	"strings"
)

// target is what a reference points to: a number of this repository, a commit id, or something in another repository.
type target struct {
	number   int
	sha      string
	external string // "owner/name#12" or "owner/name@<sha>", with the host in front where it differs
	issue    bool   // a link to an issue's page
	change   bool   // a link to a change's page, or a number that is called one
	weak     bool   // written in a form that hosts may not take as a reference
}

// A reference of each form, at the start of a text. Numbers end at a border: #23abc is none.
var (
	urlForm   = regexp.MustCompile(`^<?(https?://[^\s<>()\[\]"'` + "`" + `\x00\x01]+)`)
	hashForm  = regexp.MustCompile(`^(?:#|(?i:GH-))(\d{1,9})\b`)
	otherForm = regexp.MustCompile(`^([A-Za-z0-9][\w.-]*(?:/[\w.-]+)+)(?:#(\d{1,9})|@([0-9a-fA-F]{7,40}))\b`)
	linkForm  = regexp.MustCompile(`^\[[^\[\]\n]{1,200}\]\((https?://[^\s<>()"\x00\x01]+)\)`)
	issuePath = regexp.MustCompile(`^/([^\s?#]+?)(?:\.git)?/(?:-/)?(issues|work_items|pull|pulls|merge_requests|commit|commits)/([0-9a-fA-F]+)(?:/commits/([0-9a-fA-F]{7,40}))?(?:[/?#.,:;!].*)?$`)
)

// parse reads the reference at the start of s, which may be wrapped in marks of emphasis or be the text of a link.
func (r Repo) parse(s string) (t target, length int, ok bool) {
	if m := linkForm.FindStringSubmatchIndex(s); m != nil {
		t, ok = r.parseURL(s[m[2]:m[3]])
		t.weak = true
		return t, m[1], ok
	}
	wrap := len(s) - len(strings.TrimLeft(s, "*_[("))
	if wrap > 3 {
		return t, 0, false
	}
	t, length, ok = r.parseBare(s[wrap:])
	t.weak = wrap > 0
	return t, wrap + length, ok
}

func (r Repo) parseBare(s string) (t target, length int, ok bool) {
	if m := urlForm.FindStringSubmatchIndex(s); m != nil {
		t, ok = r.parseURL(s[m[2]:m[3]])
		return t, m[1], ok
	}
	if m := hashForm.FindStringSubmatch(s); m != nil {
		t.number, ok = atoi(m[1])
		return t, len(m[0]), ok
	}
	if m := otherForm.FindStringSubmatch(s); m != nil {
		t, ok = r.elsewhere(m[1], m[2], m[3])
		return t, len(m[0]), ok
	}
	return t, 0, false
}

// atoi refuses 0 and drops leading zeros.
func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0
}

// elsewhere reads owner/name#12 and owner/name@<sha>, which may mean this repository too.
func (r Repo) elsewhere(repo, num, sha string) (target, bool) {
	i := strings.LastIndex(repo, "/")
	return r.place(r.host(), repo[:i], repo[i+1:], num, strings.ToLower(sha))
}

func (r Repo) place(host, owner, name, num, sha string) (t target, ok bool) {
	if sha != "" {
		t.sha, ok = sha, true
	} else {
		t.number, ok = atoi(num)
	}
	if r.owns(host, owner, name) || !ok {
		return t, ok
	}
	t.external = r.label(host, owner, name) + "#" + strconv.Itoa(t.number)
	if sha != "" {
		t.external = r.label(host, owner, name) + "@" + sha
	}
	t.number, t.sha = 0, ""
	return t, true
}

// parseURL knows the pages of issues, changes and commits.
func (r Repo) parseURL(raw string) (t target, ok bool) {
	rest := raw[strings.Index(raw, "://")+3:]
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return t, false
	}
	host, path := strings.TrimPrefix(strings.ToLower(rest[:slash]), "www."), rest[slash:]
	if t, ok = parseCL(host, path); ok {
		return t, true
	}
	m := issuePath.FindStringSubmatch(path)
	if m == nil || !strings.Contains(m[1], "/") {
		return t, false
	}
	i := strings.LastIndex(m[1], "/")
	sha := strings.ToLower(m[4])
	if strings.HasPrefix(m[2], "commit") {
		if sha = strings.ToLower(m[3]); len(sha) < 7 || len(sha) > 40 {
			return t, false
		}
	}
	t, ok = r.place(host, m[1][:i], m[1][i+1:], m[3], sha)
	t.issue = m[2] == "issues" || m[2] == "work_items"
	t.change = !t.issue
	return t, ok
}

// clPath matches the short and the long form of a Gerrit change's page.
var clPath = regexp.MustCompile(`^/(?:cl|c(?:/[^/]+)*/\+)/(\d{1,9})(?:/.*)?$`)

func parseCL(host, path string) (t target, ok bool) {
	if host != "go.dev" && host != "golang.org" && !strings.Contains(host, "review") {
		return t, false
	}
	m := clPath.FindStringSubmatch(path)
	if m == nil {
		return t, false
	}
	t.number, ok = atoi(m[1])
	t.change = true
	return t, ok
}
