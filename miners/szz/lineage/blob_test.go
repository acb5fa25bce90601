package lineage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A text that borrows from another is the same as one that was cut by itself.
func TestTextIsTheSameWhereverItsLinesComeFrom(t *testing.T) {
	t.Parallel()
	lines := rapid.SliceOf(rapid.SampledFrom([]string{"a\n", "b\n", "\n", " a\n", "ab\n", "b", "a\r\n", "x"}))
	join := func(parts []string) (out []byte) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		like, data := newText(join(lines.Draw(t, "like")), nil), join(lines.Draw(t, "data"))
		got, want := newText(data, like), newText(data, nil)
		if d := cmp.Diff([2]any{want.start, want.ids}, [2]any{got.start, got.ids}); d != "" {
			t.Fatalf("%q like %q: %s", data, like.data, d)
		}
	})
}

func rebuild(a []uint64, b []uint64, hunks []Hunk) bool {
	i, k := int32(0), int32(0)
	for _, h := range append(hunks, Hunk{int32(len(a)), int32(len(a)), int32(len(b)), int32(len(b))}) {
		if h.OldStart-i != h.NewStart-k || h.OldStart < i {
			return false
		}
		for ; i < h.OldStart; i, k = i+1, k+1 {
			if a[i] != b[k] {
				return false
			}
		}
		i, k = h.OldEnd, h.NewEnd
	}
	return true
}

// Hunks tell the whole difference: what lies between them is equal. No more lines differ than in the shortest script, for small
// texts without repetition that patience could stumble over.
func TestCompareTellsTheDifference(t *testing.T) {
	t.Parallel()
	ids := rapid.SliceOfN(rapid.Uint64Range(0, 40), 0, 200)
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		hunks := compare(a, b)
		if !rebuild(a, b, hunks) {
			t.Fatalf("hunks %v do not lead from %v to %v", hunks, a, b)
		}
	})
}

func TestCompareIsShortestForSmallTexts(t *testing.T) {
	t.Parallel()
	ids := rapid.SliceOfN(rapid.Uint64Range(0, 5), 0, 20)
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		edits := 0
		for _, h := range compare(a, b) {
			edits += int(h.OldEnd - h.OldStart + h.NewEnd - h.NewStart)
		}
		if want := len(a) + len(b) - 2*common(a, b); edits != want {
			t.Fatalf("%d edits from %v to %v, %d would do", edits, a, b, want)
		}
	})
}

// common is the length of the longest common subsequence.
func common(a, b []uint64) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for k := range b {
			above := row[k+1]
			if a[i] == b[k] {
				row[k+1] = diagonal + 1
			} else {
				row[k+1] = max(above, row[k])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
