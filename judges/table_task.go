package judges

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/judges/evidence"
)

// ClarityReply says how well a statement tells what a right result is.
type ClarityReply struct {
	Understood string   `json:"understood"`
	Open       []string `json:"open"` // decisions that would have to be guessed
	Hint       string   `json:"hint"` // to the author
	base
}

func clarity() Spec {
	codes := []Code{
		{"0", "well specified", "It is clear what is wanted and how one would see that it is reached.", true},
		{"1", "some blanks", "Details are missing, and there is one sensible way to fill each.", true},
		{"2", "vague", "Several sensible readings lead to results that differ in what matters.", false},
		{"3", "impossible", "One cannot tell what is wanted.", false},
	}
	return spec(StatementClarity, codes, func(r ClarityReply, seen *evidence.Seen) error {
		switch guesses := len(r.Open); {
		case r.Code == "0" && guesses > 0:
			return errors.New("code 0 leaves nothing to be guessed, and open is not empty")
		case r.Code != "0" && guesses == 0:
			return fmt.Errorf("code %s says that something has to be guessed, and open is empty", r.Code)
		case (r.Code == "2" || r.Code == "3") && blank(r.Hint):
			return fmt.Errorf("with code %s the hint must say what kind of information is missing", r.Code)
		}
		return quoted(seen, "quote", r.Quote, "statement")
	})
}

// LeakageReply says whether a statement leaves the missed case open.
type LeakageReply struct {
	MissedCase string `json:"missed_case"`
	FlawedWay  string `json:"flawed_way"`
	Hint       string `json:"hint"` // to the author, who must not learn the missed case
	base
}

func leakage() Spec {
	codes := []Code{
		{"clean", "clean", "The wish is stated by its purpose; nothing singles the missed case out.", true},
		{"prescribes_mechanism", "prescribes the mechanism", "The statement demands the decision from which the miss comes.", false},
		{"leaks_future_fix", "leaks the later fix", "The statement speaks of the later fix, its report or the failure.", false},
		{"leaks_anticipation", "leaks the anticipation", "The statement says how the missed case must be treated.", false},
	}
	return spec(StatementLeakage, codes, func(r LeakageReply, seen *evidence.Seen) error {
		switch clean := r.Code == "clean"; {
		case clean && !blank(r.Hint):
			return errors.New("with code clean there is nothing to repair: the hint is the empty text")
		case !clean && blank(r.Hint):
			return fmt.Errorf("with code %s the hint must say which passage to take out or to put more generally", r.Code)
		}
		if name := fixOnly(r.Hint, seen); name != "" {
			return fmt.Errorf("the hint names %q, which only the fix has; its reader must not learn the missed case: say which words of the statement are meant", name)
		}
		return quoted(seen, "quote", r.Quote, "statement")
	})
}

// nameForm finds what looks like a name in code: with an underscore, a figure or a capital inside.
var nameForm = regexp.MustCompile(`\b[A-Za-z]+(?:[_0-9][A-Za-z0-9_]*|[a-z0-9][A-Z][A-Za-z0-9_]*)`)

