package judges_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
	"sluice/prompts"
)

const (
	page       = "../docs/judging.md"
	askedBegin = "<!-- what is asked: made by \"go test ./judges -update\", from the table of judges -->\n"
	askedEnd   = "<!-- end of what is asked -->\n"
)

// TestWhatIsAsked keeps the tables of docs/judging.md equal to the table of judges.
func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(have), askedBegin)
	old, after, ended := strings.Cut(rest, askedEnd)
	if !ok || !ended {
		t.Fatalf("%s has no place for what is asked: a line %s and a line %s", page, askedBegin, askedEnd)
	}
	text := "\n" + whatIsAsked(t)
	if *update {
		if err := os.WriteFile(page, []byte(before+askedBegin+text+askedEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, text); diff != "" {
		t.Errorf("%s is not current: run go test ./judges -update\n%s", page, diff)
	}
}

func whatIsAsked(t *testing.T) string {
	t.Helper()
	load := func(name string) prompts.Prompt {
		p, err := prompts.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var out strings.Builder
	out.WriteString("| judge | question | codes | keeps |\n| --- | --- | --- | --- |\n")
	for _, s := range judges.Specs() {
		var codes, keeps []string
		for _, c := range s.Codes {
			codes = append(codes, c.Name)
			if c.Keeps {
				keeps = append(keeps, c.Name)
			}
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", s.Prompt, load(s.Prompt).Purpose, strings.Join(codes, ", "), strings.Join(keeps, ", "))
	}
	for _, s := range judges.Specs() {
		fmt.Fprintf(&out, "\n### %s\n\n%s\n\n| code | short | meaning |\n| --- | --- | --- |\n", s.Prompt, evidenceLine(load(s.Prompt)))
		for _, c := range s.Codes {
			name := "`" + c.Name + "`"
			if c.Keeps {
				name += " (keeps)"
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", name, c.Label, c.Text)
		}
	}
	out.WriteString("\n### Texts that a model writes\n\n| prompt | purpose | evidence |\n| --- | --- | --- |\n")
	for _, name := range judges.Writers() {
		p := load(name)
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", name, p.Purpose, slotNames(p))
	}
	out.WriteString("\n")
	return out.String()
}

func evidenceLine(p prompts.Prompt) string {
	line := "Evidence: " + slotNames(p) + "."
	if p.Mask {
		line += " Numbers of changes and commit ids are masked."
	}
	return line
}

// slotNames lists slots with their budgets.
func slotNames(p prompts.Prompt) string {
	var out []string
	for _, s := range p.Slots {
		name := fmt.Sprintf("%s (%d bytes", s.Name, s.Bytes)
		if s.Optional {
			name += ", if there is any"
		}
		out = append(out, name+")")
	}
	return strings.Join(out, ", ")
}
