package gitrepo_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

const withRequests = `
commit root "Start"
branch topic root
commit t1 "One" author="Ann <a@example.org>"
commit t2 "Two" author="Ann <a@example.org>"
branch main
commit squash "Add squash (#3)"
merge merge topic "Merge pull request #5 from ann/topic\n\nThe topic"
branch pr7 root
commit p1 "Part one" author="Bo <b@example.org>" date=2024-02-01T00:00:00Z
commit p2 "Part two" author="Bo <b@example.org>" date=2024-02-02T00:00:00Z
branch pr9 pr7
commit p3 "Part three" author="Bo <b@example.org>" date=2024-02-03T00:00:00Z
branch main
commit r1 "Part one." author="Bo <b@example.org>" date=2024-02-01T00:00:00Z
commit r2 "Part two" author="Bo <b@example.org>" date=2024-02-02T00:00:00Z
commit r3 "part three" author="Bo <b@example.org>" date=2024-02-03T00:00:00Z
commit other "Part four" author="Bo <b@example.org>" date=2024-02-03T00:00:00Z
commit closes "Fix it\n\nFixes #2\nCloses #11\n"
commit issue "Fix it\n\nCloses #2\n"
commit two "Fix it\n\nCloses #11\nCloses #7\n"
commit head "Fast forward"
commit gerrit "Tidy\n\nChange-Id: I8473b95934b5732ac55d26311a706c9c2bde9940\nReviewed-on: https://review.example.org/c/x/+/900\n"
commit plain "Plain"
ref refs/pull/7/head pr7
ref refs/pull/9/head pr9
ref refs/pull/11/head root
ref refs/pull/14/head head
-- squash/a --
a
`

func TestOrigins(t *testing.T) {
	t.Parallel()
	m, r := open(t, withRequests)
	commits, tip, err := m.Commits(t.Context(), "")
	if err != nil || tip != r.ID("plain") {
		t.Fatal(tip, err)
	}
	d, err := m.DAG(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Origins(t.Context(), commits, tip, d)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for id, ways := range found.ByCommit {
		var words []string
		for _, o := range ways {
			words = append(words, fmt.Sprintf("%s %d%.3s", o.By, o.Number, o.Review))
		}
		got[r.Name(id)] = strings.Join(words, ", ")
	}
	want := map[string]string{
		"root": "pull-ref 11", "t1": "merge-subject 5", "t2": "merge-subject 5", "squash": "squash-subject 3",
		"r1": "", "r2": "patch 7", "r3": "patch 9", "closes": "closes-trailer 11",
		"head": "pull-ref 14", "gerrit": "trailer 900, change-id 0I84",
	}
	delete(want, "r1") // 7 and 9 have it, and neither ends there
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}

// TestGitLabNumbers: there #2 is an issue, also when a merge request has that number.
func TestGitLabNumbers(t *testing.T) {
	t.Parallel()
	m, r := open(t, `
commit a "Start"
commit b "Fix\n\nCloses #2"
commit c "Fix\n\nCloses !2"
commit d "Fix"
ref refs/merge-requests/2/head a
ref refs/pull/8/head d
`)
	changes, err := m.Changes(t.Context(), gitrepo.Window{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range changes {
		got[r.Name(c.Head)] = fmt.Sprint(c.Number, c.NumberBy)
	}
	want := map[string]string{"a": "2pull-ref", "b": "0", "c": "2closes-trailer", "d": "0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestIssueNumbers: with the references of all requests at hand, a number that none has is an issue's.
func TestIssueNumbers(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(gittest.Commit{Name: "issue", Message: "Fix the parser (#50)"})
	b.Add(gittest.Commit{Name: "request", Message: "Fix the parser (#51)"})
	b.Add(gittest.Commit{Name: "new", Message: "Fix the parser (#500)"})
	for i := range 121 {
		if i != 50 && i > 0 {
			b.Ref(fmt.Sprintf("refs/pull/%d/head", i), "issue")
		}
	}
	dir := t.TempDir()
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := mirror(t, dir).Changes(t.Context(), gitrepo.Window{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ids["issue"]: "0 Fix the parser (#50)", ids["request"]: "51 Fix the parser", ids["new"]: "500 Fix the parser"}
	got := map[string]string{}
	for _, c := range changes {
		got[c.Head] = fmt.Sprint(c.Number, " ", c.Title)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestDAG compares with sets made of the parents that git tells, on histories drawn at random.
func TestDAG(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := gittest.NewBuilder()
		n := rapid.IntRange(2, 12).Draw(rt, "commits")
		for i := range n {
			parents := rapid.SliceOfNDistinct(rapid.IntRange(0, max(0, i-1)), 0, min(i, 3), rapid.ID[int]).Draw(rt, "parents")
			c := gittest.Commit{Name: fmt.Sprint("c", i), Message: fmt.Sprint(i), Parents: []string{}}
			for _, p := range parents {
				c.Parents = append(c.Parents, fmt.Sprint("c", p))
			}
			b.Add(c)
			b.Ref(fmt.Sprintf("refs/heads/b%d", i), c.Name)
		}
		dir, err := osTemp(t)
		if err != nil {
			rt.Fatal(err)
		}
		ids, err := b.BuildIn(dir)
		if err != nil {
			rt.Fatal(err)
		}
		m := gitrepo.At(dir)
		defer m.Close()
		d, err := m.DAG(t.Context())
		if err != nil || d.Len() != n {
			rt.Fatal(d, err)
		}
		compareDAG(rt, gittest.At(t, dir), d, ids)
	})
}

func compareDAG(rt *rapid.T, r *gittest.Repo, d *gitrepo.DAG, ids map[string]string) {
	above, parents := map[string]map[string]bool{}, map[string][]string{}
	for line := range strings.Lines(r.Git("rev-list", "--parents", "--all", "--topo-order", "--reverse")) {
		words := strings.Fields(line)
		above[words[0]], parents[words[0]] = map[string]bool{words[0]: true}, words[1:]
		for _, p := range words[1:] {
			maps.Copy(above[words[0]], above[p])
		}
	}
	for _, a := range ids {
		for _, b := range ids {
			if got := d.IsAncestor(b, a); got != above[a][b] {
				rt.Fatalf("IsAncestor(%s, %s) = %v", b, a, got)
			}
			shared := false
			for id := range above[b] {
				shared = shared || above[a][id]
			}
			if got := d.Related(a, b); got != shared {
				rt.Fatalf("Related(%s, %s) = %v", a, b, got)
			}
		}
		want, got := map[string]bool{}, map[string]bool{}
		for _, p := range parents[a][min(1, len(parents[a])):] {
			maps.Copy(want, above[p])
		}
		if len(want) > 0 {
			maps.DeleteFunc(want, func(id string, _ bool) bool { return above[parents[a][0]][id] })
		}
		for _, id := range d.Brought(a, 1000) {
			got[id] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("Brought(%s) (-want +got):\n%s", a, diff)
		}
	}
}
