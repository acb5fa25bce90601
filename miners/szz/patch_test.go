package szz

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
)

// The ranges hold exactly the lines of code of the given ranges, in order and not one too many.
func TestOnlyCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SliceOfN(rapid.Bool(), 0, 20).Draw(t, "code")
		var ranges []gitrepo.Range
		var want, got []int
		for next := 1; next < 24; {
			first := next + rapid.IntRange(0, 3).Draw(t, "gap")
			last := first + rapid.IntRange(-1, 4).Draw(t, "length")
			ranges = append(ranges, gitrepo.Range{First: first, Last: last})
			for n := first; n <= last; n++ {
				if n <= len(code) && code[n-1] {
					want = append(want, n)
				}
			}
			next = max(last, first) + 1
		}
		out := onlyCode(ranges, code)
		for i, r := range out {
			if i > 0 && out[i-1].Last+1 >= r.First {
				t.Fatalf("%v are not joined", out)
			}
			for n := r.First; n <= r.Last; n++ {
				got = append(got, n)
			}
		}
		if !slices.Equal(want, got) {
			t.Fatalf("lines %v, want %v", got, want)
		}
	})
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	modified := func(path string, deleted int) gitrepo.FileChange {
		return gitrepo.FileChange{Status: gitrepo.Modified, Path: path, Deleted: deleted}
	}
	for _, tt := range []struct {
		name  string
		files []gitrepo.FileChange
		paths []string
		why   Reason
	}{
		{"nothing", nil, nil, NoSource},
		{"tests, docs and binaries", []gitrepo.FileChange{modified("a_test.go", 1), modified("a.md", 1), modified("a.png", -1)}, nil, NoSource},
		{"source", []gitrepo.FileChange{modified("b.go", 0), modified("a.go", 1)}, []string{"a.go"}, AddOnly},
		{"new beside add-only", []gitrepo.FileChange{modified("b.go", 0), {Status: gitrepo.Added, Path: "a.go"}}, nil, AddOnly},
		{"rename", []gitrepo.FileChange{{Status: gitrepo.Renamed, Path: "b.go", OldPath: "a.go", Deleted: 2}}, []string{"b.go", "a.go"}, NoSource},
		{"rename from a test", []gitrepo.FileChange{{Status: gitrepo.Renamed, Path: "b.go", OldPath: "a_test.go", Deleted: 2}}, nil, NoSource},
		{"submodule", []gitrepo.FileChange{{Status: gitrepo.Modified, Path: "a.go", Mode: "160000", Deleted: 1}}, nil, NoSource},
	} {
		paths, why := candidates(tt.files)
		if diff := cmp.Diff(tt.paths, paths); diff != "" || why != tt.why {
			t.Errorf("%s: %s, -want +got\n%s", tt.name, why, diff)
		}
	}
}

func FuzzIgnoreRevs(f *testing.F) {
	f.Add("# c\n" + strings.Repeat("a", 40) + "\n")
	f.Add(strings.Repeat("B", 64) + " # c\r\n\r\nabc1234")
	f.Add("\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, id := range ParseIgnoreRevs(text) {
			if (len(id) != 40 && len(id) != 64) || id != strings.ToLower(id) || !strings.Contains(strings.ToLower(text), id) {
				t.Errorf("id %q", id)
			}
		}
	})
}
