package lineage

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

// tb is what tests and rapid's have in common.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// load opens the repository of a folder and reads its history.
func load(ctx context.Context, t tb, dir, mirrors string) (*gitrepo.Mirror, *Graph) {
	t.Helper()
	m, err := gitrepo.Open(ctx, dir, mirrors, gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tip, err := m.Tip(ctx)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Load(ctx, m, []string{tip})
	if err != nil {
		t.Fatal(err)
	}
	return m, g
}

// built is a history of one script.
func built(t *testing.T, script string) (*gittest.Repo, *Graph) {
	t.Helper()
	r := gittest.Build(t, script)
	m, g := load(t.Context(), t, r.Dir, t.TempDir())
	t.Cleanup(func() { m.Close() })
	return r, g
}

// trace follows all lines of a file, and gives the origins of each generation by the names of commits.
func trace(t *testing.T, r *gittest.Repo, g *Graph, q Query, at string) (got []string, out Trace) {
	t.Helper()
	c, ok := g.Find(r.IDs[at])
	if !ok {
		t.Fatalf("commit %s is not in the graph", at)
	}
	q.Commit = c
	if q.Keep == 0 {
		q.Keep = 1
	}
	file, err := g.ReadFile(t.Context(), c, q.Path)
	if err != nil || file == nil {
		t.Fatal(file, err)
	}
	if q.Seeds == nil {
		for i := range file.Len() {
			q.Seeds = append(q.Seeds, Seed{int32(i), 1})
		}
	}
	if out, err = g.Trace(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for name, id := range r.IDs {
		names[id] = name
	}
	for _, o := range out.Origins {
		got = append(got, fmt.Sprintf("%d/%d %s", q.Seeds[o.Seed].Line+1, o.Generation, names[g.Commits[o.Commit].ID]))
	}
	slices.Sort(got)
	return got, out
}

// drawHistory builds a random history of one file with branches, merges and renames. Every line is unique, so that there is only
// one way to tell what changed.
func drawHistory(t *rapid.T, dir string) (path string) {
	b := gittest.NewBuilder()
	next, path := 0, "a.c"
	line := func() string { next++; return fmt.Sprintf("line number %d of all\n", next) }
	edit := func(lines []string) []string {
		lines = slices.Clone(lines)
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			at := rapid.IntRange(0, len(lines)).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				if at < len(lines) && len(lines) > 3 {
					lines = slices.Delete(lines, at, at+1)
				}
			case 1:
				if at < len(lines) {
					lines[at] = line()
				}
			case 2:
				if at < len(lines) {
					lines[at] = "  " + lines[at] // white space only
				}
			default:
				lines = slices.Insert(lines, at, line())
			}
		}
		return lines
	}
	var lines []string
	for range 6 {
		lines = append(lines, line())
	}
	commit := func(name string, lines []string, remove ...string) {
		b.Add(gittest.Commit{Name: name, Message: name, Files: map[string]string{path: strings.Join(lines, "")}, Remove: remove})
	}
	commit("root", lines)
	for i := range rapid.IntRange(1, 8).Draw(t, "steps") {
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0: // a branch; the merge takes one side, or its own edit of it
			before := lines
			b.Branch(fmt.Sprintf("topic%d", i), "")
			side := edit(before)
			commit(fmt.Sprintf("side%d", i), side)
			b.Branch("main", "")
			if rapid.Bool().Draw(t, "both") {
				lines = edit(before)
				commit(fmt.Sprintf("main%d", i), lines)
			}
			if rapid.Bool().Draw(t, "theirs") {
				lines = side
			}
			if rapid.IntRange(0, 4).Draw(t, "evil") == 0 {
				lines = edit(lines)
			}
			b.Merge(gittest.Commit{Name: fmt.Sprintf("merge%d", i), Message: "merge", Files: map[string]string{path: strings.Join(lines, "")}}, fmt.Sprintf("topic%d", i))
		case 1:
			old := path
			path = fmt.Sprintf("f%d.c", i)
			commit(fmt.Sprintf("rename%d", i), lines, old)
		default:
			lines = edit(lines)
			commit(fmt.Sprintf("edit%d", i), lines)
		}
	}
	if _, err := b.BuildIn(dir); err != nil {
		t.Fatal(err)
	}
	return path
}

