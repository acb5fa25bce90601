package gharchive

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Event is what an event says that sluice can use. It is read by its shape, not by its date: reprocessing has mixed the forms
// (igrigorik/gharchive.org#86, #145). Zero fields are unknown.
type Event struct {
	ID      string // digits; "" in most events of 2012 to 2014
	Type    string
	Created time.Time
	Actor   string // login
	Repo    Repo
	Org     string
	Action  string
	Push    *Push
	PR      *PullRequest
	Issue   *Issue
	Comment *Comment
}

// Repo is where an event happened. Repositories are the same when their ids are: names are given away and come back
// (igrigorik/gharchive.org#278).
type Repo struct {
	ID   int64  `json:"id,omitempty"`   // 0 unknown
	Name string `json:"name,omitempty"` // owner/name; "" when the event names none
}

// Push is the payload of a PushEvent.
type Push struct {
	Ref          string
	Head, Before string // 40 digits, or fewer where only a comparison's address has them
	Size         *int   // commits pushed
	Commits      []Commit
	CommitsKnown bool // false: the event does not list them, which does not mean that there were none
	Truncated    bool // there were more commits than are listed
}

// Commit is one of a push. Email is hashed, see HashEmail.
type Commit struct {
	SHA, Message, Author, Email string
	Distinct                    *bool
}

// PullRequest is the payload of a PullRequestEvent.
type PullRequest struct {
	Number        int
	Title, Body   string
	BodyKnown     bool // false since October 2025: the archive has no texts of pull requests any more
	Author        string
	Merged        *bool  // null unknown
	Base, Default string // branches
}

// Issue is the issue that an event is about. GitHub files comments on pull requests as comments on issues.
type Issue struct {
	Number      int
	Title, Body string
	Author      string
	Created     time.Time
	IsPR        *bool
	Merged      *bool // of a pull request
}

// Comment is a comment on an issue.
type Comment struct {
	ID      int64
	Body    string
	Author  string
	Created time.Time
}

// decode reads an event that the scanner accepted.
func decode(b []byte) Event {
	top := raw(b).fields("id", "type", "created_at", "actor", "actor_attributes", "repo", "repository", "org", "payload", "url")
	id, kind, created, actor, attributes, repo, repository, org, payload, url := top[0], top[1], top[2], top[3], top[4], top[5], top[6], top[7], top[8], top[9]
	e := Event{ID: id.digits(), Type: kind.text(), Repo: repoOf(repo, repository, payload), Action: payload.get("action").text()}
	e.Created, _ = ParseTime(created.text())
	if e.Actor = actor.text(); e.Actor == "" {
		e.Actor = actor.get("login").text()
	}
	if e.Actor == "" {
		e.Actor = attributes.get("login").text()
	}
	if e.Org = org.get("login").text(); e.Org == "" {
		e.Org = repository.get("organization").text()
	}
	e.detail(payload, url.text())
	return e
}

// detail reads the payload.
func (e *Event) detail(payload raw, url string) {
	switch e.Type {
	case "PushEvent":
		e.Push = pushOf(payload, url)
	case "PullRequestEvent":
		e.PR = pullRequestOf(payload, e.Action)
	case "IssuesEvent", "IssueCommentEvent":
		e.Issue = issueOf(payload, url)
		e.Comment = commentOf(payload.get("comment"))
	}
}

// times are the forms in which the archive writes moments.
var times = []string{time.RFC3339, "2006/01/02 15:04:05 -0700", "2006-01-02 15:04:05 MST"}

