package gitrepo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

// history has one of everything that can land.
const history = `
commit root "Start"
branch topic
commit t1 "Work one"
commit t2 "Work two"
branch side root
commit s1 "Side"
branch main
commit squash "Add squash (#3)"
merge merge topic "Merge pull request #5 from ann/topic\n\nThe topic" date=2024-02-01T00:00:00Z
commit direct "Typo" date=2024-02-02T00:00:00Z
commit r1 "Part one\n\nPR-URL: https://github.com/o/r/pull/8" date=2024-02-03T00:00:00Z
commit r2 "Part two\n\nPR-URL: https://github.com/o/r/pull/8" date=2024-02-04T00:00:00Z
commit gerrit "Tidy\n\nReviewed-on: https://review.example.org/c/p/+/900" date=2024-02-05T00:00:00Z
commit empty "Nothing at all" date=2024-02-06T00:00:00Z
commit forward "Moved forward" date=2024-02-07T00:00:00Z
orphan lone
commit l1 "Another root" date=2024-02-07T01:00:00Z
branch main
merge octopus side,lone "Merge branches 'side' and 'lone'" date=2024-02-08T00:00:00Z
branch unnamed
commit u1 "Unnamed" date=2024-02-08T01:00:00Z
branch main
merge quiet unnamed "Merge branch 'unnamed'" date=2024-02-09T00:00:00Z
ref refs/pull/11/head forward
ref refs/pull/12/head u1
ref refs/pull/13/head direct
ref refs/pull/14/head direct
ref refs/pull/15/head squash
-- root/a --
a
-- t1/t --
1
-- t2/t --
2
-- s1/s --
s
-- squash/q --
q
-- direct/a --
b
-- r1/r --
1
-- r2/r --
2
-- gerrit/g --
g
-- forward/f --
f
-- l1/l --
l
-- u1/u --
u
`

// landed is a change in the words of the script.
type landed struct {
	Landing    gitrepo.Landing
	Number     int
	By         string
	Base, Head string
	Commits    string
	Parents    int
	Title      string
}

func inWords(r *gittest.Repo, changes []gitrepo.Change) []landed {
	var all []landed
	for _, c := range changes {
		var commits []string
		for _, id := range c.Commits {
			commits = append(commits, r.Name(id))
		}
		all = append(all, landed{
			c.Landing, c.Number, c.NumberBy, r.Name(c.Base), r.Name(c.Head), strings.Join(commits, " "), c.Parents, c.Title,
		})
	}
	return all
}

