package synth

import (
	"fmt"
	"strings"
	"time"
)

// userLinks and repoLinks are the addresses that every such object carries. They are most of its bytes.
var (
	userLinks = strings.Fields(`followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions orgs repos events{/privacy} received_events`)
	repoLinks = strings.Fields(`forks keys{/key_id} collaborators{/collaborator} teams hooks issues/events{/number} events assignees{/user} branches{/branch}
		tags git/blobs{/sha} git/tags{/sha} git/refs{/sha} git/trees{/sha} statuses/{sha} languages stargazers contributors subscribers subscription
		commits{/sha} git/commits{/sha} comments{/number} issues/comments{/number} contents/{+path} compare/{base}...{head} merges
		{archive_format}{/ref} downloads issues{/number} pulls{/number} milestones{/number} notifications{?since,all,participating} labels{/name}
		releases{/id} deployments`)
)

var linkNames = func() map[string]string {
	out := map[string]string{}
	for _, link := range append(append([]string{}, userLinks...), repoLinks...) {
		out[link] = linkName(link)
	}
	return out
}()

// linkName makes a member's name of an address.
func linkName(link string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(link, "{"), "{")
	return strings.NewReplacer("/", "_", "}", "").Replace(strings.TrimRight(name, "/}")) + "_url"
}

func (g *generator) user(login string, id int64) {
	g.p(`{"login":"%[1]s","id":%[2]d,"node_id":"MDQ6VXNlcj%[2]d=","avatar_url":"https://avatars.githubusercontent.com/u/%[2]d?v=4","gravatar_id":"","url":"https://api.github.com/users/%[1]s","html_url":"https://github.com/%[1]s"`, login, id)
	for _, link := range userLinks {
		g.p(`,"%s":"https://api.github.com/users/%s/%s"`, linkNames[link], login, link)
	}
	g.p(`,"type":"User","site_admin":false}`)
}

func (g *generator) repository(p repo) {
	g.p(`{"id":%d,"node_id":"MDEwOlJlcG9zaXRvcnk%[1]d=","name":"%s","full_name":"%s","private":false,"owner":`, p.id, p.name, p.full())
	g.user(p.owner, p.ownerID)
	g.p(`,"html_url":"https://github.com/%[1]s","description":"%[2]s","fork":false,"url":"https://api.github.com/repos/%[1]s"`, p.full(), p.about)
	for _, link := range repoLinks {
		g.p(`,"%s":"https://api.github.com/repos/%s/%s"`, linkNames[link], p.full(), link)
	}
	at := g.c.Start.Add(-time.Duration(p.id%9000) * time.Hour).Format(time.RFC3339)
	g.p(`,"created_at":"%[1]s","updated_at":"%[2]s","pushed_at":"%[2]s","git_url":"git://github.com/%[3]s.git","ssh_url":"git@github.com:%[3]s.git","clone_url":"https://github.com/%[3]s.git","svn_url":"https://github.com/%[3]s","homepage":null,"size":%[4]d,"stargazers_count":%[5]d,"watchers_count":%[5]d,"language":"Go","has_issues":true,"has_projects":true,"has_downloads":true,"has_wiki":true,"has_pages":false,"forks_count":%[6]d,"mirror_url":null,"archived":false,"disabled":false,"open_issues_count":%[6]d,"license":{"key":"mit","name":"MIT License","spdx_id":"MIT","url":"https://api.github.com/licenses/mit","node_id":"MDc6TGljZW5zZTEz"},"forks":%[6]d,"open_issues":%[6]d,"watchers":%[5]d,"default_branch":"%[7]s"}`,
		at, g.c.Start.Format(time.RFC3339), p.full(), g.r.IntN(9e5), g.r.IntN(9000), g.r.IntN(90), p.branch)
}

// described is the text of a pull request: one in eight names an issue that it closes.
func (g *generator) described() string {
	s := g.body()
	if g.one(125) {
		s += fmt.Sprintf(`\r\n\r\n%s #%d`, []string{"Fixes", "Closes", "closes", "Resolves:"}[g.r.IntN(4)], 1+g.r.IntN(9000))
	}
	return s
}

