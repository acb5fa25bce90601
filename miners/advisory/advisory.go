// Package advisory reads security advisories in the OSV format: which commits are said to have introduced and fixed what.
//
// Its functions are pure. They take what a record says as it says it: an origin that is unknown ("0") stays unknown, and nothing
// is looked up anywhere.
package advisory

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice/miners/links"
)

// Record is what is used of an OSV record, see https://ossf.github.io/osv-schema.
type Record struct {
	ID         string      `json:"id"`
	Aliases    []string    `json:"aliases"`
	Summary    string      `json:"summary"`
	Published  time.Time   `json:"published"`
	Modified   time.Time   `json:"modified"`
	Withdrawn  time.Time   `json:"withdrawn"`
	Affected   []Affected  `json:"affected"`
	References []Reference `json:"references"`
	// DatabaseSpecific is of any form; the addresses of commits in it count as weak evidence of fixes.
	DatabaseSpecific json.RawMessage `json:"database_specific"`
}

// Affected is one package or repository that a record is about.
type Affected struct {
	Ranges           []Range         `json:"ranges"`
	DatabaseSpecific json.RawMessage `json:"database_specific"`
}

// Range is a list of events. Only those of type GIT speak of commits.
type Range struct {
	Type   string              `json:"type"`
	Repo   string              `json:"repo"`
	Events []map[string]string `json:"events"`
}

// Reference is an address that belongs to a record.
type Reference struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// Finding is one pair of events, or one side of it.
type Finding struct {
	Repo  links.Repo
	Intro string // commit id; "" is unknown
	Fix   string
	PR    int // of the fix, where only its request is named
	// LastAffected is the last commit that had the defect, where no fix is known.
	LastAffected string
	Limit        string // commits from here on are not considered by the record
	Cue          string // events, reference, database
	Guessed      bool   // several introductions stand before several fixes: which belongs to which is told by the order alone
}

// Unknown names the sides that the record does not tell: "intro", "fix".
func (f Finding) Unknown() []string {
	var out []string
	if f.Intro == "" {
		out = append(out, "intro")
	}
	if f.Fix == "" && f.PR == 0 {
		out = append(out, "fix")
	}
	return out
}

// Parse reads one record. Errors say what a record must have.
func Parse(data []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("reading an advisory: %w", err)
	}
	if r.ID == "" || r.Affected == nil && r.References == nil && r.Withdrawn.IsZero() {
		return r, fmt.Errorf("reading an advisory: want an OSV record: an object with id, and affected or references")
	}
	return r, nil
}

// commitID is a full or abbreviated id.
var commitID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// Findings lists what the record says, in its order and without duplicates. A withdrawn record says nothing.
func (r Record) Findings() []Finding {
	if !r.Withdrawn.IsZero() {
		return nil
	}
	var out []Finding
	for _, a := range r.Affected {
		for _, g := range a.Ranges {
			if strings.EqualFold(g.Type, "GIT") {
				out = add(out, g.findings()...)
			}
		}
	}
	for _, ref := range r.References {
		if strings.EqualFold(ref.Type, "FIX") {
			out = add(out, fixPage(ref.URL, "reference")...)
		}
	}
	if len(out) == 0 {
		for _, raw := range append([]json.RawMessage{r.DatabaseSpecific}, specific(r.Affected)...) {
			for _, address := range commitPage.FindAllString(string(raw), 20) {
				out = add(out, fixPage(address, "database")...)
			}
		}
	}
	return out
}

func specific(affected []Affected) []json.RawMessage {
	var out []json.RawMessage
	for _, a := range affected {
		out = append(out, a.DatabaseSpecific)
	}
	return out
}

var commitPage = regexp.MustCompile(`https?://[^\s"\\<>]+/commit/[0-9a-f]{7,64}`)

// add appends what is new. A fix that a pair has already is not repeated without its origin.
func add(list []Finding, found ...Finding) []Finding {
	for _, f := range found {
		covered := slices.ContainsFunc(list, func(o Finding) bool {
			return o == f || f.Intro == "" && f.Cue != "events" && sameRepo(o.Repo, f.Repo) && (o.Fix == f.Fix && f.Fix != "" || o.PR == f.PR && f.PR > 0)
		})
		if !covered {
			list = append(list, f)
		}
	}
	return list
}

func sameRepo(a, b links.Repo) bool {
	return a.Host == b.Host && strings.EqualFold(a.Owner, b.Owner) && strings.EqualFold(a.Name, b.Name)
}

