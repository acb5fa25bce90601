// Package leak finds, without any model, what a statement could only know from the future: names, texts and numbers that occur in a
// later change and nowhere before it, tests and paths that came with it, ids, numbers, links and dates.
//
// It compares texts that it is given. It reads no repository, decides no case, and what was to be read before is never a leak.
package leak

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kind says what was found.
type Kind string

// The kinds of finds.
const (
	Identifier Kind = "name"      // of a function, a variable, an option …
	TestName   Kind = "test"      // of a test function or case
	Text       Kind = "literal"   // a string of the code
	Message    Kind = "message"   // a string that the code raises, prints or asserts
	Figure     Kind = "number"    //
	Path       Kind = "path"      // of a file
	Commit     Kind = "commit"    // an id
	Reference  Kind = "reference" // the number of a change or an issue
	Link       Kind = "link"      // to a change, an issue or a commit
	Date       Kind = "date"      // after the cutoff
)

// Strength says how sure a find is.
type Strength string

// The strengths. Only strong finds are leaks by themselves; weak ones may be chance, and are for whoever looks closer.
const (
	Strong Strength = "strong"
	Weak   Strength = "weak"
)

// Leak is one find.
type Leak struct {
	Kind     Kind     `json:"kind"`
	Text     string   `json:"text"`   // verbatim from the statement
	Start    int      `json:"start"`  // bytes of the statement
	End      int      `json:"end"`    //
	Source   string   `json:"source"` // "fix", "tests", "words" or "statement"
	Evidence string   `json:"evidence"`
	Strength Strength `json:"strength"`
	// Split: the words of an identifier stand apart in the statement, as in "retry budget" for retryBudget.
	Split bool `json:"split,omitempty"`
}

// Input is what a statement is held against.
type Input struct {
	// Before is all that could be read when the task began: files, issues, the task's own title and description, and the task's own
	// patch where a statement may speak of it. What stands here is known.
	Before []string
	// Known asks a tree from before whether it holds a name, a string or a path; nil: no tree is at hand, and simple words count for
	// less. It is asked only of what the statement holds and the texts of Before do not.
	Known func(name string) bool
	Fix   string // the later change's patch of the source
	Tests string // its patch of the tests
	Words string // its title, description and discussion

	Commits    []string  // full ids of the task, of the fix and of what they are made of
	Numbers    []int     // of the changes, and of the fix's issues
	LastNumber int       // the highest number of a change or issue that was given out before the cutoff; 0: unknown
	Cutoff     time.Time // zero: dates are not looked at
}

// maxFinds is how many finds one statement can have.
const maxFinds = 1000

// maxText is how much of each text is read, in bytes: what is longer is no change that people wrote.
const maxText = 16 << 20

// Find looks for leaks, in the order of the statement. Finds never overlap: of two, the longer one stands, else the stronger.
func Find(statement string, in Input) []Leak {
	past := newPast(in)
	f := finder{statement: statement, words: read(statement), past: past}
	f.references(in)
	f.dates(in.Cutoff)
	f.paths(in)
	f.clues(collect(in, past))
	return settle(f.found)
}

// settle orders the finds and drops what another covers.
func settle(found []Leak) []Leak {
	slices.SortStableFunc(found, func(a, b Leak) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Strength, b.Strength), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Evidence, b.Evidence))
	})
	var out []Leak
	for _, l := range found {
		last := len(out) - 1
		switch {
		case last < 0 || l.Start >= out[last].End:
			if len(out) < maxFinds {
				out = append(out, l)
			}
		case out[last].Strength == Weak && l.Strength == Strong:
			out[last] = l // a strong find inside or across a weak one
		}
	}
	return out
}

// past is what was known before.
type past struct {
	names  map[string]bool // as written
	keys   map[string]bool // of identifiers, in any spelling
	folded []string        // texts in lower case, words only, one space between
	raw    []string
	known  func(string) bool
	tree   bool
	asked  map[string]bool // answers of covers
}

func newPast(in Input) *past {
	p := &past{names: map[string]bool{}, keys: map[string]bool{}, asked: map[string]bool{}, known: in.Known, tree: in.Known != nil}
	for _, t := range in.Before {
		p.add(clip(t))
	}
	for _, patch := range []string{in.Fix, in.Tests} {
		for _, f := range ReadPatch(clip(patch)) {
			for _, h := range f.Hunks {
				p.add(h.Before)
			}
		}
	}
	return p
}

func clip(t string) string { return t[:min(len(t), maxText)] }

func (p *past) add(text string) {
	if text == "" {
		return
	}
	for _, w := range read(text) {
		if p.names[w.text] {
			continue
		}
		p.names[w.text] = true
		p.keys[key(w.text)] = true
	}
	p.folded = append(p.folded, fold(text))
	p.raw = append(p.raw, text)
}

// fold leaves the words of a text, in lower case, identifiers taken apart, with one space around each.
func fold(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range read(text) {
		parts := Split(w.text)
		if len(parts) > 1 && b.Len() > maxText {
			break
		}
		for _, p := range parts {
			b.WriteString(p)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// named reports whether a name, in any spelling, stood in the texts from before.
func (p *past) named(name string) bool { return p.names[name] || p.keys[key(name)] }

// covers looks for a clue wherever one can look. It is slow, and asked only of clues that a statement holds.
func (p *past) covers(c clue) bool {
	covered, ok := p.asked[c.evidence]
	if !ok {
		covered = p.known != nil && p.known(c.evidence) || p.phrase(c.folded()) || c.kind == Figure && p.verbatim(c.evidence)
		p.asked[c.evidence] = covered
	}
	return covered
}

// phrase reports whether words stood one after the other before.
func (p *past) phrase(words []string) bool {
	wanted := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(p.folded, func(t string) bool { return strings.Contains(t, wanted) })
}

// file reports whether a path stood before.
func (p *past) file(name string) bool { return p.verbatim(name) || p.known != nil && p.known(name) }

// verbatim reports whether a string stood before, as written.
func (p *past) verbatim(s string) bool {
	return slices.ContainsFunc(p.raw, func(t string) bool { return strings.Contains(t, s) })
}
