package localgit

import (
	"fmt"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/miners/links"
	"sluice/pipeline/mining"
)

// target is what a claim names, or why nothing answers.
type target struct {
	ref    mining.Ref
	by     string // see mining.Pair.ResolvedBy
	reason string // of a failure
}

// resolve finds the commit that a claim in the message of fix names. It must be an ancestor of the fix: whatever else has that id
// cannot have introduced what is repaired there.
func (p *past) resolve(fix gitrepo.Logged, c links.Claim) target {
	switch {
	case c.Negated:
		return target{reason: Negated}
	case c.SHA != "":
		return p.bySHA(fix, c.SHA, c.Subject)
	case c.External != "":
		return p.external(fix, c)
	}
	return p.byNumber(fix, c.Number)
}

// external reads a reference that is written as another repository's. Forks and renamed repositories share commits, and a copy on
// another host shares the numbers too.
func (p *past) external(fix gitrepo.Logged, c links.Claim) target {
	name, sha, ok := strings.Cut(c.External, "@")
	if ok {
		if f := p.bySHA(fix, sha, c.Subject); f.reason == "" {
			return f
		}
		return target{reason: OtherRepo}
	}
	name, digits, _ := strings.Cut(c.External, "#")
	if self := p.repo.Owner + "/" + p.repo.Name; p.repo.Name != "" && strings.HasSuffix(strings.ToLower("/"+name), strings.ToLower("/"+self)) {
		n := 0
		if _, err := fmt.Sscan(digits, &n); err == nil {
			return p.byNumber(fix, n)
		}
	}
	return target{reason: OtherRepo}
}

// bySHA finds a commit by the beginning of its id. Where that does not settle it the subject that is quoted beside the id
// does: people copy ids from trees that are rebased later.
func (p *past) bySHA(fix gitrepo.Logged, sha, subject string) target {
	candidates := p.dag.Prefix(sha)
	var ancestors []string
	for _, id := range candidates {
		if id != fix.ID && p.dag.IsAncestor(id, fix.ID) {
			ancestors = append(ancestors, id)
		}
	}
	quoted := p.bySubject(fix, subject)
	switch {
	case len(ancestors) == 1 && (quoted == "" || p.hasSubject(ancestors[0], subject)):
		return target{ref: p.ref(ancestors[0]), by: "id"}
	case quoted != "":
		return target{ref: p.ref(quoted), by: "subject"}
	case len(ancestors) > 1:
		return target{reason: Ambiguous}
	case len(candidates) == 0:
		return target{reason: Unknown}
	case candidates[0] == fix.ID:
		return target{reason: Itself}
	case !p.dag.Related(candidates[0], fix.ID):
		return target{reason: Unrelated}
	}
	return target{reason: NotAncestor}
}

// bySubject is the only ancestor of that subject; "" for none or several.
func (p *past) bySubject(fix gitrepo.Logged, subject string) string {
	if subject == "" {
		return ""
	}
	ancestors := p.ancestors(p.subjects[foldSubject(subject)], fix.ID)
	if len(ancestors) != 1 {
		return ""
	}
	return ancestors[0]
}

// hasSubject tells whether the commit's subject is the quoted one, or begins or ends with it: people shorten.
func (p *past) hasSubject(id, quoted string) bool {
	i, ok := p.at[id]
	subject, quoted := foldSubject(p.commits[i].Subject()), foldSubject(strings.TrimRight(quoted, ".… "))
	return ok && (strings.HasPrefix(subject, quoted) || strings.HasSuffix(subject, quoted))
}

// byNumber finds the change of a request; else, where the number is an issue's, the only change that closed it.
func (p *past) byNumber(fix gitrepo.Logged, n int) target {
	if n == p.number(fix.ID) {
		return target{reason: Itself}
	}
	if c, ok := p.index.ByNumber(n); ok && c.Head != fix.ID {
		if !p.dag.IsAncestor(c.Head, fix.ID) {
			return target{reason: NotAncestor}
		}
		return target{ref: mining.Ref{SHA: c.Head, Number: n}, by: "number"}
	}
	if ids := p.ancestors(p.numbers[n], fix.ID); len(ids) > 0 {
		return target{ref: mining.Ref{SHA: ids[len(ids)-1], Number: n}, by: "number"}
	}
	if f := p.byTicket(fix, fmt.Sprint(n)); f.reason == "" {
		return f
	}
	return target{reason: NoChange}
}

// byTicket finds the only change that settled a ticket of that id, whatever the tracker; a Change-Id and a revision of
// Subversion work the same way.
func (p *past) byTicket(fix gitrepo.Logged, id string) target {
	by := "ticket"
	var at []int
	switch {
	case strings.HasPrefix(id, "r"):
		by = "revision"
		if i, ok := p.at[p.revisions[id]]; ok {
			at = append(at, i)
		}
	case strings.HasPrefix(id, "I") && !strings.Contains(id, "-"):
		by = "change-id"
		for _, review := range sortedKeys(p.reviews) {
			if strings.HasPrefix(review, id) {
				at = append(at, p.reviews[review]...)
			}
		}
	default:
		at = p.settled(id)
	}
	ids := p.ancestors(at, fix.ID)
	if len(ids) == 0 {
		return target{reason: NoTicket}
	}
	for _, other := range ids[1:] {
		if !p.sameChange(ids[0], other) {
			return target{reason: Ambiguous}
		}
	}
	return target{ref: p.ref(ids[len(ids)-1]), by: by}
}

// settled are the commits that say they close a ticket of that id; when none says so, those that name it.
func (p *past) settled(id string) []int {
	var closing, naming []int
	for _, key := range sortedKeys(systems) {
		for _, m := range p.tickets[key+":"+id] {
			naming = append(naming, m.at)
			if m.closes {
				closing = append(closing, m.at)
			}
		}
	}
	if len(closing) > 0 {
		return closing
	}
	return naming
}

// systems are the trackers whose tickets are named by a bare id.
var systems = map[string]bool{
	links.Trac: true, links.Bugzilla: true, links.Jira: true, links.Launchpad: true, links.Debian: true, links.Numbered: true,
	links.Forge: true, links.Phabricator: true,
}

// ref names a commit with its request, where that is known.
func (p *past) ref(id string) mining.Ref { return mining.Ref{SHA: id, Number: p.number(id)} }
