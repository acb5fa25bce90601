package classic

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/miners/szz"
)

// history is a repository with its mirror.
type history struct {
	*gittest.Repo
	m *gitrepo.Mirror
}

func load(t testing.TB, script string) history {
	t.Helper()
	h := history{Repo: gittest.Build(t, script)}
	var err error
	if h.m, err = gitrepo.Open(t.Context(), h.Dir, t.TempDir(), gitrepo.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.m.Close() })
	return h
}

// ask attributes the commit called fix.
func (h history) ask(t testing.TB, v *Variants, name, fix string) szz.Answer {
	t.Helper()
	s, ok := v.Strategy(name)
	if !ok {
		t.Fatalf("no variant %q", name)
	}
	c, err := h.m.Commit(t.Context(), h.ID(fix))
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Attribute(t.Context(), szz.Fix{Commit: c.ID, Base: c.FirstParent()})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != name || a.Strategy != name+"/"+Version || a.Fix != c.ID || a.MergeMode != szz.FirstParent || a.Suspects == nil {
		t.Errorf("%s: the answer's head is %+v", name, a)
	}
	if (len(a.Suspects) == 0) != (a.Abstained != "") {
		t.Errorf("%s: %d suspects, abstained %q", name, len(a.Suspects), a.Abstained)
	}
	return a
}

// brief writes an answer with the script's names: "bug:2 other:1", and the reasons.
func (h history) brief(a szz.Answer) string {
	var out []string
	for _, s := range a.Suspects {
		out = append(out, fmt.Sprintf("%s:%d", h.Name(s.Commit), s.Lines))
	}
	if a.Abstained != "" {
		out = append(out, a.Abstained)
	}
	for _, s := range a.Skipped {
		out = append(out, s.File+"="+s.Reason)
	}
	return strings.Join(out, " ")
}

// answers is what every variant says of a fix, in the order of Names.
func (h history) answers(t *testing.T, fix string, o Options) string {
	t.Helper()
	v := New(h.m, o)
	var out []string
	for _, name := range Names() {
		out = append(out, name+" "+h.brief(h.ask(t, v, name, fix)))
	}
	return strings.Join(out, "\n")
}

// sweep is many files that one commit changes.
func sweep(commit string) string {
	var b strings.Builder
	for i := range 21 {
		fmt.Fprintf(&b, "-- %s/other/%d.txt --\n%s\n", commit, i, commit)
	}
	return b.String()
}

