package localgit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"sluice/miners/changelog"
	"sluice/miners/gitrepo"
	"sluice/miners/links"
	"sluice/pipeline"
	"sluice/pipeline/mining"
	"sluice/store"
)

// logs is what the history of a repository's change logs tells.
type logs struct {
	added map[string]string // the commit that first added a line, by its folded text
	bulk  map[string]int    // lines that a commit added to change logs
	now   []string          // paths of lists, in the order of their first commit
	known map[string]bool
	// fragments are entries of files that are read when they are added: later they are gathered into a list.
	fragments []placed
}

// placed is an entry with the file that it stands in and the commit that added it; "" is unknown.
type placed struct {
	changelog.Entry
	path, commit string
}

// Limits. A file that is larger is data; a commit that adds more lines moves entries about, or is a release.
const (
	maxLog    = 4 << 20
	bulkLines = 60
	shortLine = 12 // shorter ones are the same in many places
)

// changelogs reads the change logs: the lists as they are at the tip, the fragments as they were added.
func (m *miner) changelogs(ctx context.Context, mirror *gitrepo.Mirror, tip string) error {
	l := logs{added: map[string]string{}, bulk: map[string]int{}, known: map[string]bool{}}
	wanted := func(path string) bool { return changelog.KindOf(path) != changelog.Unknown }
	err := mirror.Added(ctx, tip, wanted, changelog.Patterns(), func(a gitrepo.AddedLines) error {
		l.take(a, m.repo)
		return nil
	})
	if err != nil {
		return err
	}
	tree, err := mirror.Tree(ctx, tip)
	if err != nil {
		return err
	}
	for _, path := range l.now {
		f, err := tree.File(ctx, path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitrepo.ErrNotFile) || errors.Is(err, gitrepo.ErrMissingObject) || len(f.Data) > maxLog {
			continue
		}
		if err != nil {
			return err
		}
		m.counts["changelogs"]++
		for _, e := range changelog.Parse(path, f.Data, m.repo) {
			if err := m.entry(placed{e, path, l.added[foldLine(e.First)]}, l.bulk); err != nil {
				return err
			}
		}
	}
	for _, e := range l.fragments {
		if err := m.entry(e, l.bulk); err != nil {
			return err
		}
	}
	return nil
}

// take notes what a commit added to one file.
func (l *logs) take(a gitrepo.AddedLines, self links.Repo) {
	kind := changelog.KindOf(a.Path)
	if kind == changelog.Unknown {
		return
	}
	l.bulk[a.Commit] += len(a.Lines)
	if kind == changelog.Fragment {
		if a.New {
			for _, e := range changelog.Parse(a.Path, []byte(strings.Join(a.Lines, "\n")), self) {
				l.fragments = append(l.fragments, placed{e, a.Path, a.Commit})
			}
		}
		return
	}
	if !l.known[a.Path] {
		l.known[a.Path] = true
		l.now = append(l.now, a.Path)
	}
	for _, line := range a.Lines {
		if key := foldLine(line); len(key) >= shortLine && l.added[key] == "" {
			l.added[key] = a.Commit
		}
	}
}

var lineMark = regexp.MustCompile(`^\s*(?:[-*+•]|o|\d{1,3}[.)])\s+`)

// foldLine is a line without its mark and its outer blanks.
func foldLine(s string) string {
	return strings.Join(strings.Fields(lineMark.ReplaceAllString(s, "")), " ")
}

// housekeeping is the title of a commit that writes the change log and mends nothing.
var housekeeping = regexp.MustCompile(`(?i)^(?:\W*)(?:release|version|bump|prepare|cherry-?pick|update\w*|changelog|changes|news|docs?|history|release[- ]?notes)\b`)

// entry takes one item: where it names the origin of a defect, and which issue it closes with which change.
func (m *miner) entry(e placed, bulk map[string]int) error {
	m.counts["entries"]++
	if !e.Fix {
		return nil
	}
	m.counts["fix-entries"]++
	fix := m.entryFix(e, bulk)
	if fix == "" {
		if len(e.Origins) > 0 {
			m.problems.add(NoCommit, fmt.Sprintf("%s:%d", e.path, e.Line), "")
		}
		return nil
	}
	i, ok := m.at[fix]
	if !ok || !m.inside(m.commits[i]) {
		return nil
	}
	m.counts["tied-entries"]++
	if err := m.entryIssues(e, fix); err != nil {
		return err
	}
	for _, o := range e.Origins {
		if err := m.entryOrigin(e, m.commits[i], o); err != nil {
			return err
		}
	}
	return nil
}

// entryFix is the commit that made the repair: the one that the entry names, else the only change that settled its issue, else the
// one that wrote the entry, unless that one only keeps the log.
func (m *miner) entryFix(e placed, bulk map[string]int) string {
	for _, sha := range e.Commits {
		if ids := m.dag.Prefix(sha); len(ids) == 1 && !m.isOrigin(e, sha, 0) {
			if _, ok := m.at[ids[0]]; ok {
				return ids[0]
			}
		}
	}
	for _, n := range append(e.Requests[:len(e.Requests):len(e.Requests)], e.Numbers...) {
		if c, ok := m.index.ByNumber(n); ok && !m.isOrigin(e, "", n) {
			return c.Head
		}
		if at := m.numbers[n]; len(at) > 0 && !m.isOrigin(e, "", n) {
			return m.commits[at[len(at)-1]].ID
		}
	}
	if e.commit != "" && bulk[e.commit] <= bulkLines {
		if i, ok := m.at[e.commit]; ok && !housekeeping.MatchString(m.commits[i].Subject()) {
			return e.commit
		}
	}
	return m.settledBy(append(e.Issues[:len(e.Issues):len(e.Issues)], e.Numbers...))
}