// findings pairs the events of a range in their order. One introduction before several fixes belongs to each of them: a fix lands
// on several branches. Several introductions before one fix all belong to it.
func (g Range) findings() []Finding {
	repo := ParseRepo(g.Repo)
	if repo.Name == "" {
		return nil
	}
	var out []Finding
	var b block
	limit := ""
	for _, event := range g.Events {
		if intro, ok := event["introduced"]; ok {
			if len(b.fixed)+len(b.last) > 0 {
				out, b = append(out, b.pairs()...), block{}
			}
			if strings.Trim(intro, "0 ") == "" { // since the beginning: nobody knows the commit
				b.intro = append(b.intro, "")
			} else {
				b.intro = appendID(b.intro, intro)
			}
		}
		b.fixed = appendID(b.fixed, event["fixed"])
		b.last = appendID(b.last, event["last_affected"])
		if l := appendID(nil, event["limit"]); l != nil {
			limit = l[0]
		}
	}
	out = append(out, b.pairs()...)
	for i := range out {
		out[i].Repo, out[i].Cue, out[i].Limit = repo, "events", limit
	}
	return out
}

// appendID appends a commit id in lower case; what is none is passed over.
func appendID(list []string, id string) []string {
	id = strings.ToLower(strings.TrimSpace(id))
	if !commitID.MatchString(id) {
		return list
	}
	return append(list, id)
}

// block is a run of introductions and what ends them.
type block struct{ intro, fixed, last []string }

func (b block) pairs() []Finding {
	intro := b.intro
	if len(intro) == 0 {
		intro = []string{""}
	}
	var out []Finding
	switch {
	case len(b.fixed) == 0 && len(b.last) == 0:
		for _, i := range intro {
			if i != "" {
				out = append(out, Finding{Intro: i})
			}
		}
	case len(b.fixed) == 0:
		for n, i := range intro {
			out = append(out, Finding{Intro: i, LastAffected: b.last[min(n, len(b.last)-1)], Guessed: len(intro) > 1 && len(b.last) > 1})
		}
	case len(intro) > 1 && len(b.fixed) > 1:
		for n := range max(len(intro), len(b.fixed)) {
			out = append(out, Finding{Intro: intro[min(n, len(intro)-1)], Fix: b.fixed[min(n, len(b.fixed)-1)], Guessed: true})
		}
	default:
		for _, i := range intro {
			for _, f := range b.fixed {
				out = append(out, Finding{Intro: i, Fix: f})
			}
		}
	}
	return out
}

var (
	pagePath = regexp.MustCompile(`^/(.+?)/(?:-/)?(commit|pull|merge_requests)/([0-9a-fA-F]{1,64})(?:/commits/([0-9a-f]{7,64}))?/?(?:\.patch|\.diff)?$`)
	cgitPath = regexp.MustCompile(`^/(.+?)(?:\.git)?/commit/?$`)
)

// fixPage reads the address of a commit or a request.
func fixPage(address, cue string) []Finding {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	base := u.Scheme + "://" + u.Host + "/"
	if m := cgitPath.FindStringSubmatch(u.Path); m != nil && commitID.MatchString(u.Query().Get("id")) {
		return finding(base+m[1], u.Query().Get("id"), 0, cue)
	}
	m := pagePath.FindStringSubmatch(strings.TrimSuffix(u.Path, "/files"))
	if m == nil {
		return nil
	}
	id := strings.ToLower(m[3])
	switch {
	case m[4] != "":
		return finding(base+m[1], m[4], 0, cue)
	case m[2] == "commit" && commitID.MatchString(id):
		return finding(base+m[1], id, 0, cue)
	case m[2] != "commit":
		n := 0
		if _, err := fmt.Sscanf(id, "%d", &n); err == nil && n > 0 && n < 1<<31 && fmt.Sprint(n) == id {
			return finding(base+m[1], "", n, cue)
		}
	}
	return nil
}

func finding(repo, fix string, pr int, cue string) []Finding {
	r := ParseRepo(repo)
	if r.Name == "" {
		return nil
	}
	return []Finding{{Repo: r, Fix: strings.ToLower(fix), PR: pr, Cue: cue}}
}

// ParseRepo reads a repository's address. Of hosts that are not GitHub the owner is the last folder only, as a mirror of that address
// is named.
func ParseRepo(address string) links.Repo {
	r := links.ParseRepo(address)
	if i := strings.LastIndex(r.Owner, "/"); i >= 0 {
		r.Owner = r.Owner[i+1:]
	}
	return r
}