// Each fixture is about one thing that a variant does and the one that it builds on does not.
func TestEachVariantChangesTheAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, want string }{
		{"AG does not count comments, blank lines and layout", `
commit bug "m"
commit format "m"
commit noise "m"
commit fix "m"
-- bug/a.py --
def f(a):
  return a + 1
-- format/a.py --
def f(a):
    return a + 1
-- noise/a.py --
def f(a):
    # Adds one.

    return a + 1
-- fix/a.py --
def f(a):
    return a + 2
`, "b noise:2 format:1\nag bug:1\nma bug:1\nl bug:1\nr bug:1\nra bug:1"},
		{"AG looks through commits of many files", `
commit bug "m"
commit sweep "m"
commit fix "m"
-- bug/a.py --
x = compute(1)
-- sweep/a.py --
x = compute_all(1)
-- fix/a.py --
x = compute_all(2)
` + sweep("sweep"), "b sweep:1\nag bug:1\nma bug:1\nl bug:1\nr bug:1\nra bug:1"},
		{"MA follows moved lines", `
commit bug "m"
commit move "m"
commit fix "m"
-- bug/a.py --
def first_function_of_this_file(argument, another_argument):
    return argument + another_argument - 1

def second():
    pass
-- move/a.py --
def second():
    pass

def first_function_of_this_file(argument, another_argument):
    return argument + another_argument - 1
-- fix/a.py --
def second():
    pass

`, "b move:2\nag move:2\nma bug:2\nl bug:2\nr bug:2\nra bug:2"},
		{"MA follows copied lines", `
commit bug "m"
commit copy "m"
commit fix "m"
-- bug/a.py --
def first_function_of_this_file(argument, another_argument):
    return argument + another_argument - 1
-- bug/b.py --
b = 1
-- copy/a.py --
a = 1
-- copy/b.py --
b = 1
def first_function_of_this_file(argument, another_argument):
    return argument + another_argument - 1
-- fix/b.py --
b = 1
`, "b copy:2\nag copy:2\nma bug:2\nl bug:2\nr bug:2\nra bug:2"},
		{"MA looks through commits that rename the file", `
commit bug "m"
commit rename "m"
  rm a.py
commit fix "m"
-- bug/a.py --
alpha = 1000
beta = 2000
c = 3
x = compute(1)
-- rename/b.py --
alpha = 1000
beta = 2000
c = 3
x = compute_all(1)
-- fix/b.py --
alpha = 1000
beta = 2000
c = 3
x = compute_all(2)
`, "b rename:1\nag rename:1\nma bug:1\nl bug:1\nr bug:1\nra bug:1"},
		{"MA looks through merges", `
commit bug "m"
branch side
commit work "m"
branch main
commit more "m"
merge merged side "m"
commit fix "m"
-- bug/a.py --
x = compute(1)
-- work/b.py --
b = 1
-- more/c.py --
c = 1
-- merged/a.py --
x = compute_all(1)
-- fix/a.py --
x = compute_all(2)
`, "b merged:1\nag merged:1\nma bug:1\nl bug:1\nr bug:1\nra bug:1"},
		{"L takes the largest, R the latest", `
commit small "m"
commit large "m"
commit late "m"
commit fix "m"
-- small/a.py --
a = 1
b = 1
-- large/a.py --
a = 1
b = 1
c = 1
-- large/b.py --
x = 1
y = 1
z = 1
-- late/a.py --
a = 1
b = 1
c = 1
d = 1
-- fix/a.py --
a = 2
b = 2
c = 2
d = 2
`, "b small:2 late:1 large:1\nag small:2 late:1 large:1\nma small:2 late:1 large:1\nl large:1\nr late:1\nra small:2 late:1 large:1"},
		{"RA looks through renamings", `
commit bug "m"
commit rename "m"
commit fix "m"
-- bug/a.py --
def f(items):
    total = 1
    return total + len(items)
-- rename/a.py --
def f(items):
    number = 1
    return number + len(items)
-- fix/a.py --
def f(items):
    number = 0
    return number + len(items)
`, "b rename:1\nag rename:1\nma rename:1\nl rename:1\nr rename:1\nra bug:1"},
		{"RA does not count what the fix refactors", `
commit bug "m"
commit other "m"
commit fix "m"
-- bug/a.py --
def f(items):
    limit = 1
    return g(limit, 5)
-- other/a.py --
def f(items):
    limit = 1
    check(limit)
    return g(limit, 5)
-- fix/a.py --
def f(items):
    most = 1
    check(most)
    return g(most, 6)
`, "b bug:2 other:1\nag bug:2 other:1\nma bug:2 other:1\nl bug:2\nr other:1\nra bug:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := load(t, tt.script)
			if diff := cmp.Diff(tt.want, h.answers(t, "fix", Options{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A fix without an answer says why.
func TestReasons(t *testing.T) {
	t.Parallel()
	const before = "commit bug \"m\"\ncommit fix \"m\"\n-- bug/a.py --\nx = 1\n\n# c\ndef f(a):\n    b = a\n    return b\n"
	for _, tt := range []struct{ name, script, b, ra string }{
		{"add only", before + "-- fix/a.py --\nx = 1\n\n# c\ndef f(a):\n    b = a\n    return b\ny = 2\n", "add-only", "add-only"},
		{"new files", before + "-- fix/b.py --\nx = 1\n", "new-files-only", "new-files-only"},
		{"comments", before + "-- fix/a.py --\nx = 1\ndef f(a):\n    b = a\n    return b\n", "bug:2", "all-comments"},
		{"layout", before + "-- fix/a.py --\nx  =  1\n\n# c\ndef f(a):\n    b = a\n    return b\n", "bug:1", "bug:1"},
		{"refactoring", before + "-- fix/a.py --\nx = 1\n\n# c\ndef f(a):\n    d = a\n    return d\n", "bug:2", "refactoring-only"},
		{"binary", "commit bug \"m\"\ncommit fix \"m\"\n-- bug/a.bin --\n\x00a\n-- fix/a.bin --\n\x00b\n", "no-source", "no-source"},
		{"nothing", "commit bug \"m\"\ncommit fix \"m\"\n-- bug/a.py --\nx\n", "no-source", "no-source"},
		{"submodule", "commit bug \"m\"\n  gitlink sub " + strings.Repeat("1", 40) + "\ncommit fix \"m\"\n  gitlink sub " + strings.Repeat("2", 40) + "\n", "no-source", "no-source"},
	} {
		h := load(t, tt.script)
		v := New(h.m, Options{})
		if b, ra := h.brief(h.ask(t, v, "b", "fix")), h.brief(h.ask(t, v, "ra", "fix")); b != tt.b || ra != tt.ra {
			t.Errorf("%s: b %q, ra %q; want %q, %q", tt.name, b, ra, tt.b, tt.ra)
		}
		if got := h.brief(h.ask(t, v, "ma", "bug")); got != szz.RootFix {
			t.Errorf("%s: the root: %q", tt.name, got)
		}
	}
}

// A merge is read against its first parent.
func TestMergeFix(t *testing.T) {
	t.Parallel()
	h := load(t, `
commit bug "m"
branch side
commit work "m"
branch main
commit more "m"
merge fix side "m"
-- bug/a.py --
x = 1
-- work/a.py --
x = 2
-- more/b.py --
y = 1
`)
	if got := h.brief(h.ask(t, New(h.m, Options{}), "ma", "fix")); got != "bug:1" {
		t.Error(got)
	}
}

const twoFiles = `
commit one "m" date=2024-01-01T00:00:00Z
commit two "m" date=2024-02-01T00:00:00Z
commit fix "m" date=2024-03-01T00:00:00Z
-- one/a.py --
x = 1
-- two/a.py --
x = 1
y = 1
-- two/b.py --
z = 1
-- fix/a.py --
x = 2
y = 2
-- fix/b.py --
z = 2
`

// What was committed when the defect was reported, or later, cannot be the cause.
func TestIssueDate(t *testing.T) {
	t.Parallel()
	h := load(t, twoFiles)
	for date, want := range map[string]string{
		"2024-02-01T00:00:01Z": "two:2 one:1", "2024-02-01T00:00:00Z": "one:1", "2024-01-31T23:59:59-05:00": "two:2 one:1", "2023-01-01T00:00:00Z": TooLate,
	} {
		at, err := time.Parse(time.RFC3339, date)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.brief(h.ask(t, New(h.m, Options{IssueDates: map[string]time.Time{h.ID("fix"): at}}), "ma", "fix")); got != want {
			t.Errorf("%s: %s, want %s", date, got, want)
		}
	}
}

// A budget that ends says which files were not followed; what was followed counts.
func TestBudget(t *testing.T) {
	t.Parallel()
	h := load(t, twoFiles)
	if got := h.brief(h.ask(t, New(h.m, Options{Budget: 1}), "b", "fix")); got != "two:1 one:1 b.py=budget_exhausted" {
		t.Error(got)
	}
}

// A name that is renamed to and fro takes a step each time: the budget ends it, and without one the walk does.
func TestCyclicRename(t *testing.T) {
	t.Parallel()
	var script, files strings.Builder
	script.WriteString("commit bug \"m\"\n")
	files.WriteString("-- bug/a.py --\ndef f(a):\n    x = 1\n    return x\n")
	for i := range 40 {
		name := []string{"y", "x"}[i%2]
		fmt.Fprintf(&script, "commit c%d \"m\"\n", i)
		fmt.Fprintf(&files, "-- c%d/a.py --\ndef f(a):\n    %s = 1\n    return %s\n", i, name, name)
	}
	script.WriteString("commit fix \"m\"\n")
	files.WriteString("-- fix/a.py --\ndef f(a):\n    x = 0\n    return x\n")
	h := load(t, script.String()+files.String())
	if got := h.brief(h.ask(t, New(h.m, Options{Budget: 10}), "ra", "fix")); got != "budget_exhausted a.py=budget_exhausted" {
		t.Error(got)
	}
	if got := h.brief(h.ask(t, New(h.m, Options{}), "ra", "fix")); got != "bug:1" {
		t.Error(got)
	}
}

// Files that are renamed in a circle, each time with a change of the line.
func TestCyclicFileRename(t *testing.T) {
	t.Parallel()
	var script, files strings.Builder
	body := "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
	script.WriteString("commit bug \"m\"\n")
	fmt.Fprintf(&files, "-- bug/a.py --\n%sx = compute(0)\n", body)
	for i := range 12 {
		from, to := []string{"a.py", "b.py"}[i%2], []string{"b.py", "a.py"}[i%2]
		fmt.Fprintf(&script, "commit c%d \"m\"\n  rm %s\n", i, from)
		fmt.Fprintf(&files, "-- c%d/%s --\n%sx = compute(%d)\n", i, to, body, i+1)
	}
	script.WriteString("commit fix \"m\"\n")
	fmt.Fprintf(&files, "-- fix/a.py --\n%sx = compute(99)\n", body)
	h := load(t, script.String()+files.String())
	if got := h.brief(h.ask(t, New(h.m, Options{Budget: 5}), "ma", "fix")); got != "budget_exhausted a.py=budget_exhausted" {
		t.Error(got)
	}
	if got := h.brief(h.ask(t, New(h.m, Options{}), "ma", "fix")); got != "bug:1" {
		t.Error(got)
	}
}

// A blob that the repository lacks is a reason, not an error.
func TestMissingObject(t *testing.T) {
	t.Parallel()
	h := load(t, twoFiles)
	id := strings.TrimSpace(h.Git("rev-parse", h.ID("two")+":a.py"))
	if err := os.Remove(filepath.Join(h.m.Dir(), "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if a := h.ask(t, New(h.m, Options{}), name, "fix"); a.Abstained != szz.MissingObject {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	h := load(t, twoFiles)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := New(h.m, Options{}).Strategy("ra")
	fix, err := h.m.Commit(t.Context(), h.ID("fix"))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := s.Attribute(ctx, szz.Fix{Commit: fix.ID, Base: fix.FirstParent()}); err == nil {
		t.Errorf("no error, but %+v", a)
	}
}

// Asked at the same time, the variants say what they say alone.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	h := load(t, twoFiles)
	want := h.answers(t, "fix", Options{})
	v := New(h.m, Options{})
	got := make(chan string)
	for range 6 {
		go func() {
			var out []string
			for _, name := range Names() {
				s, _ := v.Strategy(name)
				a, err := s.Attribute(t.Context(), szz.Fix{Commit: h.ID("fix"), Base: h.ID("two")})
				if err != nil {
					t.Error(err)
				}
				out = append(out, name+" "+h.brief(a))
			}
			got <- strings.Join(out, "\n")
		}()
	}
	for range 6 {
		if diff := cmp.Diff(want, <-got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if About(name) == "" {
			t.Errorf("nothing is said of %s", name)
		}
	}
	if _, ok := New(nil, Options{}).Strategy("x"); ok || About("x") != "" {
		t.Error("there is a variant x")
	}
}