func (m *miner) isOrigin(e placed, sha string, number int) bool {
	for _, o := range e.Origins {
		if sha != "" && o.Claim.SHA == sha || number > 0 && o.Claim.Number == number {
			return true
		}
	}
	return false
}

// settledBy is the last commit of the only change that closed one of the issues.
func (m *miner) settledBy(issues []int) string {
	for _, n := range issues {
		var ids []string
		for _, at := range m.settled(fmt.Sprint(n)) {
			ids = append(ids, m.commits[at].ID)
		}
		one := len(ids) > 0
		for _, id := range ids {
			one = one && m.sameChange(ids[0], id)
		}
		if one {
			return ids[len(ids)-1]
		}
	}
	return ""
}

// seenEntry is the evidence of a lead that a change log gave.
type seenEntry struct {
	Type    string        `json:"type"` // "changelog"
	Path    pipeline.Text `json:"path"`
	Line    int           `json:"line"`
	Commit  string        `json:"commit,omitempty"` // that added the entry
	Version string        `json:"version,omitempty"`
	Section string        `json:"section,omitempty"`
	Text    pipeline.Text `json:"text"`
}

func (m *miner) seeEntry(e placed) (int, error) {
	key := fmt.Sprintf("%s:%d:%s", e.path, e.Line, e.commit)
	return m.evidence.Add(key, seenEntry{
		"changelog", pipeline.Text(e.path), e.Line, e.commit, text(e.Version), text(e.Section), pipeline.Text(e.Text),
	})
}

// entryOrigin takes an origin: a change, or a version whose tag stands for all that was new in it.
func (m *miner) entryOrigin(e placed, fix gitrepo.Logged, o changelog.Origin) error {
	p := mining.Pair{
		Fix: m.ref(fix.ID), Cue: o.Cue, Quote: text(o.Quote), Confidence: mining.Strong, At: fix.Committed,
		ID: release(e.Version), Where: text(fmt.Sprintf("%s:%d", e.path, e.Line)),
	}
	key := ""
	if o.Version != "" {
		tag, ok := m.tags[strings.ToLower(o.Version)]
		if !ok {
			tag, ok = m.tags[strings.ToLower(o.Version)+".0"]
		}
		if !ok { // another product's version, or one that never was tagged
			m.problems.add(NoTag, fmt.Sprintf("%s:%d", e.path, e.Line), o.Version)
			return nil
		}
		p.Intro.Tag, p.ResolvedBy, p.Confidence, p.Unknown = tag, "version", mining.Weak, []string{"intro"}
		key = "tag " + p.Intro.Tag
	} else {
		f := m.resolve(fix, o.Claim)
		if f.reason != "" {
			m.problems.add(f.reason, fmt.Sprintf("%s:%d", e.path, e.Line), named(o.Claim))
			return nil
		}
		p.Intro, p.ResolvedBy = f.ref, f.by
		key = f.ref.SHA
	}
	line, err := m.seeEntry(e)
	if err != nil {
		return err
	}
	m.put(mining.Found{
		Kind: store.PairLead, Repo: m.name, Source: mining.ChangelogSource, Method: mining.ChangelogMethod, Line: line, Data: p,
		Key: "changelog " + fix.ID + ".." + key,
	}, p.ResolvedBy)
	return nil
}

// entryIssues takes the issues that the entry of a change names.
func (m *miner) entryIssues(e placed, fix string) error {
	number := m.number(fix)
	if c, ok := m.index.ByCommit(fix); ok && number == 0 {
		number = c.Number
	}
	if number == 0 {
		return nil
	}
	for _, n := range append(e.Issues[:len(e.Issues):len(e.Issues)], e.Numbers...) {
		if n == number || m.isRequest(n) || m.isOrigin(e, "", n) {
			continue
		}
		line, err := m.seeEntry(e)
		if err != nil {
			return err
		}
		m.put(mining.Found{
			Kind: store.IssuePRLead, Repo: m.name, Source: mining.ChangelogSource, Method: mining.ChangelogMethod, Line: line,
			Data: mining.IssuePR{
				Issue: n, PR: number, Merged: landed(), Confidence: mining.Weak, Quote: text(e.Text), At: m.commits[m.at[fix]].Committed,
				Where: text(fmt.Sprintf("%s:%d", e.path, e.Line)), SHA: m.landing(fix),
			},
			Key: fmt.Sprintf("changelog issue %d %d", n, number),
		}, "")
	}
	return nil
}

// release names the release whose notes hold an entry.
func release(version string) string {
	if version == "" {
		return ""
	}
	return "release:" + text(version)
}
