package szz

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A fix of two files in a history with a merge, a reformat and an ignored sweep: the whole answer as it is stored.
const goldenHistory = `
commit root "Start"
commit parser "Add the parser (#1)"
branch topic
commit limit "Add a limit"
branch main
merge landed topic "Merge pull request #2 from ann/topic\n\nLimits"
commit reformat "Run the formatter"
commit sweep "Rename things (#3)"
commit list "Ignore the sweep"
commit fix "Fix the limit (#4)"
-- root/README --
x
-- parser/parse.py --
def parse(text, size):
    # Parses.
    return read(text, size, True)
-- limit/limit.py --
LIMIT = 10
def check(n): return n < LIMIT
-- reformat/parse.py --
def parse(
    text,
    size,
):
    # Parses.
    return read(
        text,
        size,
        True,
    )
-- sweep/limit.py --
MAX_LIMIT = 10
def check(n): return n < MAX_LIMIT
-- fix/parse.py --
def parse(
    text,
    size,
):
    return read(
        text,
        size,
        False,
    )
-- fix/limit.py --
MAX_LIMIT = 11
def check(n): return n <= MAX_LIMIT
`

func TestGolden(t *testing.T) {
	t.Parallel()
	sweep := gittest.Build(t, goldenHistory).ID("sweep")
	h := load(t, goldenHistory+"-- list/.git-blame-ignore-revs --\n"+sweep+"\n")
	got, err := json.MarshalIndent(h.attribute(t, "fix", Options{}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range h.IDs {
		got = []byte(strings.ReplaceAll(string(got), id, "<"+name+">"))
	}
	file := filepath.Join("testdata", "attribution.json")
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Fixes traced at the same time, with a memo in common, have the answers that they have alone.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	h := load(t, goBug)
	want := h.attribute(t, "fix", Options{})
	memo := NewMemo()
	answers := make(chan Attribution)
	for range 8 {
		go func() {
			fix, _ := h.idx.ByCommit(h.ID("fix"))
			a, err := Attribute(t.Context(), h.m, h.idx, fix, Options{Memo: memo})
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
	}
	for range 8 {
		if diff := cmp.Diff(want, <-answers); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// BenchmarkAttribute traces a fix of one line in a file that 200 changes wrote.
func BenchmarkAttribute(b *testing.B) {
	g := gittest.NewBuilder()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "var x%d = f(%d)\n", i, i)
		g.Add(gittest.Commit{Name: fmt.Sprint(i), Message: "m", Files: map[string]string{"a.go": "package a\n\n" + text.String()}})
	}
	g.Add(gittest.Commit{Name: "fix", Message: "Fix", Files: map[string]string{
		"a.go": "package a\n\n" + strings.Replace(text.String(), "f(7)", "f(8)", 1),
	}})
	dir := filepath.Join(b.TempDir(), "repo.git")
	if _, err := g.BuildIn(dir); err != nil {
		b.Fatal(err)
	}
	m, err := gitrepo.Open(b.Context(), dir, b.TempDir(), gitrepo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	changes, err := m.Changes(b.Context(), gitrepo.Window{})
	if err != nil {
		b.Fatal(err)
	}
	idx, fix := gitrepo.NewIndex(changes), changes[len(changes)-1]
	for b.Loop() {
		if a, err := Attribute(b.Context(), m, idx, fix, Options{}); err != nil || len(a.Votes) != 1 {
			b.Fatal(a, err)
		}
	}
}
