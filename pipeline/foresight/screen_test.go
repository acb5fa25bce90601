package foresight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/store"
)

// lab is a repository with every change of it taken through the first stages.
type lab struct {
	*gittest.Repo
	h     *history.History
	store *store.Store
	run   func(s Settings)
}

// newLab mines a script with the family's first stages.
func newLab(t *testing.T, script, last string) lab {
	t.Helper()
	r := gittest.Build(t, script)
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	s, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l := lab{Repo: r, h: history.New(m, ""), store: s}
	candidates, err := Propose(t.Context(), l.h, "o/r", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddCandidates(t.Context(), candidates); err != nil {
		t.Fatal(err)
	}
	l.run = func(set Settings) {
		t.Helper()
		f := New(Deps{History: l.h, Repo: "o/r"}, set)
		f.Stages = through(f, last)
		if _, err := pipeline.New(s, pipeline.Options{Owner: "test"}).Run(t.Context(), f, "o/r"); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// through are a family's stages up to the one of that name.
func through(f *pipeline.Family, last string) []pipeline.Stage {
	i := slices.IndexFunc(f.Stages, func(s pipeline.Stage) bool { return s.Name == last })
	return f.Stages[:i+1]
}

// ends are the codes by the script's name of the commit; "" where the stages let it pass.
func (l lab) ends(t *testing.T) map[string]string {
	t.Helper()
	all, err := l.store.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range all {
		p, err := Decode(c)
		if err != nil {
			t.Fatal(err)
		}
		out[l.Name(p.Fix.Head)] = c.Code
		if c.State == store.Failed {
			out[l.Name(p.Fix.Head)] = "failed: " + c.Reason
		}
	}
	return out
}

// picked keeps the commits that the test is about.
func picked(got, want map[string]string) map[string]string {
	out := map[string]string{}
	for name := range want {
		out[name] = got[name]
	}
	return out
}

const screens = `
commit root "Begin"
commit old "Long ago" date=2020-01-01T00:00:00Z
commit good "Fix the sum"
commit docs "Say more"
commit empty "Nothing"
commit large "Sweep"
commit bump "Bump golang.org/x/net from 0.1.0 to 0.2.0"
commit deps "Update the tools"
commit generated "Generate again"
commit tests "Test more"
commit untested "Fix without a test"
commit layout "Explain the sum"
commit revert "Revert \"Fix the sum\"\n\nThis reverts commit 0123456789abcdef0123456789abcdef01234567."
branch topic
commit work "Work"
branch main
commit aside "Aside"
merge back topic "Merge branch 'main' into feature"
branch a
commit a1 "A"
branch b back
commit b1 "B"
branch main
merge octopus a,b "Merge branches a and b"
-- root/a.go --
package a

func Sum(a, b int) int { return a }
-- root/go.mod --
module a
-- old/a.go --
package a

func Sum(a, b int) int { return b }
-- old/a_test.go --
package a // old
-- good/a.go --
package a

func Sum(a, b int) int { return a + b }
-- good/a_test.go --
package a // good
-- docs/README.md --
More.
-- large/b.go --
package a
-- large/c.go --
package a
-- large/d.go --
package a
-- large/d_test.go --
package a
-- bump/go.mod --
module a // bumped
-- deps/go.mod --
module a // updated
-- generated/x.pb.go --
package a // generated
-- tests/a_test.go --
package a // more
-- untested/a.go --
package a

func Sum(a, b int) int { return b + a }
-- layout/a.go --
package a

// Sum adds.
func Sum(a, b int) int { return b + a }
-- layout/a_test.go --
package a // layout
-- work/w.go --
package a // work
-- aside/v.go --
package a // aside
-- a1/a1.go --
package a
-- b1/b1.go --
package a
`

func TestScreen(t *testing.T) {
	t.Parallel()
	l := newLab(t, screens, "screen")
	l.run(Settings{Since: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), MaxFiles: 3})
	want := map[string]string{
		"root": "root-commit", "old": "outside-window", "good": "", "docs": "docs-only", "empty": "empty-change", "large": "too-large",
		"bump": "dependency-bump", "deps": "dependency-bump", "generated": "generated-only", "tests": "no-source-change",
		"untested": "no-test-change", "layout": "formatting-only", "revert": "revert", "back": "back-merge", "octopus": "octopus-merge",
	}
	if diff := cmp.Diff(want, picked(l.ends(t), want)); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	codes := map[string]bool{}
	for _, c := range want {
		codes[c] = true
	}
	for _, c := range New(Deps{}, Settings{}).Stages[0].Codes {
		if !codes[c.Name] {
			t.Errorf("no change of this test meets the code %s", c.Name)
		}
	}
}

const pairs = `
commit root "Begin"
commit revert "Revert \"Something\"\n\nThis reverts commit 0123456789abcdef0123456789abcdef01234567."
commit bump "Bump x from 1 to 2"
commit untested "Add untested"
commit sourceless "Add data"
commit large "Add much"
commit python "Add in Python"
commit old "Add early" date=2020-01-01T00:00:00Z
commit good "Add well"
`

// pairScript is a history of introducing changes, each with a fix that names it in a trailer.
func pairScript(t *testing.T) string {
	t.Helper()
	files := map[string][]string{
		"root": {"root.go", "root_test.go"}, "revert": {"revert.go", "revert_test.go"}, "bump": {"bump.go", "bump_test.go"},
		"untested": {"untested.go"}, "sourceless": {"sourceless_test.go"}, "large": {"l1.go", "l2.go", "l3.go", "l_test.go"},
		"python": {"p.py", "test_p.py"}, "old": {"old.go", "old_test.go"}, "good": {"good.go", "good_test.go"},
	}
	head := pairs
	var archive strings.Builder
	for _, name := range sortedKeys(files) {
		for _, f := range files[name] {
			archive.WriteString("-- " + name + "/" + f + " --\n# " + name + "\n")
		}
	}
	ids := gittest.Build(t, head+archive.String()).IDs
	for _, name := range sortedKeys(files) {
		head += `commit f_` + name + ` "Repair ` + name + `\n\nFixes: ` + ids[name] + `"` + "\n"
		archive.WriteString("-- f_" + name + "/fix_" + name + ".go --\npackage a\n-- f_" + name + "/fix_" + name + "_test.go --\npackage a\n")
	}
	return head + archive.String()
}

func TestScreenPair(t *testing.T) {
	t.Parallel()
	l := newLab(t, pairScript(t), "screen-pair")
	set := Settings{Since: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), MaxFiles: 3}
	l.run(set)
	want := map[string]string{
		"f_root": "introducer-root", "f_revert": "introducer-revert", "f_bump": "introducer-bump", "f_untested": "introducer-no-tests",
		"f_sourceless": "introducer-no-source", "f_large": "introducer-too-large", "f_python": "other-language",
		"f_old": "introducer-outside-window", "f_good": "",
	}
	if diff := cmp.Diff(want, picked(l.ends(t), want)); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	set.MaxFiles = 10 // a setting of the stage: what it rejected is looked at anew
	l.run(set)
	want["f_large"] = ""
	if diff := cmp.Diff(want, picked(l.ends(t), want)); diff != "" {
		t.Errorf("codes with another limit (-want +got):\n%s", diff)
	}
}

func TestOutside(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2024, 1, n, 12, 0, 0, 0, time.UTC) }
	s := Settings{Since: day(10), Until: day(20)}
	for n, want := range map[int]string{9: "landed on 2024-01-09, before --since 2024-01-10", 20: "landed on 2024-01-20, not before --until 2024-01-20"} {
		if got := s.outside(day(n)); got != want || s.contains(day(n)) {
			t.Errorf("day %d: %q, contained: %v", n, got, s.contains(day(n)))
		}
	}
}
