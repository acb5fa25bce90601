package szz

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
)

// drawnHistory makes changes of two commits each, named "h<n>" (the head) and "c<n>".
func drawnHistory(n int) []gitrepo.Change {
	var out []gitrepo.Change
	for i := range n {
		head := fmt.Sprintf("h%d", i)
		out = append(out, gitrepo.Change{Head: head, Commits: []string{fmt.Sprintf("c%d", i), head}, Position: i, Number: i})
	}
	return out
}

func drawnLines(t *rapid.T, idx *gitrepo.Index, changes int) []Line {
	commit := rapid.Custom(func(t *rapid.T) Line {
		id := rapid.SampledFrom([]string{"c", "h"}).Draw(t, "kind") + fmt.Sprint(rapid.IntRange(0, changes-1).Draw(t, "change"))
		c, _ := idx.ByCommit(id)
		return Line{
			File: rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(t, "file"), Commit: id, Change: c.Head,
			Dropped: rapid.SampledFrom([]Reason{"", "", "", Boundary, Unmapped}).Draw(t, "dropped"),
		}
	})
	return rapid.SliceOf(commit).Draw(t, "lines")
}

// Every line that is not dropped and not the fix's own has one vote, whatever the order in which lines are counted.
func TestTallyAndRank(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		changes := drawnHistory(5)
		idx, fix := gitrepo.NewIndex(changes), changes[4]
		lines := drawnLines(t, idx, len(changes))
		votes := rank(tally(lines, idx, fix))
		counted, want := 0, 0
		for _, v := range votes {
			counted += v.Lines
			if v.Change == fix.Head || v.Lines == 0 || !slices.IsSorted(v.Commits) || !slices.IsSorted(v.Files) {
				t.Fatalf("vote %+v", v)
			}
		}
		for _, l := range lines {
			if l.Dropped == "" && l.Change != fix.Head {
				want++
			}
		}
		if counted != want {
			t.Fatalf("%d lines voted, want %d", counted, want)
		}
		for i := 1; i < len(votes); i++ {
			a, b := votes[i-1], votes[i]
			if a.Lines < b.Lines || a.Lines == b.Lines && a.Position <= b.Position {
				t.Fatalf("%+v before %+v", a, b)
			}
		}
		shuffled := slices.Clone(lines)
		rand.New(rand.NewSource(int64(len(lines)))).Shuffle(len(lines), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(votes, rank(tally(shuffled, idx, fix))); diff != "" {
			t.Fatalf("the order of lines counts: %s", diff)
		}
	})
}

func TestRankOfEquals(t *testing.T) {
	t.Parallel()
	got := rank([]Vote{{Change: "b", Lines: 1, Position: 3}, {Change: "a", Lines: 1, Position: 3}, {Change: "c", Lines: 1, Position: 9}, {Change: "d", Lines: 2}})
	want := []Vote{{Change: "d", Lines: 2}, {Change: "c", Lines: 1, Position: 9}, {Change: "a", Lines: 1, Position: 3}, {Change: "b", Lines: 1, Position: 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestAbstention(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		why     Reason
		dropped []Reason
		skipped []Skip
		want    Reason
	}{
		{"the patch", AddOnly, nil, nil, AddOnly},
		{"a skipped file explains more", AllComments, nil, []Skip{{"a", MissingObject}}, MissingObject},
		{"lines explain most", AllComments, []Reason{Boundary}, []Skip{{"a", MissingObject}}, Boundary},
		{"what another run may cure comes first", AllComments, []Reason{Boundary, Unmapped, Exhausted}, nil, Exhausted},
	} {
		var lines []Line
		for _, d := range tt.dropped {
			lines = append(lines, Line{Dropped: d})
		}
		if got := abstention(tt.why, lines, tt.skipped); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
