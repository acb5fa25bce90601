package foresight

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/miners/szz"
	"sluice/pipeline/history"
)

// origins has four changes that a fix may name, and a last line that blame finds "blamed" for.
const origins = `
commit root "Begin"
commit first "Add one (#1)"
commit second "Add two (#2)"
commit blamed "Add three (#3)"
commit fix %q
commit later "Add four (#9)"
-- root/a.go --
package a
-- first/b.go --
package a
-- second/c.go --
package a
-- blamed/a.go --
package a

func F(n int) int { return n / 0 }
-- fix/a.go --
package a

func F(n int) int { return n / 1 }
-- later/d.go --
package a
`

func TestFindLink(t *testing.T) {
	t.Parallel()
	ids := gittest.Build(t, fmt.Sprintf(origins, "Fix")).IDs
	first, second := ids["first"], ids["second"]
	for name, tt := range map[string]struct{ message, method, intro, quoted string }{
		"blame alone":            {"Fix F (#4)", "szz", "blamed", ""},
		"testimony before blame": {"Fix F (#4)\n\nThis is a regression from #1.", "testimony", "first", "fix"},
		"a trailer before testimony, wherever it stands": {
			"Fix F (#4)\n\nThis is a regression from #1.\n\nFixes: " + second, "trailer", "second", "fix"},
		"the first of two trailers":                       {"Fix F\n\nFixes: " + first + "\nFixes: " + second, "trailer", "first", "fix"},
		"an abbreviated commit":                           {"Fix F\n\nFixes: " + first[:10], "trailer", "first", "fix"},
		"its own number":                                  {"Fix F (#4)\n\nThis was introduced in #4.", "szz", "blamed", ""},
		"a later change":                                  {"Fix F (#4)\n\nThis was introduced in #9.", "szz", "blamed", ""},
		"another repository's":                            {"Fix F (#4)\n\nThis was introduced in x/y#1.", "szz", "blamed", ""},
		"a number that no change has":                     {"Fix F (#4)\n\nThis was introduced in #77.", "szz", "blamed", ""},
		"a commit that the history lacks":                 {"Fix F\n\nFixes: 0123456789abcdef0123456789abcdef01234567", "szz", "blamed", ""},
		"no regression from it":                           {"Fix F (#4)\n\nThis is not a regression from #1.", "szz", "blamed", ""},
		"testimony that resolves after one that does not": {"Fix F\n\nThis was introduced in #77. It was broken by #2.", "testimony", "second", "fix"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.Build(t, fmt.Sprintf(origins, tt.message))
			l := linkOf(t, r, "fix")
			intro := ""
			if l.Intro != nil {
				intro = r.Name(l.Intro.Head)
			}
			got := []string{l.Method, intro, r.Name(l.Where)}
			if diff := cmp.Diff([]string{tt.method, tt.intro, tt.quoted}, got); diff != "" {
				t.Errorf("method, introducer, where quoted (-want +got):\n%s\nclaims %+v", diff, l.Claims)
			}
			if (l.Quote != "") != (tt.quoted != "") {
				t.Errorf("quote %q", l.Quote)
			}
			if len(l.SZZ.Votes) == 0 || r.Name(l.SZZ.Votes[0].Change) != "blamed" {
				t.Errorf("blame is kept whatever the text says: %+v", l.SZZ)
			}
		})
	}
}

func linkOf(t *testing.T, r *gittest.Repo, name string) Link {
	t.Helper()
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	f := &family{Deps: Deps{History: history.New(m, ""), Repo: "o/r"}, memo: szz.NewMemo()}
	_, idx, err := f.History.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fix, ok := idx.ByCommit(r.ID(name))
	if !ok {
		t.Fatalf("no change %s", name)
	}
	l, err := f.findLink(t.Context(), fix)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTestimonyOfInnerCommits(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, `
commit root "Begin"
commit first "Add one (#1)"
branch topic
commit inner "Repair\n\nThe crash was introduced in #1."
branch main
commit other "Aside"
merge fix topic "Merge pull request #5 from ann/topic\n\nFix b"
-- root/a.go --
package a
-- first/b.go --
package a
-- inner/c.go --
package a
-- other/d.go --
package a
`)
	l := linkOf(t, r, "fix")
	if l.Intro == nil || r.Name(l.Intro.Head) != "first" || r.Name(l.Where) != "inner" || l.Method != "testimony" {
		t.Errorf("%+v", l)
	}
}

func TestAttributeAbstains(t *testing.T) {
	t.Parallel()
	l := newLab(t, `
commit root "Begin"
commit adds "Fix by adding"
-- root/a.go --
package a
-- adds/a.go --
package a

var X = 1
-- adds/a_test.go --
package a
`, "attribute")
	l.run(Settings{})
	want := map[string]string{"root": "root-commit", "adds": "szz-abstains"}
	if diff := cmp.Diff(want, l.ends(t)); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}