// fixOnly is a name in a hint that occurs in the fix or its tests, and neither in the statement nor in the original change.
func fixOnly(hint string, seen *evidence.Seen) string {
	holds := func(name string, slots ...string) bool {
		return slices.ContainsFunc(slots, func(slot string) bool { return hasWord(strings.Join(seen.Given(slot), "\n"), name) })
	}
	for _, name := range nameForm.FindAllString(hint, -1) {
		if holds(name, "fix_text", "fix_patch", "fix_tests") && !holds(name, "statement", "task_patch") {
			return name
		}
	}
	return ""
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// InterfacesReply lists the new or altered signatures that tests use.
type InterfacesReply struct {
	Interfaces []Interface `json:"interfaces"`
	base
}

// Interface is one of them.
type Interface struct {
	Call        string `json:"call"` // a line of the tests
	Name        string `json:"name"` // with its parameters
	Location    string `json:"location"`
	Inputs      string `json:"inputs"`
	Outputs     string `json:"outputs"`
	Description string `json:"description"`
}

// Text is the list as it goes with a statement; empty if there is none.
func (r InterfacesReply) Text() string {
	blocks := make([]string, len(r.Interfaces))
	for i, f := range r.Interfaces {
		blocks[i] = fmt.Sprintf("%s\nLocation: %s\nInputs: %s\nOutputs: %s\nDescription: %s", f.Name, f.Location, f.Inputs, f.Outputs, f.Description)
	}
	return strings.Join(blocks, "\n\n")
}

func interfaces() Spec {
	codes := []Code{
		{"listed", "listed", "The tests use new or altered signatures.", true},
		{"none", "none", "The tests use only what existed before.", true},
	}
	return spec(Interfaces, codes, func(r InterfacesReply, seen *evidence.Seen) error {
		if (r.Code == "listed") != (len(r.Interfaces) > 0) {
			return fmt.Errorf("code %s does not go with a list of %d interfaces", r.Code, len(r.Interfaces))
		}
		var names []string
		for i, f := range r.Interfaces {
			if err := f.check(seen); err != nil {
				return fmt.Errorf("interfaces, item %d: %w", i+1, err)
			}
			if slices.Contains(names, f.Name) {
				return fmt.Errorf("interfaces, item %d: %q is there twice", i+1, f.Name)
			}
			names = append(names, f.Name)
		}
		return quoted(seen, "quote", r.Quote, "tests")
	})
}

// check holds an interface to the evidence: the tests call it, and the patch defines it where it is said to be.
func (f Interface) check(seen *evidence.Seen) error {
	if err := quoted(seen, "call", f.Call, "tests"); err != nil {
		return err
	}
	name := calledName(f.Name)
	switch {
	case name == "":
		return fmt.Errorf("name %q holds no name", f.Name)
	case !hasWord(f.Call, name):
		return fmt.Errorf("call does not hold %q, the name of the interface", name)
	case !hasWord(strings.Join(seen.Given("patch"), "\n"), name):
		return fmt.Errorf("the source diff does not hold %q", name)
	case blank(f.Location) || !strings.Contains(strings.Join(seen.Given("patch"), "\n"), strings.TrimSpace(f.Location)):
		return fmt.Errorf("location %q is no path of the source diff", f.Location)
	}
	return nil
}

var (
	beforeParameters = regexp.MustCompile(`([\pL_$][\pL\pN_$]*[!?]?)\s*(?:[<\[][^()\n]*[>\]])?\s*\(`)
	anyName          = regexp.MustCompile(`-{0,2}[\pL_$][\pL\pN_$-]*[!?]?`)
	notNames         = []string{"func", "function", "def", "fn", "method", "class", "async", "new", "type", "struct", "interface"}
)

// calledName is the bare name by which an interface is called: "window" for "Table.window(size)" and for "func (t *Table) window(size int)".
func calledName(signature string) string {
	for _, m := range beforeParameters.FindAllStringSubmatch(signature, -1) {
		if !slices.Contains(notNames, m[1]) {
			return m[1]
		}
	}
	head, _, _ := strings.Cut(signature, "(")
	names := anyName.FindAllString(head, -1)
	for _, n := range slices.Backward(names) {
		if !slices.Contains(notNames, n) {
			return n
		}
	}
	return ""
}

// hasWord looks for a name that is not part of a longer one.
func hasWord(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if (start == 0 || !isWordByte(text[start-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		at = end
	}
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// TaskReply says whether a change is a fair task, of what kind, and how much work.
type TaskReply struct {
	Wanted     string   `json:"wanted"`
	Demands    string   `json:"demands"`
	Effort     string   `json:"effort"`
	Difficulty string   `json:"difficulty"` // easy: under 15 minutes; medium: 15 to 60; hard: more
	Categories []string `json:"categories"`
	base
}

func taskValidity() Spec {
	return spec(TaskValidity, fairnessCodes("what the statement asks"), func(r TaskReply, seen *evidence.Seen) error {
		for i, c := range r.Categories {
			if slices.Contains(r.Categories[:i], c) {
				return fmt.Errorf("categories: %s is there twice", c)
			}
		}
		return quoted(seen, "quote", r.Quote, fairnessSlots(r.Code, "patch", "tests", TaskValidity)...)
	})
}
