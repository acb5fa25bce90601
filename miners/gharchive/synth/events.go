package synth

import (
	"fmt"
	"time"
)

// share is how often a type occurs, of a thousand events.
type share struct {
	kind string
	n    int
	make func(g *generator, p repo)
}

// shares are the mix since 2015; Timeline2012 and API2011 have their own writer for pushes and the frame.
var shares = []share{
	{"PushEvent", 525, (*generator).push},
	{"CreateEvent", 130, (*generator).create},
	{"WatchEvent", 85, func(g *generator, _ repo) { g.p(`{"action":"started"}`) }},
	{"PullRequestEvent", 62, (*generator).pullRequestEvent},
	{"IssueCommentEvent", 55, (*generator).issueComment},
	{"DeleteEvent", 38, func(g *generator, _ repo) {
		g.p(`{"ref":"%s/%s","ref_type":"branch","pusher_type":"user"}`, g.word(), g.word())
	}},
	{"IssuesEvent", 26, (*generator).issues},
	{"ForkEvent", 22, func(g *generator, p repo) {
		g.p(`{"forkee":`)
		g.repository(repo{p.id + 7, g.login(), p.name, p.ownerID + 7, p.about, p.branch})
		g.p(`}`)
	}},
	{"PullRequestReviewEvent", 22, (*generator).review},
	{"PullRequestReviewCommentEvent", 17, (*generator).reviewComment},
	{"ReleaseEvent", 6, func(g *generator, p repo) {
		g.p(`{"action":"published","release":{"url":"https://api.github.com/repos/%s/releases/%d","tag_name":"v%d.%d.%d","body":"%s","author":`, p.full(), g.r.IntN(1e8), g.r.IntN(9), g.r.IntN(30), g.r.IntN(9), g.body())
		g.user(p.owner, p.ownerID)
		g.p(`}}`)
	}},
	{"MemberEvent", 5, func(g *generator, _ repo) {
		g.p(`{"member":`)
		g.user(g.login(), g.r.Int64N(9e7))
		g.p(`,"action":"added"}`)
	}},
	{"GollumEvent", 3, func(g *generator, p repo) {
		g.p(`{"pages":[{"page_name":"%[1]s","title":"%[1]s","summary":null,"action":"edited","sha":"%[2]s","html_url":"https://github.com/%[3]s/wiki/%[1]s"}]}`, g.word(), g.hex(40), p.full())
	}},
	{"CommitCommentEvent", 2, func(g *generator, p repo) { g.p(`{"comment":{"body":"%s","commit_id":"%s"}}`, g.body(), g.hex(40)) }},
	{"PublicEvent", 2, func(g *generator, _ repo) { g.p(`{}`) }},
}

// event writes one event in the form of the era.
func (g *generator) event() {
	n := g.r.IntN(1000)
	s := shares[0]
	for _, s = range shares {
		if n -= s.n; n < 0 {
			break
		}
	}
	p := g.repo()
	g.id += int64(1 + g.r.IntN(40))
	switch g.c.Era {
	case Timeline2012:
		g.timeline(s, p)
	case API2011:
		g.api(s, p)
	default:
		g.frame(s, p)
	}
}

// frame is an event since 2015.
func (g *generator) frame(s share, p repo) {
	who, id := g.login(), g.r.Int64N(9e7)
	g.p(`{"id":"%d","type":"%s","actor":{"id":%d,"login":"%[4]s","display_login":"%[4]s","gravatar_id":"","url":"https://api.github.com/users/%[4]s","avatar_url":"https://avatars.githubusercontent.com/u/%[3]d?"}`, g.id, s.kind, id, who)
	g.p(`,"repo":{"id":%d,"name":"%[2]s","url":"https://api.github.com/repos/%[2]s"},"payload":`, p.id, p.full())
	s.make(g, p)
	g.p(`,"public":true,"created_at":"%s"`, g.moment().Format(time.RFC3339))
	if p.id%3 == 0 {
		g.p(`,"org":{"id":%d,"login":"%[2]s","gravatar_id":"","url":"https://api.github.com/orgs/%[2]s","avatar_url":"https://avatars.githubusercontent.com/u/%[1]d?"}`, p.ownerID, p.owner)
	}
	g.p(`}`)
}