// Lines come from where git blame says, over merges and renames.
func TestTraceIsGitBlame(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		n++
		dir := filepath.Join(top, fmt.Sprint(n))
		path := drawHistory(t, dir)
		m, g := load(ctx, t, dir, filepath.Join(top, "mirrors"))
		defer m.Close()
		tip, err := m.Tip(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Blame(ctx, tip, path, []gitrepo.Range{{First: 1}}, gitrepo.BlameOptions{IgnoreSpace: true})
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Path: path, Keep: 1}
		q.Commit, _ = g.Find(tip)
		for i := range want {
			q.Seeds = append(q.Seeds, Seed{int32(i), 1})
		}
		got, err := g.Trace(ctx, q)
		if err != nil || len(got.Origins) != len(want) {
			t.Fatal(len(got.Origins), len(want), err)
		}
		slices.SortFunc(got.Origins, func(a, b Origin) int { return a.Seed - b.Seed })
		for i, o := range got.Origins {
			if g.Commits[o.Commit].ID != want[i].Commit || o.Path != want[i].OrigPath || int(o.Line)+1 != want[i].OrigLine {
				t.Fatalf("line %d: %s %s:%d, git says %+v", i+1, g.Commits[o.Commit].ID, o.Path, o.Line+1, want[i])
			}
		}
	})
}