// pullRequest is the object in its long form.
func (g *generator) pullRequest(p repo, number int, closed bool) {
	api := fmt.Sprintf("https://api.github.com/repos/%s/pulls/%d", p.full(), number)
	page := fmt.Sprintf("https://github.com/%s/pull/%d", p.full(), number)
	who, id := g.login(), g.r.Int64N(9e7)
	state, at := "open", "null"
	if closed {
		state, at = "closed", `"`+g.c.Start.Format(time.RFC3339)+`"`
	}
	g.p(`{"url":"%[1]s","id":%[2]d,"node_id":"MDExOlB1bGxSZXF1ZXN0%[2]d","html_url":"%[3]s","diff_url":"%[3]s.diff","patch_url":"%[3]s.patch","issue_url":"https://api.github.com/repos/%[4]s/issues/%[5]d","number":%[5]d,"state":"%[6]s","locked":false,"title":"%[7]s","user":`, api, g.r.IntN(6e8), page, p.full(), number, state, g.sentence(3+g.r.IntN(8)))
	g.user(who, id)
	g.p(`,"body":"%s","created_at":"%s","updated_at":"%[2]s","closed_at":%[3]s,"merged_at":%[3]s,"merge_commit_sha":"%[4]s","assignee":null,"assignees":[],"requested_reviewers":[],"requested_teams":[],"labels":[],"milestone":null,"draft":false,"commits_url":"%[5]s/commits","review_comments_url":"%[5]s/comments","review_comment_url":"https://api.github.com/repos/%[6]s/pulls/comments{/number}","comments_url":"https://api.github.com/repos/%[6]s/issues/%[7]d/comments","statuses_url":"https://api.github.com/repos/%[6]s/statuses/%[4]s"`, g.described(), g.c.Start.Format(time.RFC3339), at, g.hex(40), api, p.full(), number)
	for _, side := range []string{"head", "base"} {
		branch := p.branch
		if side == "head" {
			branch = g.word() + "/" + g.word()
		}
		g.p(`,"%s":{"label":"%s:%s","ref":"%[3]s","sha":"%[4]s","user":`, side, p.owner, branch, g.hex(40))
		g.user(p.owner, p.ownerID)
		g.p(`,"repo":`)
		g.repository(p)
		g.p(`}`)
	}
	g.p(`,"_links":{"self":{"href":"%[1]s"},"html":{"href":"%[2]s"},"issue":{"href":"https://api.github.com/repos/%[3]s/issues/%[4]d"},"comments":{"href":"https://api.github.com/repos/%[3]s/issues/%[4]d/comments"},"review_comments":{"href":"%[1]s/comments"},"commits":{"href":"%[1]s/commits"}},"author_association":"CONTRIBUTOR"`, api, page, p.full(), number)
}

func (g *generator) pullRequestEvent(p repo) {
	number, closed := 1+g.r.IntN(9000), g.one(480)
	action := "opened"
	if closed {
		action = "closed"
	}
	if g.c.Era == Short2025 {
		g.p(`{"action":"%s","number":%d,"pull_request":{"url":"https://api.github.com/repos/%[3]s/pulls/%[2]d","id":%[4]d,"number":%[2]d,"head":{"ref":"%[5]s","sha":"%[6]s","repo":{"id":%[7]d,"url":"https://api.github.com/repos/%[3]s","name":"%[8]s"}},"base":{"ref":"%[9]s","sha":"%[10]s","repo":{"id":%[7]d,"url":"https://api.github.com/repos/%[3]s","name":"%[8]s"}}}}`, action, number, p.full(), g.r.IntN(2e9), g.word(), g.hex(40), p.id, p.name, p.branch, g.hex(40))
		return
	}
	g.p(`{"action":"%s","number":%d,"pull_request":`, action, number)
	g.pullRequest(p, number, closed)
	g.p(`,"merged":%v,"mergeable":null,"rebaseable":null,"mergeable_state":"unknown","merged_by":null,"comments":%d,"review_comments":0,"maintainer_can_modify":false,"commits":%d,"additions":%d,"deletions":%d,"changed_files":%d}}`,
		closed, g.r.IntN(20), 1+g.r.IntN(9), g.r.IntN(900), g.r.IntN(500), 1+g.r.IntN(30))
}

func (g *generator) review(p repo) {
	number := 1 + g.r.IntN(9000)
	g.p(`{"action":"created","review":{"id":%d,"user":`, g.r.IntN(6e8))
	g.user(g.login(), g.r.Int64N(9e7))
	g.p(`,"body":null,"commit_id":"%s","state":"approved"},"pull_request":`, g.hex(40))
	g.pullRequest(p, number, false)
	g.p(`}}`)
}