func TestChanges(t *testing.T) {
	t.Parallel()
	m, r := open(t, history)
	changes, err := m.Changes(t.Context(), gitrepo.Window{})
	if err != nil {
		t.Fatal(err)
	}
	want := []landed{
		{gitrepo.Direct, 0, "", "", "root", "root", 0, "Start"},
		{gitrepo.Squash, 3, "squash-subject", "root", "squash", "squash", 1, "Add squash"},
		{gitrepo.Merge, 5, "merge-subject", "squash", "merge", "t1 t2", 2, "The topic"},
		{gitrepo.Direct, 0, "", "merge", "direct", "direct", 1, "Typo"},
		{gitrepo.Rebase, 8, "trailer", "direct", "r2", "r1 r2", 1, "Part one"},
		{gitrepo.Squash, 900, "trailer", "r2", "gerrit", "gerrit", 1, "Tidy"},
		{gitrepo.Direct, 0, "", "gerrit", "empty", "empty", 1, "Nothing at all"},
		{gitrepo.Rebase, 11, "pull-ref", "empty", "forward", "forward", 1, "Moved forward"},
		{gitrepo.Merge, 0, "", "forward", "octopus", "s1 l1", 3, "Merge branches 'side' and 'lone'"},
		{gitrepo.Merge, 12, "pull-ref", "octopus", "quiet", "u1", 2, "Merge branch 'unnamed'"},
	}
	if diff := cmp.Diff(want, inWords(r, changes)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for i, c := range changes {
		if c.Position != i {
			t.Errorf("%s has position %d, want %d", c.Title, c.Position, i)
		}
	}
	if c := changes[2]; c.Author != "Tess Ter <tess@example.org>" || !c.Committed.Equal(time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("author %q, committed %s", c.Author, c.Committed)
	}
}

func TestChangesWindow(t *testing.T) {
	t.Parallel()
	m, r := open(t, history)
	day := func(d int) time.Time { return time.Date(2024, 2, d, 0, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		window gitrepo.Window
		heads  string
		first  int
	}{
		"both ends":   {gitrepo.Window{Since: day(1), Until: day(3)}, "merge direct", 2},
		"since":       {gitrepo.Window{Since: day(8)}, "octopus quiet", 8},
		"until":       {gitrepo.Window{Until: day(1)}, "root squash", 0},
		"other line":  {gitrepo.Window{Branch: "topic"}, "root t1 t2", 0},
		"rebase":      {gitrepo.Window{Since: day(4), Until: day(5)}, "r2", 4},
		"nothing":     {gitrepo.Window{Since: day(20)}, "", 0},
		"only a root": {gitrepo.Window{Branch: "lone"}, "l1", 0},
	} {
		changes, err := m.Changes(t.Context(), c.window)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var heads []string
		for _, l := range inWords(r, changes) {
			heads = append(heads, l.Head)
		}
		if got := strings.Join(heads, " "); got != c.heads {
			t.Errorf("%s: heads %q, want %q", name, got, c.heads)
		}
		if len(changes) > 0 && changes[0].Position != c.first {
			t.Errorf("%s: first position %d, want %d", name, changes[0].Position, c.first)
		}
	}
}

// Of a shallow source, history begins at the border.
func TestChangesOfShallowSource(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, history)
	dir := t.TempDir()
	r.Git("clone", "-q", "--bare", "--depth=3", "--branch=main", "file://"+r.Dir, dir)
	changes, err := mirror(t, dir).Changes(t.Context(), gitrepo.Window{})
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	for _, l := range inWords(r, changes) {
		heads = append(heads, l.Head)
	}
	if got := strings.Join(heads, " "); got != "forward octopus quiet" || changes[0].Base != "" {
		t.Errorf("heads %q, the first on %q", got, changes[0].Base)
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	m, r := open(t, history)
	changes, err := m.Changes(t.Context(), gitrepo.Window{})
	if err != nil {
		t.Fatal(err)
	}
	x := gitrepo.NewIndex(changes)
	for commit, head := range map[string]string{"t1": "merge", "merge": "merge", "r1": "r2", "l1": "octopus", "root": "root"} {
		if c, ok := x.ByCommit(r.ID(commit)); !ok || r.Name(c.Head) != head {
			t.Errorf("ByCommit(%s) = %s, %v, want %s", commit, r.Name(c.Head), ok, head)
		}
		if c, err := x.Resolve(strings.ToUpper(r.ID(commit)[:9])); err != nil || r.Name(c.Head) != head {
			t.Errorf("Resolve(%s) = %s, %v, want %s", commit, r.Name(c.Head), err, head)
		}
	}
	for number, head := range map[int]string{5: "merge", 8: "r2", 3: "squash", 15: "", 0: "", 13: ""} {
		if c, ok := x.ByNumber(number); ok != (head != "") || ok && r.Name(c.Head) != head {
			t.Errorf("ByNumber(%d) = %s, %v, want %q", number, r.Name(c.Head), ok, head)
		}
	}
	for _, prefix := range []string{"", r.ID("root")[:3], strings.Repeat("0", 12), "zzzz", r.ID("root") + "0"} {
		if c, err := x.Resolve(prefix); err == nil {
			t.Errorf("Resolve(%q) = %s", prefix, r.Name(c.Head))
		}
	}
	if _, ok := x.ByCommit(strings.Repeat("0", 40)); ok {
		t.Error("an unknown commit has a change")
	}
}

func TestIndexTrustsSubjectsMost(t *testing.T) {
	t.Parallel()
	x := gitrepo.NewIndex([]gitrepo.Change{
		{Head: "aaaa1", Number: 5, NumberBy: "pull-ref"},
		{Head: "aaaa2", Number: 5, NumberBy: "merge-subject"},
		{Head: "aaaa3", Number: 5, NumberBy: "merge-subject"},
	})
	if c, _ := x.ByNumber(5); c.Head != "aaaa2" {
		t.Errorf("ByNumber(5) = %s, want aaaa2", c.Head)
	}
	if _, err := x.Resolve("aaaa"); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("an ambiguous prefix: %v", err)
	}
	if c, err := x.Resolve("aaaa1"); err != nil || c.Head != "aaaa1" {
		t.Errorf("Resolve(aaaa1) = %s, %v", c.Head, err)
	}
}
