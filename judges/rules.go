package judges

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Fact is something that only a repository can tell, and that whoever has one looked up.
type Fact int

// The values of a fact.
const (
	Unknown Fact = iota
	Yes
	No
)

// Change is what the rules see of a change. Whatever is left empty is not looked at.
type Change struct {
	Title, Body string
	Closes      []int    // issues that its text closes
	TestPaths   []string // test files that it leaves
	TestCode    int      // how many of those are code in a known language
	SourcePaths []string // all other files that it touches
	SourcePatch string   // its unified diff of those
	TestPatch   string   // its unified diff of the test files
	Files       int      // how many files it touches in all
	Lines       int      // how many lines it adds and takes away in all
	Formatting  Fact     // the syntax trees of all its source files are the same before and after
}

// text is all words of a change.
func (c Change) text() string { return c.Title + "\n" + c.Body }

// Pair is what the rules judge: the change that is the task, the later fix of what it missed, and the task's statement.
type Pair struct {
	Task, Fix Change
	Statement Statement
	// Moved: blame with the detection of moved and copied lines names another origin of the fix's lines than blame without.
	Moved Fact
	// Known asks the tree before the task whether it holds a name or a text; nil: it cannot be asked.
	Known func(name string) bool
}

// Finding is a code of the rubric that structure alone supports, with the words that support it.
type Finding struct {
	Judge string `json:"judge"` // the judge whose code it is: "pair-fairness", …
	Code  string `json:"code"`  // "B9", "not_a_bug", …
	Name  string `json:"name"`  // a readable form: "not-english"
	Quote string `json:"quote"` // verbatim from the evidence
	Keeps bool   `json:"keeps"` // true: only worth knowing, the pair stays
}

// Open lists the questions of the rubric that structure cannot answer: a model or a person decides them.
var Open = []string{
	"pair validity: is the fix that of a genuine miss that could have been anticipated",
	"attribution: did the introducing change itself create the flaw",
	"statement: clear enough, and free of hints at the defect",
}

// pairRule looks at a pair and may find something.
type pairRule func(Pair) (Finding, bool)

// pairRules in the order of their findings. Those that reject are right wherever they speak, as far as anybody looked; the others are
// worth knowing: on real changes they are right less often than in nine of ten cases, or too seldom seen to say.
var pairRules = []pairRule{
	func(p Pair) (Finding, bool) { return notEnglish(p.Statement) },
	func(p Pair) (Finding, bool) { return severalIssues(p.Fix) },
	func(p Pair) (Finding, bool) { return textTests(p.Task) },
	func(p Pair) (Finding, bool) { return textTests(p.Fix) },
	func(p Pair) (Finding, bool) { return visual(p.Statement) },
	anotherLanguage, linkOnly, unrelatedTests, namesToGuess, textsToGuess, inlineTests,
	tasteRevert, dependencyBump, documentation, formattingFix,
	formattingTask, movedTask, sweepingTask,
}

// Examine answers what follows from the structure of a pair. Findings that keep the pair come last.
func Examine(p Pair) []Finding {
	var out, notes []Finding
	for _, r := range pairRules {
		switch f, ok := r(p); {
		case ok && f.Keeps:
			notes = append(notes, f)
		case ok:
			out = append(out, f)
		}
	}
	return append(out, notes...)
}

// notEnglish: B9. Most letters of the statement are outside the Latin script.
func notEnglish(s Statement) (Finding, bool) {
	latin, other := 0, 0
	for _, r := range s.Text() {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			other++
		}
	}
	return Finding{Judge: PairFairness, Code: "B9", Name: "not-english", Quote: s.Title}, other > latin
}

// severalIssues: B11. The fix closes more than one issue: its tests check more than one defect.
func severalIssues(fix Change) (Finding, bool) {
	f := Finding{Judge: PairFairness, Code: "B11", Name: "several-issues", Quote: firstLineWith(fix, "#")}
	return f, len(fix.Closes) > 1
}

// textTests: B10. A change whose tests are only data, expectations or prose.
func textTests(c Change) (Finding, bool) {
	f := Finding{Judge: PairFairness, Code: "B10", Name: "text-tests-only"}
	if len(c.TestPaths) > 0 {
		f.Quote = c.TestPaths[0]
	}
	return f, len(c.TestPaths) > 0 && c.TestCode == 0
}

var image = regexp.MustCompile(`(?i)!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>|\S+\.(?:png|jpe?g|gif|mp4|mov)\b`)

// visual: B8. The statement shows pictures and says little besides.
func visual(s Statement) (Finding, bool) {
	shown := image.FindString(s.Body)
	words := len(strings.Fields(image.ReplaceAllString(s.Text(), " ")))
	return Finding{Judge: PairFairness, Code: "B8", Name: "visual", Quote: shown}, shown != "" && words < 15
}

func firstLineWith(c Change, mark string) string {
	for _, l := range strings.Split(c.text(), "\n") {
		if strings.Contains(l, mark) {
			return strings.TrimSpace(l)
		}
	}
	return c.Title
}

// String is one line for people.
func (f Finding) String() string { return fmt.Sprintf("%s (%s): %q", f.Name, f.Code, f.Quote) }
