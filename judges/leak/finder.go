package leak

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// finder looks for clues in one statement.
type finder struct {
	statement string
	words     []word
	past      *past
	found     []Leak
}

func (f *finder) add(start, end int, l Leak) {
	l.Start, l.End, l.Text = start, end, f.statement[start:end]
	if len(f.found) < 4*maxFinds {
		f.found = append(f.found, l)
	}
}

// clue adds a find unless the clue was known after all.
func (f *finder) clue(start, end int, c clue, split bool) {
	if f.past.covers(c) {
		return
	}
	l := Leak{Kind: c.kind, Source: c.source, Evidence: c.evidence, Strength: c.strength, Split: split}
	if split {
		l.Strength = Weak // two words meet by chance
	}
	f.add(start, end, l)
}

// clues looks at each word of the statement: as it is, as a spelling of a name, as the begin of a run.
func (f *finder) clues(s *clueSet) {
	for i, w := range f.words {
		if c, ok := s.single[w.text]; ok && (!c.marked || w.code || f.quoted(w)) {
			f.clue(w.start, w.end, c, false)
		} else if c, ok := s.byKey[key(w.text)]; ok && compound(w.text) {
			f.clue(w.start, w.end, c, false)
		}
		f.apart(i, s)
		for _, c := range s.phrases[w.lower] {
			if end, ok := f.runsOn(i, c.words); ok {
				f.clue(w.start, end, c, false)
			}
		}
	}
}

// quoted reports whether quotation marks hold just this word.
func (f *finder) quoted(w word) bool {
	if w.start == 0 || w.end >= len(f.statement) {
		return false
	}
	before, after := f.statement[w.start-1], f.statement[w.end]
	return before == after && (before == '"' || before == '\'')
}

// maxParts is how many words of a name are looked for apart.
const maxParts = 8

// apart looks for a name whose words stand apart.
func (f *finder) apart(i int, s *clueSet) {
	text := f.words[i].lower
	for n := 2; n <= maxParts && i+n <= len(f.words); n++ {
		next := f.words[i+n-1]
		if !joint(f.statement[f.words[i+n-2].end:next.start], " -") {
			return
		}
		text += " " + next.lower
		if c, ok := s.byKey[text]; ok && rare(c.words) >= 2 && !f.past.phrase(c.words) {
			f.clue(f.words[i].start, next.end, c, true)
		}
	}
}

// runsOn reports whether the words stand one after the other from word i on, with no more than marks between them.
func (f *finder) runsOn(i int, words []string) (end int, ok bool) {
	if i+len(words) > len(f.words) {
		return 0, false
	}
	for k, w := range words {
		if f.words[i+k].lower != w {
			return 0, false
		}
		if k > 0 && !joint(f.statement[f.words[i+k-1].end:f.words[i+k].start], " -'\"`.,:;()[]{}<>/*=#_%!?&|@+\\~^") {
			return 0, false
		}
	}
	return f.words[i+len(words)-1].end, true
}

// joint reports whether a gap between two words holds only the given marks and at most one end of a line, and is short.
func joint(gap, marks string) bool {
	if len(gap) == 0 || len(gap) > 8 || strings.Count(gap, "\n") > 1 {
		return false
	}
	return strings.Trim(gap, marks+"\n\r\t") == ""
}

var (
	linkTo   = regexp.MustCompile(`https?://[^\s<>()"'\x60]*/(?:pull|pulls|issues|commit|commits|merge_requests|compare|c|changeset)/[^\s<>()"'\x60]*`)
	hexWord  = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	numbered = regexp.MustCompile(`(?:[\w.-]+/[\w.-]+)?(?:^|\B)[#!](\d{1,9})\b|\bGH-(\d{1,9})\b|(?i:\b(?:pull request|pr|mr|merge request|issue|bug|ticket)\s+(\d{2,9})\b)`)
	digits   = regexp.MustCompile(`\d+`)
)

// references finds ids, numbers and links.
func (f *finder) references(in Input) {
	for _, m := range linkTo.FindAllStringIndex(f.statement, maxFinds) {
		if text := f.statement[m[0]:m[1]]; !f.past.verbatim(text) {
			f.add(m[0], m[1], Leak{Kind: Link, Source: "statement", Evidence: text, Strength: Strong})
		}
	}
	for _, m := range hexWord.FindAllStringIndex(f.statement, maxFinds) {
		f.commit(m[0], m[1], in.Commits)
	}
	for _, m := range numbered.FindAllStringSubmatchIndex(f.statement, maxFinds) {
		f.number(m[0], m[1], in)
	}
}