// timeline is an event of 2012 to 2014: no id, times of California.
func (g *generator) timeline(s share, p repo) {
	at := g.moment().In(time.FixedZone("", -7*3600)).Format("2006-01-02T15:04:05-07:00")
	who := g.login()
	g.p(`{"created_at":"%s","payload":`, at)
	page := "https://github.com/" + p.full()
	if s.kind == "PushEvent" {
		head := g.hex(40)
		g.shas(head)
		page += "/compare/" + g.hex(10) + "..." + head[:10]
	} else {
		s.make(g, p)
	}
	g.p(`,"public":true,"type":"%s","url":"%s","actor":"%[3]s","actor_attributes":{"login":"%[3]s","type":"User","gravatar_id":"%[4]s","name":"%[5]s","location":"%[6]s","email":"%[7]s@%[6]s.example"}`,
		s.kind, page, who, g.hex(32), g.sentence(2), g.word(), g.hex(40))
	g.p(`,"repository":{"id":%d,"name":"%s","url":"https://github.com/%s","description":"%s","watchers":%d,"stargazers":1,"forks":0,"fork":false,"size":%d,"owner":"%s","private":false,"open_issues":%d,"has_issues":true,"has_downloads":true,"has_wiki":true,"language":"Ruby","created_at":"%s","pushed_at":"%[9]s","master_branch":"%[10]s"}}`,
		p.id, p.name, p.full(), p.about, g.r.IntN(900), g.r.IntN(9e5), p.owner, g.r.IntN(90), at, p.branch)
}

// api is an event of 2011: the repository's name is often empty.
func (g *generator) api(s share, p repo) {
	name := p.full()
	if g.one(100) {
		name = "/"
	}
	g.p(`{"repo":{"id":%d,"url":"https://api.github.dev/repos/%[2]s","name":"%[2]s"},"type":"%s","public":true,"created_at":"%s","payload":`, p.id, name, s.kind, g.moment().Format(time.RFC3339))
	if s.kind == "PushEvent" {
		g.shas(g.hex(40))
	} else {
		s.make(g, p)
	}
	who := g.login()
	g.p(`,"actor":{"gravatar_id":"%s","id":%d,"url":"https://api.github.dev/users/%[3]s","avatar_url":"https://secure.gravatar.com/avatar/%[1]s","login":"%[3]s"},"id":"%d"}`, g.hex(32), g.r.Int64N(9e6), who, g.id)
}

// commits is how many a push has.
func (g *generator) commits() int {
	switch {
	case g.one(750):
		return 1
	case g.one(900):
		return 2 + g.r.IntN(4)
	}
	return 20
}

// message is a commit's: some speak of a repair, few name an id, and very few name one after a word of repair.
func (g *generator) message() string {
	s := g.sentence(1 + g.r.IntN(9))
	switch {
	case g.one(g.c.Leads):
		return fmt.Sprintf(`Fix %s\n\n%s.\n\nFixes: %s (\"%s\")`, s, g.sentence(12), g.hex(40), g.sentence(4))
	case g.one(180):
		return "fix " + s
	case g.one(60):
		return fmt.Sprintf(`Merge pull request #%d from %s/%s\n\n%s`, g.r.IntN(5000), g.word(), g.word(), s)
	case g.one(6):
		return fmt.Sprintf(`fix: %s\n\n(cherry picked from commit %s)`, s, g.hex(40))
	case g.one(100):
		return s + `\n\n` + g.sentence(20) + `.\n` + g.sentence(14) + `.\n\nSigned-off-by: ` + g.word() + ` \u003c` + g.word() + `@` + g.word() + `.example\u003e`
	}
	return s
}

func (g *generator) push(p repo) {
	head, before := g.hex(40), g.hex(40)
	if g.c.Era == Short2025 {
		g.p(`{"repository_id":%d,"push_id":%d,"ref":"refs/heads/%s","head":"%s","before":"%s"}`, p.id, g.id*2, p.branch, head, before)
		return
	}
	n := g.commits()
	g.p(`{"push_id":%d,"size":%[2]d,"distinct_size":%[2]d,"ref":"refs/heads/%s","head":"%s","before":"%s","commits":[`, g.id/2, n, p.branch, head, before)
	who := g.word()
	for i := range n {
		sha := g.hex(40)
		if i == n-1 {
			sha = head
		} else if i > 0 {
			g.p(`,`)
		}
		if i == n-1 && n > 1 {
			g.p(`,`)
		}
		g.p(`{"sha":"%s","author":{"email":"%s@%s.example","name":"%s"},"message":"%s","distinct":true,"url":"https://api.github.com/repos/%s/commits/%[1]s"}`, sha, g.hex(40), who, g.sentence(2), g.message(), p.full())
	}
	g.p(`]}`)
}

func (g *generator) shas(head string) {
	n := g.commits()
	g.p(`{"shas":[`)
	for i := range n {
		sha := head
		if i < n-1 {
			sha = g.hex(40)
		}
		if i > 0 {
			g.p(`,`)
		}
		g.p(`["%s","%s@%s.example","%s","%s",true]`, sha, g.hex(40), g.word(), g.message(), g.sentence(2))
	}
	g.p(`],"size":%d,"ref":"refs/heads/master","head":"%s"}`, n, head)
}

func (g *generator) create(p repo) {
	g.p(`{"ref":"%s-%s","ref_type":"branch","master_branch":"%s","description":"%s","pusher_type":"user"}`, g.word(), g.word(), p.branch, p.about)
}