// ParseTime reads a moment in any of the archive's forms, as UTC.
func ParseTime(s string) (time.Time, bool) {
	for _, layout := range times {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// fullName is what a name must look like before anything is filed under it: names come from hostile text.
var fullName = regexp.MustCompile(`^[\w.-]{1,100}/[\w.-]{1,100}$`)

// repoOf finds the repository: by its full name, by owner and name (2012 to 2014), or in the payload (2011, where the name is "/",
// igrigorik/gharchive.org#220).
func repoOf(repo, repository, payload raw) Repo {
	id, name := repo.get("id"), repo.get("name").text()
	r := Repo{ID: id.number()}
	if fullName.MatchString(name) {
		r.Name = name
		if r.ID != 0 {
			return r
		}
	}
	old := repository.fields("owner", "name", "id")
	login := old[0].text() + old[0].get("login").text()
	for _, name := range []string{login + "/" + old[1].text(), old[1].text(), payload.get("repo").text()} {
		if r.Name == "" && fullName.MatchString(name) {
			r.Name = name
		}
	}
	if r.ID == 0 {
		r.ID = old[2].number()
	}
	if r.ID == 0 {
		r.ID = payload.get("repository_id").number()
	}
	return r
}

// compared matches the address of a comparison, the only place where pushes of 2012 to 2014 say where they began.
var compared = regexp.MustCompile(`/compare/([0-9a-f]{7,40})(?:\^)?\.{2,3}([0-9a-f]{7,40})$`)

func pushOf(p raw, url string) *Push {
	v := p.fields("ref", "head", "before", "size", "commits", "shas")
	size, commits, shas := v[3], v[4], v[5]
	out := &Push{Ref: v[0].text(), Head: v[1].text(), Before: v[2].text()}
	if m := compared.FindStringSubmatch(url); m != nil {
		if out.Before == "" {
			out.Before = m[1]
		}
		if out.Head == "" {
			out.Head = m[2]
		}
	}
	if size != nil {
		out.Size = ptr(int(size.number()))
	}
	for _, c := range commits.elements() {
		v := c.fields("sha", "message", "author", "distinct")
		who := v[2].fields("name", "email")
		out.Commits = append(out.Commits, Commit{
			SHA: v[0].text(), Message: v[1].text(), Author: who[0].text(), Email: HashEmail(who[1].text()), Distinct: v[3].truth(),
		})
	}
	for _, row := range shas.elements() {
		out.Commits = append(out.Commits, commitOfRow(row.elements()))
	}
	out.CommitsKnown = len(commits) > 0 && commits[0] == '[' || len(shas) > 0 && shas[0] == '['
	out.Truncated = out.CommitsKnown && out.Size != nil && *out.Size > len(out.Commits)
	return out
}

// commitOfRow reads a commit of 2011 to 2014: id, address, message, name and, later, whether it is new.
func commitOfRow(row []raw) Commit {
	var cells [5]raw
	copy(cells[:], row)
	return Commit{
		SHA: cells[0].text(), Email: HashEmail(cells[1].text()), Message: cells[2].text(), Author: cells[3].text(),
		Distinct: cells[4].truth(),
	}
}

func pullRequestOf(p raw, action string) *PullRequest {
	top := p.fields("number", "pull_request")
	v := top[1].fields("number", "title", "body", "user", "base", "merged", "merged_at")
	base := v[4].fields("ref", "repo")
	branch := base[1].fields("default_branch", "master_branch")
	out := &PullRequest{
		Number: int(top[0].number()), Title: v[1].text(), Body: v[2].text(), BodyKnown: v[2] != nil, Author: v[3].get("login").text(),
		Base: base[0].text(), Default: branch[0].text(), Merged: mergedOf(v[5], v[6], action),
	}
	if out.Number == 0 {
		out.Number = int(v[0].number())
	}
	if out.Default == "" {
		out.Default = branch[1].text()
	}
	return out
}

// mergedOf tells whether a pull request was merged. That it is open now says nothing about later, and a closed one without these
// fields may have been merged (igrigorik/gharchive.org#312): both are unknown.
func mergedOf(merged, at raw, action string) *bool {
	switch {
	case action == "merged", at.text() != "":
		return ptr(true)
	case action != "closed":
		return nil
	case merged != nil:
		return merged.truth()
	case at != nil:
		return ptr(false)
	}
	return nil
}

// onPage reads the number of an issue off an address.
var onPage = regexp.MustCompile(`/(issues|pull)/(\d{1,9})(?:[/?#].*)?$`)

func issueOf(p raw, url string) *Issue {
	is := p.get("issue")
	v := is.fields("number", "title", "body", "user", "created_at", "state", "pull_request")
	out := &Issue{Number: int(v[0].number()), Title: v[1].text(), Body: v[2].text(), Author: v[3].get("login").text()}
	out.Created, _ = ParseTime(v[4].text())
	if is.isObject() {
		pr := v[6].fields("html_url", "url", "merged_at")
		// In 2012 every issue had the object, with empty addresses.
		if out.IsPR = ptr(pr[0].text()+pr[1].text() != ""); *out.IsPR {
			out.Merged = mergedOf(nil, pr[2], v[5].text())
		}
	}
	if out.Number == 0 {
		out.Number = int(p.get("number").number())
	}
	if m := onPage.FindStringSubmatch(url); m != nil && out.Number == 0 {
		out.Number, _ = strconv.Atoi(m[2])
		out.IsPR = ptr(m[1] == "pull")
	}
	return out
}

func commentOf(c raw) *Comment {
	if !c.isObject() {
		return nil
	}
	v := c.fields("id", "body", "user", "created_at")
	out := &Comment{ID: v[0].number(), Body: v[1].text(), Author: v[2].get("login").text()}
	out.Created, _ = ParseTime(v[3].text())
	return out
}

// isBot tells whether a login or name is a machine's.
func isBot(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "[bot]") || bots[name]
}

// bots update dependencies and have no mark in their names.
var bots = map[string]bool{
	"dependabot": true, "dependabot-preview": true, "renovate": true, "renovate-bot": true, "renovatebot": true, "greenkeeperio-bot": true,
	"greenkeeper": true, "pyup-bot": true, "snyk-bot": true, "depfu": true, "scala-steward": true, "mend-bolt-for-github": true,
	"whitesource-bolt": true, "imgbot": true, "allcontributors": true, "k8s-ci-robot": true, "k8s-infra-cherrypick-robot": true,
}
