// Package changelog reads the files in which projects tell their users what changed: Keep a Changelog and other Markdown,
// reStructuredText with headings or Sphinx directives, plain NEWS files, fragments (towncrier, changesets) and GNU ChangeLogs.
//
// Its functions are pure, take time linear in the text and never fail: a file of an unknown form has no entries. They report what
// an entry says and decide nothing about it; numbers and versions are not looked up anywhere.
package changelog

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"sluice/miners/links"
)

// Entry is one item of a change log.
type Entry struct {
	Version  string   `json:"version,omitempty"` // of the release that it stands under, as written; "" for what is not released
	Section  string   `json:"section,omitempty"` // the heading or the tags that it stands under
	Line     int      `json:"line"`              // of its first line, from 1
	First    string   `json:"first"`             // its first line without the mark of the list
	Text     string   `json:"text"`              // all of it on one line
	Fix      bool     `json:"fix"`               // it tells of a repair
	Requests []int    `json:"requests,omitempty"`
	Issues   []int    `json:"issues,omitempty"`
	Numbers  []int    `json:"numbers,omitempty"` // of which the text does not say whether they are requests or issues
	Commits  []string `json:"commits,omitempty"` // ids, 7 to 40 digits
	// Origins are what the entry names as the origin of the defect.
	Origins []Origin `json:"origins,omitempty"`
}

// Origin is a statement about where a defect came from: a version, or a change.
type Origin struct {
	Version string      `json:"version,omitempty"`
	Claim   links.Claim `json:"claim,omitzero"`
	Cue     string      `json:"cue"`
	Quote   string      `json:"quote"`
}

// Kind is the form of a file.
type Kind int

// The forms. Unknown is of files that are no change log.
const (
	Unknown  Kind = iota
	Sections      // headings and lists, in Markdown, reStructuredText or plain text
	Fragment      // one entry for each file
	GNU
)

var (
	logName = regexp.MustCompile(`(?i)^(?:changes|changelog|change[-_]log|history|news|release[-_]?notes?|releases|whatsnew|what's[-_]new)(?:[-_.]?v?\d[\w.]*)?(?:\.(?:md|markdown|rst|txt|adoc))?$`)
	// logFolder is for files of any name in a folder of change logs, one for each version.
	logFolder = regexp.MustCompile(`(?i)(?:^|/)(?:changelogs?|releases?|release[-_]?notes?|whatsnew)/[\w.-]*\d[\w.-]*\.(?:md|rst|txt)$`)
	// fragment is 1234.bugfix.rst, +odd.fix.md, PROJ-12.bug, 1234-5.bugfix.1.rst.
	fragmentName = regexp.MustCompile(`(?i)^\+?([\w-]+)\.(bug|bugfix|fix|fixed|security|feature|feat|added|changed|change|removed|removal|deprecation|deprecated|doc|docs|misc|improvement|breaking|enhancement|trivial|vendor|contrib|packaging)(?:\.\d+)?(?:\.(?:rst|md|txt))?$`)
	pendingFile  = regexp.MustCompile(`(?i)(?:^|/)(?:unreleased[\w.-]*|changelog\.d|newsfragments|\.changeset)/[^/]+\.(?:rst|md|txt)$`)
)

// KindOf tells the form of a file by its path. What lies in folders of dependencies is another project's.
func KindOf(name string) Kind {
	for _, part := range strings.Split(name, "/") {
		switch strings.ToLower(part) {
		case "vendor", "node_modules", "third_party", "thirdparty", "testdata", "fixtures":
			return Unknown
		}
	}
	base := path.Base(name)
	switch {
	case strings.EqualFold(base, "readme.md"), strings.EqualFold(base, "readme.rst"), strings.EqualFold(base, "readme.txt"):
		return Unknown
	case fragmentName.MatchString(base) && strings.Contains(name, "/"), pendingFile.MatchString(name):
		return Fragment
	case base == "ChangeLog" || strings.HasPrefix(base, "ChangeLog.") || strings.HasPrefix(base, "ChangeLog-"):
		return GNU
	case logName.MatchString(base), logFolder.MatchString(name):
		return Sections
	}
	return Unknown
}

// Patterns are git's pathspecs for all files that KindOf may know.
func Patterns() []string {
	return []string{
		"**/change*", "**/history*", "**/news*", "**/release*", "**/whatsnew*", "**/what's*", "**/change*/**", "**/release*/**",
		"**/newsfragments/**", "**/changelog.d/**", "**/.changeset/**", "**/unreleased*/**", "**/*.bugfix*", "**/*.fix*", "**/*.bug*",
		"**/whatsnew/**",
	}
}

// Limits: what is larger is no list that people write.
const (
	maxLine    = 4 << 10
	maxEntry   = 8 << 10
	maxEntries = 50000
)

// Parse reads a file. self is the repository whose numbers the entries name.
func Parse(name string, data []byte, self links.Repo) []Entry {
	p := parser{self: self, kind: KindOf(name), footnotes: footnotes(data)}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	switch p.kind {
	case Unknown:
		return nil
	case GNU:
		p.gnu(text)
	case Fragment:
		p.fragment(name, text)
	default:
		p.sections(text)
	}
	return p.entries
}

