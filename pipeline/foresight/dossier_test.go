package foresight

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline/history"
)

// judgedPair has a task, two changes after it of which one touches the same file, and the fix.
const judgedPair = `
commit root "Begin"
commit task "Divide (#1)\n\nCloses #7."
commit near "Divide faster (#2)"
commit far "Something else (#3)"
commit fix "Fix division (#4)\n\nThis is a regression from #1. Zero was not thought of."
-- root/go.mod --
module m
-- task/a.go --
package a

func F(n int) int { return 1 / n }
-- task/a_test.go --
package a
-- near/a.go --
package a

// F divides.
func F(n int) int { return 1 / n }
-- far/b.go --
package a
-- fix/a.go --
package a

// F divides.
func F(n int) int { if n == 0 { return 0 }; return 1 / n }
-- fix/a_test.go --
package a // tests
`

func TestDossier(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, judgedPair)
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	h := history.New(m, "")
	l := linkOf(t, r, "fix")
	_, idx, err := h.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fix, _ := idx.ByCommit(r.IDs["fix"])
	got, err := Dossier(t.Context(), h, Pair{Repo: "o/r", Intro: *l.Intro, Fix: fix, Lines: l.SZZ.Lines, Quotes: []string{l.Quote}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"repository":    {"o/r"},
		"task_text":     {"Divide"},
		"fix_text":      {"Fix division\n\nZero was not thought of."},
		"traced_lines":  {"a.go:4: func F(n int) int { return 1 / n }\n"},
		"later_changes": {"L1 Divide faster (#2)"},
		"task_scope":    {"It touches 2 files: 1 of the program, 1 of tests, 0 others."},
		"facts":         {"The fix landed 0 days after the earlier change.", "The fix touches 1 files of the program and 1 of tests."},
	}
	for slot, units := range want {
		if diff := cmp.Diff(units, got[slot]); diff != "" {
			t.Errorf("%s: %s", slot, diff)
		}
	}
	for slot, part := range map[string]string{
		"task_patch": "+func F(n int) int { return 1 / n }", "task_tests": "b/a_test.go",
		"fix_patch": "+func F(n int) int { if n == 0", "fix_tests": "+package a // tests",
	} {
		if text := strings.Join(got[slot], ""); !strings.Contains(text, part) || strings.Contains(text, "a_test.go") != strings.HasSuffix(slot, "tests") {
			t.Errorf("%s: %q", slot, text)
		}
	}
}

// TestKnown: a name that could not be looked up is no name that the state lacks: the fault is there for whoever decides.
func TestKnown(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, judgedPair)
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	f := &family{Deps: Deps{History: history.New(m, ""), Repo: "o/r"}}
	var fault error
	ask := f.known(t.Context(), gitrepo.Change{Base: r.IDs["root"]}, &fault)
	if !ask("module m") || ask("F divides") || fault != nil {
		t.Errorf("the state before: %v, %v, %v", ask("module m"), ask("F divides"), fault)
	}
	if f.known(t.Context(), gitrepo.Change{}, &fault) != nil {
		t.Error("the first change has no state before it")
	}
	if f.known(t.Context(), gitrepo.Change{Base: strings.Repeat("d", 40)}, &fault)("module m") || !errors.Is(fault, gitrepo.ErrMissingObject) {
		t.Errorf("a state that is not there: %v", fault)
	}
}

// TestMoved: lines that the named change only moved from another file are known to be older, lines that it wrote are not.
func TestMoved(t *testing.T) {
	t.Parallel()
	body := "func Long(values []int, limit int) (sum int) {\n\tfor _, v := range values {\n\t\tif v < limit { sum += v }\n\t}\n\treturn sum\n}\n"
	script := `
commit root "Begin"
commit intro %q
commit fix "Fix the limit"
-- root/old.go --
package a

` + "%s" + `
-- intro/old.go --
package a
-- intro/new.go --
package a

` + body + `
-- fix/new.go --
package a

` + strings.Replace(body, "v < limit", "v <= limit", 1)
	for name, tt := range map[string]struct {
		before string
		want   judges.Fact
	}{
		"moved":   {body, judges.Yes},
		"written": {"func Other() {}\n", judges.No},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.Build(t, fmt.Sprintf(script, "Rearrange", tt.before))
			m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = m.Close() })
			f := &family{Deps: Deps{History: history.New(m, ""), Repo: "o/r"}}
			_, idx, err := f.History.Changes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fix, _ := idx.ByCommit(r.IDs["fix"])
			l := linkOf(t, r, "fix")
			if l.Intro == nil || r.Name(l.Intro.Head) != "intro" {
				t.Fatalf("blame names %+v", l.Intro)
			}
			if got, err := f.moved(t.Context(), fix, l); err != nil || got != tt.want {
				t.Errorf("moved %v, %v", got, err)
			}
		})
	}
}