// commit judges a word of hexadecimal digits.
func (f *finder) commit(start, end int, ids []string) {
	text := f.statement[start:end]
	if f.past.names[text] || f.past.verbatim(text) {
		return
	}
	for _, id := range ids {
		if strings.HasPrefix(strings.ToLower(id), text) {
			f.add(start, end, Leak{Kind: Commit, Source: "fix", Evidence: id, Strength: Strong})
			return
		}
	}
	// Another id: a whole one is no word of any language; a short one may be.
	if strings.ContainsAny(text, "abcdef") && strings.ContainsAny(text, "0123456789") {
		l := Leak{Kind: Commit, Source: "statement", Evidence: text, Strength: Weak}
		if len(text) == 40 {
			l.Strength = Strong
		}
		f.add(start, end, l)
	}
}

// number judges the number of a change or an issue.
func (f *finder) number(start, end int, in Input) {
	text := f.statement[start:end]
	if f.past.verbatim(text) {
		return
	}
	n, err := strconv.Atoi(digits.FindString(text[strings.LastIndexAny(text, "#!-/ ")+1:]))
	if err != nil {
		return
	}
	l := Leak{Kind: Reference, Source: "statement", Evidence: text, Strength: Weak}
	for _, own := range in.Numbers {
		if own == n {
			l.Source, l.Strength = "fix", Strong
		}
	}
	if in.LastNumber > 0 && n > in.LastNumber && strings.ContainsAny(text, "#!") {
		l.Strength = Strong
	}
	f.add(start, end, l)
}

// dateForms are how people and programs write days and months; a month alone counts from its first day.
var dateForms = []struct {
	re      *regexp.Regexp
	layouts []string
}{
	{regexp.MustCompile(`\b(?:19|20)\d\d-\d\d-\d\d\b`), []string{"2006-01-02"}},
	{regexp.MustCompile(`\b(?:19|20)\d\d/\d\d/\d\d\b`), []string{"2006/01/02"}},
	{regexp.MustCompile(`\b\d{1,2} [A-Z][a-z]{2,8} (?:19|20)\d\d\b`), []string{"2 January 2006", "2 Jan 2006"}},
	{regexp.MustCompile(`\b[A-Z][a-z]{2,8} \d{1,2}, (?:19|20)\d\d\b`), []string{"January 2, 2006", "Jan 2, 2006"}},
	{regexp.MustCompile(`\b[A-Z][a-z]{2,8} (?:19|20)\d\d\b`), []string{"January 2006", "Jan 2006"}},
}

// dates finds days and months that begin after the cutoff.
func (f *finder) dates(cutoff time.Time) {
	if cutoff.IsZero() {
		return
	}
	for _, form := range dateForms {
		for _, m := range form.re.FindAllStringIndex(f.statement, maxFinds) {
			text := f.statement[m[0]:m[1]]
			for _, layout := range form.layouts {
				if day, err := time.Parse(layout, text); err == nil && day.After(cutoff) && !f.past.verbatim(text) {
					f.add(m[0], m[1], Leak{Kind: Date, Source: "statement", Evidence: cutoff.UTC().Format(time.DateOnly), Strength: Strong})
					break
				}
			}
		}
	}
}

// everywhere are names of files that many folders have.
var everywhere = set(`__init__.py index.js index.ts index.html mod.rs lib.rs main.rs main.go main.py main.c readme.md readme changelog.md
package.json setup.py makefile cargo.toml go.mod utils.py utils.js utils.go types.ts types.go config.py conftest.py meson.build test.js`)

// paths finds the files that the later change touches and that nothing before names.
func (f *finder) paths(in Input) {
	for _, side := range []struct{ source, patch string }{{"tests", clip(in.Tests)}, {"fix", clip(in.Fix)}} {
		for _, file := range ReadPatch(side.patch) {
			base := path.Base(file.Path)
			if file.Path == "" || !strings.Contains(f.statement, base) || f.past.file(file.Path) {
				continue
			}
			l := Leak{Kind: Path, Source: side.source, Evidence: file.Path, Strength: Strong}
			if strings.Contains(file.Path, "/") {
				f.everyPlace(file.Path, l)
			}
			if everywhere[strings.ToLower(base)] || !strings.Contains(base, ".") {
				continue
			}
			if !file.New || !compound(strings.ReplaceAll(base, "-", "_")) {
				l.Strength = Weak // it may have been there before, or have the name that such files have
			}
			f.everyPlace(base, l)
		}
	}
}

// everyPlace adds a find wherever the text stands by itself, unless it was known before.
func (f *finder) everyPlace(text string, l Leak) {
	if !strings.Contains(f.statement, text) || f.past.file(text) {
		return
	}
	for at := 0; len(f.found) < 4*maxFinds; {
		i := strings.Index(f.statement[at:], text)
		if i < 0 {
			return
		}
		start, end := at+i, at+i+len(text)
		if !nameByte(f.statement, start-1) && !nameByte(f.statement, end) {
			f.add(start, end, l)
		}
		at = end
	}
}

func nameByte(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == '_' || s[i] == '-' || s[i] >= 0x80 || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z')
}
