package judges

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/judges/evidence"
)

func TestCalledName(t *testing.T) {
	t.Parallel()
	for signature, want := range map[string]string{
		"parse_duration(text)":                            "parse_duration",
		"Table.window(size, step=1)":                      "window",
		"func (t *Table) Window(size int) ([]Row, error)": "Window",
		"func Parse[T any](text string) (T, error)":       "Parse",
		"def read(self, n: int = 3) -> bytes":             "read",
		"async function fetchAll(urls: string[])":         "fetchAll",
		"pub fn open<P: AsRef<Path>>(path: P)":            "open",
		"class Watcher(path)":                             "Watcher",
		"new Store(options)":                              "Store",
		"Money::format(value)":                            "format",
		"empty?()":                                        "empty?",
		"quay watch --poll":                               "--poll",
		"Window":                                          "Window",
		"class Row":                                       "Row",
		"":                                                "",
		"()":                                              "",
		"type Option func(*Config)":                       "Option",
		"std::vector<int> Sorted(const std::vector<int>&)": "Sorted",
	} {
		if got := calledName(signature); got != want {
			t.Errorf("%q: %q, want %q", signature, got, want)
		}
	}
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	got := Numbered("L", []string{"one", "two\nL9 three", strings.Repeat("ä", 400)})
	want := []string{"L1 one", "L2 two L9 three", "L3 " + strings.Repeat("ä", 300) + " (shortened)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLabelsAreOurs: whatever units say, their labels are the numbers that we gave.
func TestLabelsAreOurs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune("L19 \n\r\t\u2028ax")))).Draw(t, "units")
		got := labels(evidence.Plain(map[string][]string{"list": Numbered("L", units)}), "list")
		if len(got) != len(units) {
			t.Fatalf("%d labels of %d units", len(got), len(units))
		}
		for i, l := range got {
			if want := labelOf("L", i); l != want {
				t.Fatalf("label %d is %s, want %s", i, l, want)
			}
		}
	})
}

// TestCutOnlyDeletes: what is left of a report is what stands outside of the passages, in order.
func TestCutOnlyDeletes(t *testing.T) {
	t.Parallel()
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"abcd", "efgh", "ijkl", " ", "\n"}), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		report := strings.Join(words.Draw(t, "report"), "")
		spans := rapid.SliceOfN(rapid.SampledFrom([]string{"abcd", "efgh", "cdef", "none"}), 0, 3).Draw(t, "spans")
		var r SpansReply
		for _, s := range spans {
			r.Spans = append(r.Spans, Span{Text: s})
		}
		left, err := r.cut(report)
		if err != nil {
			return
		}
		want := len(report)
		for _, s := range spans {
			want -= len(s) * strings.Count(report, s)
			if !strings.Contains(report, s) {
				t.Fatalf("%q is not in %q and was deleted", s, report)
			}
		}
		if len(left) != want {
			t.Fatalf("%q without %q is %q", report, spans, left)
		}
	})
}