func (g *generator) reviewComment(p repo) {
	number := 1 + g.r.IntN(9000)
	g.p(`{"action":"created","comment":{"id":%d,"diff_hunk":"@@ -%d,6 +%[2]d,9 @@ func %s() {\n \t%s\n+\t%s\n \t}","path":"%s/%s.go","commit_id":"%s","body":"%s","user":`, g.r.IntN(6e8), g.r.IntN(900), g.word(), g.sentence(4), g.sentence(5), g.word(), g.word(), g.hex(40), g.body())
	g.user(g.login(), g.r.Int64N(9e7))
	g.p(`},"pull_request":`)
	g.pullRequest(p, number, false)
	g.p(`}}`)
}

// issue is the object that comments carry too; a third of them are pull requests.
func (g *generator) issue(p repo, number int, pr bool) {
	api := fmt.Sprintf("https://api.github.com/repos/%s/issues/%d", p.full(), number)
	g.p(`{"url":"%[1]s","repository_url":"https://api.github.com/repos/%[2]s","labels_url":"%[1]s/labels{/name}","comments_url":"%[1]s/comments","events_url":"%[1]s/events","html_url":"https://github.com/%[2]s/issues/%[3]d","id":%[4]d,"node_id":"MDU6SXNzdWU%[4]d=","number":%[3]d,"title":"%[5]s","user":`, api, p.full(), number, g.r.IntN(9e8), g.sentence(3+g.r.IntN(8)))
	g.user(g.login(), g.r.Int64N(9e7))
	g.p(`,"labels":[{"id":%d,"node_id":"MDU6TGFiZWw%[1]d","url":"https://api.github.com/repos/%s/labels/bug","name":"bug","color":"d73a4a","default":true,"description":"Something isn't working"}],"state":"open","locked":false,"assignee":null,"assignees":[],"milestone":null,"comments":%d,"created_at":"%s","updated_at":"%[4]s","closed_at":null,"author_association":"NONE"`, g.r.IntN(2e9), p.full(), g.r.IntN(30), g.c.Start.Format(time.RFC3339))
	if pr {
		g.p(`,"pull_request":{"url":"https://api.github.com/repos/%[1]s/pulls/%[2]d","html_url":"https://github.com/%[1]s/pull/%[2]d","diff_url":"https://github.com/%[1]s/pull/%[2]d.diff","patch_url":"https://github.com/%[1]s/pull/%[2]d.patch"}`, p.full(), number)
	}
	g.p(`,"body":"%s","performed_via_github_app":null}`, g.described())
}

// comment is prose that sometimes tells how a search for the first bad commit ended.
func (g *generator) comment() string {
	s := g.body()
	switch {
	case g.one(g.c.Leads):
		s += fmt.Sprintf(`\r\n\r\nI bisected this to %s.`, g.hex(10))
	case g.one(g.c.Leads):
		s += fmt.Sprintf(`\n%s is the first bad commit`, g.hex(40))
	case g.one(g.c.Leads):
		s += fmt.Sprintf(`\nThis was fixed in PR #%d`, 1+g.r.IntN(9000))
	case g.one(g.c.Leads):
		s += fmt.Sprintf(`\nMaybe I could bisect it between %s and %s?`, g.hex(7), g.hex(7))
	}
	return s
}

func (g *generator) issueComment(p repo) {
	number := 1 + g.r.IntN(9000)
	g.p(`{"action":"created","issue":`)
	g.issue(p, number, g.one(330))
	id := g.r.IntN(9e8)
	g.p(`,"comment":{"url":"https://api.github.com/repos/%[1]s/issues/comments/%[2]d","html_url":"https://github.com/%[1]s/issues/%[3]d#issuecomment-%[2]d","issue_url":"https://api.github.com/repos/%[1]s/issues/%[3]d","id":%[2]d,"node_id":"MDEyOklzc3VlQ29tbWVudD%[2]d","user":`, p.full(), id, number)
	g.user(g.login(), g.r.Int64N(9e7))
	g.p(`,"created_at":"%[1]s","updated_at":"%[1]s","author_association":"NONE","body":"%[2]s","performed_via_github_app":null}}`, g.c.Start.Format(time.RFC3339), g.comment())
}

func (g *generator) issues(p repo) {
	g.p(`{"action":"%s","issue":`, []string{"opened", "opened", "closed"}[g.r.IntN(3)])
	g.issue(p, 1+g.r.IntN(9000), false)
	g.p(`}`)
}
