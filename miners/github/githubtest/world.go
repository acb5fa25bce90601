package githubtest

import (
	"fmt"
	"time"
)

// Day is when the world's first thing happens.
var Day = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)

// At is a moment some hours after Day, as the API writes it.
func At(hours float64) string {
	return Day.Add(time.Duration(hours * float64(time.Hour))).Format(time.RFC3339)
}

// SHA is a commit id made of one character.
func SHA(c byte) string {
	b := make([]byte, 40)
	for i := range b {
		b[i] = c
	}
	return string(b)
}

// User is an author.
func User(login string) Object { return Object{"login": login} }

// Repo puts a repository without issues and releases under its name.
func (s *Server) Repo(name string, id int64) {
	s.Put("repos/"+name, Object{"id": id, "full_name": name, "default_branch": "main"})
	for _, list := range []string{"issues", "releases", "tags"} {
		s.Add("repos/" + name + "/" + list)
	}
}

// Issue puts an issue with its comments and events.
func (s *Server) Issue(repo string, issue Object, comments, timeline []Object) {
	n := issue["number"]
	issue["comments"] = len(comments)
	path := fmt.Sprintf("repos/%s/issues/%v", repo, n)
	s.Add("repos/"+repo+"/issues", issue)
	s.Put(path, issue)
	s.Add(path+"/comments", comments...)
	s.Add(path+"/timeline", timeline...)
}

// Pull puts a pull request with its commits.
func (s *Server) Pull(repo string, pull Object, commits ...Object) {
	n := pull["number"]
	issue := Object{
		"number": n, "title": pull["title"], "body": pull["body"], "user": pull["user"], "state": pull["state"],
		"created_at": pull["created_at"], "updated_at": pull["updated_at"], "pull_request": Object{"url": "x"},
	}
	s.Issue(repo, issue, nil, nil)
	pull["commits"] = len(commits)
	path := fmt.Sprintf("repos/%s/pulls/%v", repo, n)
	s.Put(path, pull)
	s.Add(path+"/commits", commits...)
	s.Add(path + "/reviews")
	s.Add(path + "/comments")
}

// Merged is a pull request that landed on a branch.
func Merged(number int, base, title, body string, at float64) Object {
	return Object{
		"id": 1000 + number, "number": number, "title": title, "body": body, "user": User("ada"), "state": "closed",
		"created_at": At(at - 2), "updated_at": At(at), "merged_at": At(at), "merged": true,
		"merge_commit_sha": SHA("0123456789abcdef"[number%16]), "base": Object{"ref": base},
	}
}

// Commit is a commit of a pull request.
func Commit(sha, message string) Object {
	return Object{"sha": sha, "author": User("ada"), "commit": Object{"message": message, "author": Object{"name": "Ada", "date": At(0)}, "committer": Object{"date": At(0)}}}
}

// Comment is a comment; updated 0 means at once.
func Comment(id int, body string, at, updated float64) Object {
	if updated == 0 {
		updated = at
	}
	return Object{"id": id, "body": body, "user": User("bob"), "created_at": At(at), "updated_at": At(updated)}
}

// Event is an event of a timeline.
func Event(kind string, id int, at float64, more Object) Object {
	o := Object{"event": kind, "id": id, "created_at": At(at), "actor": User("ada")}
	for k, v := range more {
		o[k] = v
	}
	return o
}

// Clock fills the repository octo/clock, id 7, with a small story: #10 was a feature; issue #1 reports that it broke something, and a
// comment names the first bad commit; #11 fixes it and closes #1; #12 ports that fix; issue #2 was closed by a commit of #13, whose text
// does not say so; #14 never landed. There are one release and one tag.
func (s *Server) Clock() {
	const repo = "octo/clock"
	s.Repo(repo, 7)
	issue := func(n int, title, body, state string, at, updated float64) Object {
		return Object{"id": n, "number": n, "title": title, "body": body, "user": User("bob"), "state": state, "created_at": At(at), "updated_at": At(updated)}
	}
	s.Pull(repo, Merged(10, "main", "Add a fast path", "Makes it fast.", 2), Commit(SHA('a'), "Add a fast path"))
	s.Issue(repo, issue(1, "Midnight is shown as 24:00", "Since the last release.", "closed", 10, 21), []Object{
		Comment(101, "I bisected this to "+SHA('a')+".", 11, 0), Comment(102, "Same here. The answer is 0.", 12, 30),
	}, []Object{
		Event("renamed", 201, 25, Object{"rename": Object{"from": "Midnight is shown as 24:00", "to": "Modulo is missing"}}),
		Event("closed", 202, 20.001, Object{"commit_id": nil}),
	})
	s.Pull(repo, Merged(11, "main", "Fix midnight", "Fixes #1.\n\nThis is a regression from #10.", 20), Commit(SHA('b'), "Take the modulo"))
	s.Pull(repo, Merged(12, "release/1.x", "Fix midnight (backport)", "Fixes #1", 22), Commit(SHA('c'), "Take the modulo"))
	s.Issue(repo, issue(2, "Crash without a zone", "It panics.", "closed", 24, 28), nil, []Object{
		Event("cross-referenced", 0, 26, Object{"source": Object{"type": "issue", "issue": Object{
			"number": 14, "state": "closed", "created_at": At(25), "pull_request": Object{"merged_at": nil}, "repository": Object{"full_name": repo}}}}),
		Event("closed", 203, 28, Object{"commit_id": SHA('d')}),
	})
	p13 := Merged(13, "main", "Check the zone", "Nothing to see.", 28)
	p13["merge_commit_sha"] = SHA('d')
	s.Pull(repo, p13, Commit(SHA('e'), "Check the zone"))
	s.Add("repos/"+repo+"/commits/"+SHA('d')+"/pulls", p13)
	p14 := Merged(14, "main", "Another way", "Closes #2, regression from #10", 27)
	p14["merged_at"], p14["merged"] = nil, false
	s.Pull(repo, p14, Commit(SHA('f'), "x"))
	s.Add("repos/"+repo+"/releases", Object{"id": 301, "tag_name": "v1.0", "body": "First."})
	s.Add("repos/"+repo+"/tags", Object{"name": "v1.0", "commit": Object{"sha": SHA('a')}})
}