type parser struct {
	self      links.Repo
	kind      Kind
	footnotes map[string]string
	entries   []Entry
	version   string
	section   string
	tags      string
	now       *draft
}

// draft is the entry that is being read.
type draft struct {
	line      int
	first     string
	indent    int
	directive bool // what is indented more is its own, lists too
	text      strings.Builder
	fix       bool
	issues    []int
}

func (p *parser) begin(line, indent int, first string) {
	p.end()
	p.now = &draft{line: line, first: strings.TrimSpace(first), indent: indent}
	p.now.text.WriteString(p.now.first)
}

func (p *parser) more(text string) {
	if p.now == nil || p.now.text.Len() > maxEntry {
		return
	}
	text = strings.TrimSpace(text)
	if p.now.first == "" {
		p.now.first = text
	}
	if text != "" {
		p.now.text.WriteString(" " + text)
	}
}

// end finishes the entry.
func (p *parser) end() {
	d := p.now
	p.now = nil
	if d == nil || len(p.entries) >= maxEntries {
		return
	}
	text := strings.TrimSpace(d.text.String())
	if len(text) < 4 || len(strings.Fields(text)) < 2 {
		return
	}
	section := strings.TrimSpace(p.section + " " + p.tags)
	e := Entry{Version: p.version, Section: section, Line: d.line, First: d.first, Text: text, Issues: d.issues}
	e.Fix = d.fix || fixSection.MatchString(section) && !notFix.MatchString(section) || fixText.MatchString(text)
	p.refer(&e)
	if e.Fix {
		e.Origins = origins(text, e.Version, p.self)
	}
	p.entries = append(p.entries, e)
}

var (
	fixSection = regexp.MustCompile(`(?i)\b(?:bugs?|bug[ -]?fix(?:es)?|fix(?:es|ed)?|security|regressions?|hotfix|patch(?: changes)?|defects?)\b|🐛|🐞`)
	notFix     = regexp.MustCompile(`(?i)known (?:bugs|issues)`)
	fixText    = regexp.MustCompile(`(?i)^[\s*_\[(` + "`" + `:]*(?:\w+\([\w ,/.-]+\)!?:\s*)?(?:bug ?-?fix|fix(?:ed|es)?|bug|regression|hotfix|solved|corrected)\b`)
)

// Words around a version that make it the origin of a defect.
var originVersion = regexp.MustCompile(`(?i)\b(regress(?:ion|ions|ed|es)?|introduced|broken?|breakage|bug|since|caused)\b[^.\n;]{0,60}?\b(?:in|since|from|by|of|with|after)\s+(?:the\s+)?(?:(\w+)\s+)??(?:version\s+|release\s+|v)?[` + "`*" + `]{0,2}(\d+(?:\.\d+){1,3}(?:[.-]?(?:a|b|rc|alpha|beta|dev|post)\.?\d*)?)\b`)

// origins are what an entry says about where the defect came from. A version that is not older than the entry's own is none.
func origins(text, own string, self links.Repo) []Origin {
	var out []Origin
	for _, c := range links.Claims("Fix: "+text, self) {
		if !c.Negated {
			out = append(out, Origin{Claim: c, Cue: c.Cue, Quote: strings.TrimPrefix(c.Quote, "Fix: ")})
		}
	}
	seen := map[string]bool{}
	// Roles are blanked out, so that places stay and the quotation is as it stands.
	plain := roleRef.ReplaceAllStringFunc(text, func(role string) string { return strings.Repeat(" ", len(role)) })
	for _, at := range originVersion.FindAllStringSubmatchIndex(plain, 20) {
		cue, v := strings.ToLower(text[at[2]:at[3]]), text[at[6]:at[7]]
		if at[4] >= 0 && !strings.EqualFold(text[at[4]:at[5]], self.Name) && !preposition.MatchString(text[at[4]:at[5]]) {
			continue // another product's version: "with Python 3.7"
		}
		if seen[v] || (cue == "since" || cue == "introduced" || cue == "bug") && !trouble.MatchString(text) || own != "" && !older(v, own) {
			continue
		}
		seen[v] = true
		out = append(out, Origin{Version: v, Cue: cue, Quote: text[at[0]:at[1]]})
	}
	return out
}

var preposition = regexp.MustCompile(`^(?i:in|since|from|by|of|with|after|the|version|release|series)$`)

var trouble = regexp.MustCompile(`(?i)\b(?:regress\w*|bug|broke\w*|crash\w*|fail\w*|fix\w*|error|wrong\w*|incorrect\w*)\b`)

// older compares versions by their numbers.
func older(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m = x[i]
		}
		if i < len(y) {
			n = y[i]
		}
		if m != n {
			return m < n
		}
	}
	return false
}

var digits = regexp.MustCompile(`\d+`)

func numbers(version string) []int {
	var out []int
	for _, d := range digits.FindAllString(version, 8) {
		n, err := strconv.Atoi(d)
		if err != nil {
			return out
		}
		out = append(out, n)
	}
	return out
}