func TestTraceSeesThroughFormAndPlace(t *testing.T) {
	t.Parallel()
	const body = "int total(struct order *order, int tax)\n{\n\treturn order->price * order->count + tax;\n}\n"
	for _, test := range []struct {
		name, script, path string
		q                  Query
		want               []string
	}{
		{"a line is broken in two", `
commit one "Add"
commit two "Format"
-- one/a.c --
` + body + `
-- two/a.c --
int total(struct order *order, int tax)
{
	return order->price * order->count
		+ tax;
}
`, "a.c", Query{}, []string{"1/1 one", "2/1 one", "3/1 one", "4/1 one", "5/1 one"}},
		{"a trailing comma and quotes, the syntax is the same", `
commit one "Add"
commit two "Format"
-- one/a.py --
names = ['alpha', 'beta',
         'gamma']
-- two/a.py --
names = [
    "alpha",
    "beta",
    "gamma",
]
`, "a.py", Query{}, []string{"1/1 one", "2/1 one", "3/1 one", "4/1 one", "5/1 one"}},
		{"a function moves inside its file", `
commit one "Add"
commit two "Reorder"
-- one/a.c --
` + body + `
int other_function(void)
{
	return compute_all_the_things();
}
-- two/a.c --
int other_function(void)
{
	return compute_all_the_things();
}

` + body, "a.c", Query{Seeds: []Seed{{2, 1}}}, []string{"3/1 one"}},
		{"a function moves to another file", `
commit one "Add"
commit two "Split"
  rm a.c
-- one/a.c --
` + body + `
int first_thing_of_many(void) { return 1; }
int second_thing_of_many(void) { return 2; }
int third_thing_of_many(void) { return 3; }
int fourth_thing_of_many(void) { return 4; }
int fifth_thing_of_many(void) { return 5; }
int sixth_thing_of_many(void) { return 6; }
-- two/b.c --
` + body + `
-- two/c.c --
int first_thing_of_many(void) { return 1; }
int second_thing_of_many(void) { return 2; }
int third_thing_of_many(void) { return 3; }
int fourth_thing_of_many(void) { return 4; }
int fifth_thing_of_many(void) { return 5; }
int sixth_thing_of_many(void) { return 6; }
`, "b.c", Query{Seeds: []Seed{{2, 1}}}, []string{"3/1 one"}},
		{"generations of a line", `
commit one "Add"
commit two "Change"
commit three "Change again"
-- one/a.c --
first
limit = size - 1;
last
-- two/a.c --
first
limit = size + 1;
last
-- three/a.c --
first
limit = size + margin;
last
`, "a.c", Query{Seeds: []Seed{{1, 1}}, Generations: 3}, []string{"2/1 three", "2/2 two", "2/3 one"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, g := built(t, test.script)
			test.q.Path = test.path
			last := "two"
			if r.IDs["three"] != "" {
				last = "three"
			}
			got, _ := trace(t, r, g, test.q, last)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTraceLooksThroughIgnoredCommits(t *testing.T) {
	t.Parallel()
	r, g := built(t, `
commit one "Add"
commit two "Rename a variable everywhere"
-- one/a.c --
count = count + step;
-- two/a.c --
total = total + step;
`)
	two, _ := g.Find(r.IDs["two"])
	for ignore, want := range map[bool]string{false: "1/1 two", true: "1/1 one"} {
		got, _ := trace(t, r, g, Query{Path: "a.c", Ignore: map[int32]bool{two: ignore}}, "two")
		if d := cmp.Diff([]string{want}, got); d != "" {
			t.Errorf("ignoring %v: %s", ignore, d)
		}
	}
}

// A file whose name goes round and round ends, and so does a trace whose budget is too small: it says so.
func TestTraceEnds(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	names := []string{"a.c", "b.c", "c.c"}
	const rounds = 60
	for i := range rounds {
		text := "the line that never changes\nand another\n" + fmt.Sprintf("round %d\n", i)
		c := gittest.Commit{Name: fmt.Sprint(i), Message: "Rename", Files: map[string]string{names[i%3]: text}}
		if i > 0 {
			c.Remove = []string{names[(i-1)%3]}
		}
		b.Add(c)
	}
	dir := filepath.Join(t.TempDir(), "r")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, g := load(t.Context(), t, dir, t.TempDir())
	defer m.Close()
	r := &gittest.Repo{Dir: dir, IDs: ids}
	q := Query{Path: names[(rounds-1)%3], Seeds: []Seed{{0, 1}}}
	got, out := trace(t, r, g, q, fmt.Sprint(rounds-1))
	if d := cmp.Diff([]string{"1/1 0"}, got); d != "" || out.Exhausted {
		t.Error(d, out.Exhausted)
	}
	q.Budget = 10
	if got, out := trace(t, r, g, q, fmt.Sprint(rounds-1)); len(got) != 0 || !out.Exhausted {
		t.Errorf("origins %v, exhausted %v: want none and true", got, out.Exhausted)
	}
}

// Visits tell what commits did to the lines that are followed, deletions too.
func TestVisitsTellWhatWasTouched(t *testing.T) {
	t.Parallel()
	r, g := built(t, `
commit one "Add"
commit two "Delete beside"
commit three "Far away"
-- one/a.c --
keep me here
drop me now
-
-
-
far away
-- two/a.c --
keep me here
-
-
-
far away
-- three/a.c --
keep me here
-
-
-
farther away
`)
	_, out := trace(t, r, g, Query{Path: "a.c", Seeds: []Seed{{0, 1}}, Visits: 10}, "three")
	var got []string
	for _, v := range out.Visits {
		got = append(got, fmt.Sprint(g.Commits[v.Commit].Subject, " ", v.Touched))
	}
	if d := cmp.Diff([]string{"Far away 0", "Delete beside 1", "Add 0"}, got); d != "" {
		t.Error(d)
	}
}

func TestDiffTellsRenames(t *testing.T) {
	t.Parallel()
	r, g := built(t, `
commit one "Add"
commit two "Move and mend"
  rm old.c
-- one/old.c --
one
two
three
four
-- one/gone.c --
x
-- two/new.c --
one
two
three
for
`)
	base, _ := g.Find(r.IDs["one"])
	head, _ := g.Find(r.IDs["two"])
	changes, err := g.Changed(t.Context(), base, head, []int32{head})
	if err != nil || len(changes) != 1 || changes[0].OldPath != "old.c" || changes[0].Path != "new.c" {
		t.Fatal(changes, err)
	}
	file, err := g.Open(t.Context(), changes[0])
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Hunk{{3, 4, 3, 4}}, file.Hunks); d != "" {
		t.Error(d)
	}
}
