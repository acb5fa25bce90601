package localgit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/links"
	"sluice/pipeline"
	"sluice/pipeline/mining"
	"sluice/store"
)

// weakCues are words that as often as not speak of work that goes on, or of something that is merely older.
var weakCues = map[string]bool{"since": true, "follow-up": true, "amends": true, "introduced": true, "partial-revert": true}

// miner collects what one run finds.
type miner struct {
	*past
	name     string
	window   gitrepo.Window
	evidence mining.Evidence
	found    []mining.Found
	pairs    map[string]int // of found, by key
	counts   map[string]int // of what was met, by name
	resolved map[string]int
	problems problems
}

// seen is the evidence of a lead that a message gave.
type seen struct {
	Type    string        `json:"type"` // "commit"
	Commit  string        `json:"commit"`
	Author  string        `json:"author"`
	Date    time.Time     `json:"date"`
	Message pipeline.Text `json:"message"`
}

func (m *miner) see(c gitrepo.Logged) (line int, err error) {
	return m.evidence.Add("commit "+c.ID, seen{"commit", c.ID, strings.ToValidUTF8(c.Author, "\uFFFD"), c.Authored, pipeline.Text(c.Message)})
}

// messages reads what every commit inside the window says.
func (m *miner) messages(ctx context.Context) error {
	for i, c := range m.commits {
		if i%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !m.inside(c) {
			continue
		}
		m.counts["commits"]++
		if subject, body, _ := strings.Cut(c.Message, "\n"); isRevert(subject, body) {
			m.counts["reverts"]++ // they name what they take back, which says nothing of a defect in it
			continue
		}
		for _, step := range []func(gitrepo.Logged) error{m.claims, m.ticketClaims, m.closedIssues} {
			if err := step(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func isRevert(subject, body string) bool {
	_, _, _, ok := links.RevertOf(subject, body)
	return ok
}

func (m *miner) inside(c gitrepo.Logged) bool {
	w := m.window
	return (w.Since.IsZero() || !c.Committed.Before(w.Since)) && (w.Until.IsZero() || c.Committed.Before(w.Until))
}

// claims takes what the message says about the origin of the defect.
func (m *miner) claims(c gitrepo.Logged) error {
	for _, claim := range links.Claims(c.Message, m.repo) {
		m.counts["claims"]++
		f := m.resolve(c, claim)
		if f.reason != "" {
			m.problems.add(f.reason, c.ID, named(claim))
			continue
		}
		p := mining.Pair{Cue: claim.Cue, Quote: text(claim.Quote), Confidence: mining.Strong}
		method := claim.Method
		if method == links.Testimony && weakCues[claim.Cue] {
			p.Confidence = mining.Weak
		}
		if trac := m.tracTitle(c, claim.Quote); trac != "" {
			method, p.ID = mining.TicketMethod, trac
		}
		if err := m.addPair(c, f, method, p); err != nil {
			return err
		}
	}
	return nil
}

func named(c links.Claim) string {
	if c.Number > 0 {
		return "#" + strconv.Itoa(c.Number)
	}
	return c.SHA + c.External
}

// tracTitle is the ticket of a title such as "Fixed #12345 -- Regression in 0123abcd", when the claim stands there.
func (m *miner) tracTitle(c gitrepo.Logged, quote string) string {
	title, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n")
	if !strings.Contains(title, quote) && !strings.HasPrefix(quote, title) {
		return ""
	}
	for _, t := range links.Tickets(title, m.repo) {
		if t.System == links.Trac {
			return ticketKey(t)
		}
	}
	return ""
}

// ticketClaims takes origins that are named by a ticket, a Change-Id or a revision.
func (m *miner) ticketClaims(c gitrepo.Logged) error {
	for _, claim := range links.TicketClaims(c.Message) {
		m.counts["ticket-claims"]++
		f := m.byTicket(c, claim.ID)
		if f.reason != "" {
			m.problems.add(f.reason, c.ID, claim.ID)
			continue
		}
		p := mining.Pair{Cue: claim.Cue, Quote: text(claim.Quote), ID: claim.ID, Confidence: mining.Strong}
		if weakCues[claim.Cue] {
			p.Confidence = mining.Weak
		}
		if err := m.addPair(c, f, mining.TicketMethod, p); err != nil {
			return err
		}
	}
	return nil
}

// addPair adds a lead for what a commit repairs. One pair of commits is one lead of a method; the first claim counts.
func (m *miner) addPair(fix gitrepo.Logged, f target, method string, p mining.Pair) error {
	line, err := m.see(fix)
	if err != nil {
		return err
	}
	p.Fix, p.Intro, p.ResolvedBy, p.At = m.ref(fix.ID), f.ref, f.by, fix.Committed
	p.Where, p.Author = "commit "+fix.ID, text(fix.Author)
	if len(fix.Parents) > 1 {
		p.MergeMode = "first-parent"
		m.problems.add(MergeFix, fix.ID, "")
	}
	m.put(mining.Found{
		Kind: store.PairLead, Repo: m.name, Source: mining.HistorySource, Method: method, Line: line, Data: p,
		Key: method + " " + fix.ID + ".." + f.ref.SHA,
	}, f.by)
	return nil
}

func (m *miner) put(f mining.Found, by string) {
	if _, twice := m.pairs[f.Key]; twice {
		return
	}
	m.pairs[f.Key] = len(m.found)
	m.found = append(m.found, f)
	if by != "" {
		m.resolved[by]++
	}
}

// closedIssues takes the issues that a change closes in the words of its commits. A number that is a request's is none.
func (m *miner) closedIssues(c gitrepo.Logged) error {
	number := m.number(c.ID)
	if number == 0 {
		return nil
	}
	for _, ref := range links.Issues(c.Message, m.repo) {
		if ref.Number == 0 || ref.Number == number || m.isRequest(ref.Number) || !ref.Closes {
			continue
		}
		line, err := m.see(c)
		if err != nil {
			return err
		}
		sure := !ref.Weak && !ref.Negated && len(m.origins.Requests) > 0 // without references the number may be a request's
		lead := mining.IssuePR{
			Issue: ref.Number, PR: number, Closing: landed(), Merged: landed(), Negated: ref.Negated, Quote: text(ref.Quote),
			Confidence: mining.Confidence(sure), At: c.Committed, Where: "commit " + c.ID, SHA: m.landing(c.ID), Author: text(c.Author),
		}
		m.put(mining.Found{
			Kind: store.IssuePRLead, Repo: m.name, Source: mining.HistorySource, Method: mining.KeywordMethod, Line: line, Data: lead,
			Key: fmt.Sprintf("issue %d %d", ref.Number, number),
		}, "")
	}
	return nil
}

// landed is the answer to whether a change of the history was merged.
func landed() *bool {
	yes := true
	return &yes
}

// maxSharers is of how many changes one ticket may be: more share an umbrella, not a defect.
const maxSharers = 6

// sharedTickets pairs the changes that settle one ticket in turn: the later one, when it speaks of a repair, mends what the
// earlier one left broken. This is weak evidence, and labelled so.
func (m *miner) sharedTickets() error {
	for _, key := range sortedKeys(m.tickets) {
		all := m.tickets[key]
		if len(all) < 2 || len(all) > maxSharers {
			continue
		}
		m.counts["shared-tickets"]++
		for i, later := range all[1:] {
			fix, earlier := m.commits[later.at], all[i]
			if !earlier.closes || !m.inside(fix) || !links.FixIsh(fix.Subject()) || m.again(earlier.at, later.at) {
				continue
			}
			intro := m.ancestors([]int{earlier.at}, fix.ID)
			if len(intro) == 0 {
				continue
			}
			p := mining.Pair{ID: key, Cue: "shared-ticket", Confidence: mining.Weak, Quote: text(fix.Subject())}
			if err := m.addPair(fix, target{ref: m.ref(intro[0]), by: "ticket"}, mining.TicketMethod, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// series is how long after each other the parts of one piece of work land.
const series = 24 * time.Hour

// again tells whether two commits are one change that landed twice or in parts, or one that was taken back between.
func (m *miner) again(earlier, later int) bool {
	a, b := m.commits[earlier], m.commits[later]
	if b.Committed.Sub(a.Committed) < series {
		return true
	}
	subject, body, _ := strings.Cut(b.Message, "\n")
	return foldSubject(a.Subject()) == foldSubject(b.Subject()) || isRevert(subject, body) ||
		a.Author == b.Author && a.Authored.Equal(b.Authored) || strings.Contains(strings.ToLower(b.Message), "cherry picked from")
}

// text makes a quotation fit for JSON; the evidence has the bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
