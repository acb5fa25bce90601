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
	var top struct{ id, kind, created, actor, attributes, repo, repository, org, payload, url raw }
	raw(b).each(func(key string, v raw) bool {
		switch key {
		case "id":
			top.id = v
		case "type":
			top.kind = v
		case "created_at":
			top.created = v
		case "actor":
			top.actor = v
		case "actor_attributes":
			top.attributes = v
		case "repo":
			top.repo = v
		case "repository":
			top.repository = v
		case "org":
			top.org = v
		case "payload":
			top.payload = v
		case "url":
			top.url = v
		}
		return true
	})
	e := Event{ID: top.id.digits(), Type: top.kind.text(), Repo: repoOf(top.repo, top.repository, top.payload), Action: top.payload.get("action").text()}
	e.Created, _ = ParseTime(top.created.text())
	if e.Actor = top.actor.text(); e.Actor == "" {
		e.Actor = top.actor.get("login").text()
	}
	if e.Actor == "" {
		e.Actor = top.attributes.get("login").text()
	}
	if e.Org = top.org.get("login").text(); e.Org == "" {
		e.Org = top.repository.get("organization").text()
	}
	e.detail(top.payload, top.url.text())
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
	r := Repo{ID: repo.get("id").number()}
	owner := repository.get("owner")
	short := repository.get("name").text()
	login := owner.text() + owner.get("login").text()
	for _, name := range []string{repo.get("name").text(), login + "/" + short, short, payload.get("repo").text()} {
		if fullName.MatchString(name) && r.Name == "" {
			r.Name = name
		}
	}
	if r.ID == 0 {
		r.ID = repository.get("id").number()
	}
	if r.ID == 0 {
		r.ID = payload.get("repository_id").number()
	}
	return r
}

// compared matches the address of a comparison, the only place where pushes of 2012 to 2014 say where they began.
var compared = regexp.MustCompile(`/compare/([0-9a-f]{7,40})(?:\^)?\.{2,3}([0-9a-f]{7,40})$`)

func pushOf(p raw, url string) *Push {
	out := &Push{Ref: p.get("ref").text(), Head: p.get("head").text(), Before: p.get("before").text()}
	if m := compared.FindStringSubmatch(url); m != nil {
		if out.Before == "" {
			out.Before = m[1]
		}
		if out.Head == "" {
			out.Head = m[2]
		}
	}
	if n := p.get("size"); n != nil {
		out.Size = ptr(int(n.number()))
	}
	commits, shas := p.get("commits"), p.get("shas")
	for _, c := range commits.elements() {
		email := c.get("author", "email").text()
		out.Commits = append(out.Commits, Commit{
			SHA: c.get("sha").text(), Message: c.get("message").text(), Author: c.get("author", "name").text(),
			Email: HashEmail(email), Distinct: c.get("distinct").truth(),
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
	pr := p.get("pull_request")
	out := &PullRequest{
		Number: int(p.get("number").number()), Title: pr.get("title").text(), Body: pr.get("body").text(), Author: pr.get("user", "login").text(),
		Base: pr.get("base", "ref").text(), Default: pr.get("base", "repo", "default_branch").text(), BodyKnown: pr.get("body") != nil,
	}
	if out.Number == 0 {
		out.Number = int(pr.get("number").number())
	}
	if out.Default == "" {
		out.Default = pr.get("base", "repo", "master_branch").text()
	}
	out.Merged = mergedOf(pr, action)
	return out
}

// mergedOf tells whether a pull request was merged. That it is open now says nothing about later, and a closed one without these
// fields may have been merged (igrigorik/gharchive.org#312): both are unknown.
func mergedOf(pr raw, action string) *bool {
	switch {
	case action == "merged", pr.get("merged_at").text() != "":
		return ptr(true)
	case action != "closed":
		return nil
	case pr.get("merged") != nil:
		return pr.get("merged").truth()
	case pr.get("merged_at") != nil:
		return ptr(false)
	}
	return nil
}

// onPage reads the number of an issue off an address.
var onPage = regexp.MustCompile(`/(issues|pull)/(\d{1,9})(?:[/?#].*)?$`)

func issueOf(p raw, url string) *Issue {
	is := p.get("issue")
	out := &Issue{
		Number: int(is.get("number").number()), Title: is.get("title").text(), Body: is.get("body").text(), Author: is.get("user", "login").text(),
	}
	out.Created, _ = ParseTime(is.get("created_at").text())
	if is.isObject() {
		pr := is.get("pull_request")
		// In 2012 every issue had the object, with empty addresses.
		out.IsPR = ptr(pr.isObject() && pr.get("html_url").text()+pr.get("url").text() != "")
		if *out.IsPR {
			out.Merged = mergedOf(pr, is.get("state").text())
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
	out := &Comment{ID: c.get("id").number(), Body: c.get("body").text(), Author: c.get("user", "login").text()}
	out.Created, _ = ParseTime(c.get("created_at").text())
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
