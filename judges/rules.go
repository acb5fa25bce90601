package judges

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Change is what the rules see of a change.
type Change struct {
	Title, Body string
	Closes      []int    // issues that its text closes
	TestPaths   []string // test files that it leaves
	TestCode    int      // how many of those are code in a known language
}

// Finding is a code of the rubric (spec: judges) that structure alone supports, with the words that support it.
type Finding struct {
	Judge string `json:"judge"` // "pair-validity", "task"
	Code  string `json:"code"`  // "B9", "unpredictable", …
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

// Rules answers what follows from the structure of a pair. Findings that keep the pair come last.
func Rules(task, fix Change, statement Statement) []Finding {
	var out []Finding
	add := func(f Finding, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	add(notEnglish(statement))
	add(severalIssues(fix))
	add(textTests(task))
	add(textTests(fix))
	add(visual(statement))
	return out
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
	return Finding{Judge: "task", Code: "B9", Name: "not-english", Quote: s.Title}, other > latin
}

// severalIssues: B11. The fix closes more than one issue: its tests check more than one defect.
func severalIssues(fix Change) (Finding, bool) {
	f := Finding{Judge: "task", Code: "B11", Name: "several-issues", Quote: firstLineWith(fix, "#")}
	return f, len(fix.Closes) > 1
}

// textTests: B10. A change whose tests are only data, expectations or prose.
func textTests(c Change) (Finding, bool) {
	f := Finding{Judge: "task", Code: "B10", Name: "text-tests-only"}
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
	return Finding{Judge: "task", Code: "B8", Name: "visual", Quote: shown}, shown != "" && words < 15
}

func firstLineWith(c Change, mark string) string {
	for _, l := range strings.Split(c.Title+"\n"+c.Body, "\n") {
		if strings.Contains(l, mark) {
			return strings.TrimSpace(l)
		}
	}
	return c.Title
}

// String is one line for people.
func (f Finding) String() string { return fmt.Sprintf("%s (%s): %q", f.Name, f.Code, f.Quote) }
