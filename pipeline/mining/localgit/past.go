package localgit

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/miners/gitrepo"
	"sluice/miners/links"
)

// past is a repository's history in memory, with what is needed to look up whatever a text may name.
type past struct {
	repo      links.Repo
	commits   []gitrepo.Logged // parents before children
	at        map[string]int   // positions, by id
	dag       *gitrepo.DAG
	origins   gitrepo.Origins
	index     *gitrepo.Index
	numbers   map[int][]int    // positions of a request's commits
	subjects  map[string][]int // positions, by folded subject
	tickets   map[string][]mention
	revisions map[string]string // commits, by "r123" of the Subversion that the history came from
	reviews   map[string][]int  // positions, by Gerrit's Change-Id
	tags      map[string]string // names of tags, by version
}

// mention is a commit that names a ticket.
type mention struct {
	at     int
	closes bool
}

// read reads the mirror.
func read(ctx context.Context, m *gitrepo.Mirror, name, branch string) (p *past, tip string, err error) {
	p = &past{
		repo: links.ParseRepo(name), at: map[string]int{}, numbers: map[int][]int{}, subjects: map[string][]int{},
		tickets: map[string][]mention{}, revisions: map[string]string{}, reviews: map[string][]int{}, tags: map[string]string{},
	}
	if p.commits, tip, err = m.Commits(ctx, branch); err != nil {
		return nil, "", err
	}
	if p.dag, err = m.DAG(ctx); err != nil {
		return nil, "", err
	}
	if p.origins, err = m.Origins(ctx, p.commits, tip, p.dag); err != nil {
		return nil, "", err
	}
	changes, err := m.Changes(ctx, gitrepo.Window{Branch: branch})
	if err != nil {
		return nil, "", err
	}
	p.index = gitrepo.NewIndex(changes)
	tags, err := m.Tags(ctx)
	if err != nil {
		return nil, "", err
	}
	for name := range tags {
		if v := version(name); v != "" && (p.tags[v] == "" || name < p.tags[v]) {
			p.tags[v] = name
		}
	}
	for i := range p.commits {
		p.add(i)
	}
	return p, tip, nil
}

var svnID = regexp.MustCompile(`(?m)^\s*git-svn-id: \S+@(\d+) `)

func (p *past) add(i int) {
	c := p.commits[i]
	p.at[c.ID] = i
	p.subjects[foldSubject(c.Subject())] = append(p.subjects[foldSubject(c.Subject())], i)
	if n := p.number(c.ID); n > 0 {
		p.numbers[n] = append(p.numbers[n], i)
	}
	if m := svnID.FindStringSubmatch(c.Message); m != nil {
		p.revisions["r"+m[1]] = c.ID
	}
	for _, t := range links.Tickets(c.Message, p.repo) {
		if t.System == links.ChangeID {
			p.reviews[t.ID] = append(p.reviews[t.ID], i)
			continue
		}
		key := ticketKey(t)
		p.tickets[key] = append(p.tickets[key], mention{i, t.Closes})
	}
}

func ticketKey(t links.Ticket) string { return t.System + ":" + t.ID }

// number is the request that a commit came with; 0 when none is known.
func (p *past) number(id string) int {
	if ways := p.origins.ByCommit[id]; len(ways) > 0 {
		return ways[0].Number
	}
	c, ok := p.index.ByCommit(id)
	if !ok || c.Head != id {
		return 0
	}
	return c.Number
}

// landing is the commit that a commit's change landed as; "" is unknown.
func (p *past) landing(id string) string {
	c, _ := p.index.ByCommit(id)
	return c.Head
}

// isRequest tells whether the mirror knows the number as a request's.
func (p *past) isRequest(n int) bool { return p.origins.Requests[n] || len(p.numbers[n]) > 0 }

// sameChange tells whether two commits landed together.
func (p *past) sameChange(a, b string) bool {
	if n := p.number(a); n > 0 && n == p.number(b) {
		return true
	}
	x, okX := p.index.ByCommit(a)
	y, okY := p.index.ByCommit(b)
	return a == b || okX && okY && x.Head == y.Head
}

// ancestors are the commits at positions that are in the history of fix, but not of its own change.
func (p *past) ancestors(at []int, fix string) []string {
	var out []string
	for _, i := range at {
		if id := p.commits[i].ID; id != fix && p.dag.IsAncestor(id, fix) && !p.sameChange(id, fix) {
			out = append(out, id)
		}
	}
	return out
}

// foldSubject makes subjects comparable that were quoted by hand.
func foldSubject(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	return strings.TrimRight(requestTail.ReplaceAllString(s, ""), " .")
}

var requestTail = regexp.MustCompile(` *\([#!]\d+\)$`)

// versionForm takes the version out of a tag's name: v1.2, rel_1_4_0, curl-7_80_0, release/2.0rc1.
var versionForm = regexp.MustCompile(`(?i)(?:^|[^0-9a-z.])v?(\d+(?:[._-]\d+)+|\d+)((?:[._-]?(?:a|b|rc|alpha|beta|dev|pre|post|p)[._-]?\d*)?)$`)

// version is the version of a tag in dots and lower case; "" when its name has none.
func version(tag string) string {
	m := versionForm.FindStringSubmatch(tag)
	if m == nil {
		return ""
	}
	return strings.NewReplacer("_", ".", "-", ".").Replace(m[1]) + strings.ToLower(strings.Trim(m[2], "._-"))
}

// notText counts the messages that are not UTF-8.
func (p *past) notText(out *problems) {
	for _, c := range p.commits {
		if !utf8.ValidString(c.Message) {
			out.add(NotUTF8, c.ID, "")
		}
	}
}

// sortedKeys makes the order of a map's keys the same each time.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
