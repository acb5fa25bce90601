package judges

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCleanStatement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, title, body string
		wantTitle, want   string
		removed           []string
	}{
		{"squash number", "Decode inline tables (#123)", "", "Decode inline tables", "", []string{"(#123)"}},
		{"plain", "Add a cache", "It keeps ten entries.\n\nOld ones go first.", "Add a cache", "It keeps ten entries.\n\nOld ones go first.", nil},
		{"trailers", "Add x", "Why.\n\nSigned-off-by: A <a@b.c>\nFixes: #12\nChange-Id: I0123456789012345678901234567890123456789", "Add x", "Why.",
			[]string{"Signed-off-by: A <a@b.c>", "Fixes: #12", "Change-Id: I0123456789012345678901234567890123456789"}},
		{"closing in a sentence", "Add x", "This fixes #7 by adding x.", "Add x", "This by adding x.", []string{"fixes #7"}},
		{"a sentence that begins like a trailer stays", "Add x", "Fixes the parser when it sees a dot.", "Add x", "Fixes the parser when it sees a dot.", nil},
		{"commit id", "Add x", "Like in deadbeef1, but faster.", "Add x", "Like in , but faster.", []string{"deadbeef1"}},
		{"words of hexadecimal letters stay", "Add a facade for the decade", "effaced 1234567", "Add a facade for the decade", "effaced 1234567", nil},
		{"links", "Add x", "See https://example.com/o/r/pull/9 and https://example.com/doc.", "Add x", "See and https://example.com/doc.",
			[]string{"https://example.com/o/r/pull/9"}},
		{"comment and list of references", "Add x", "<!-- template -->\n- #1\n- #2\n\ntext", "Add x", "text", []string{"<!-- template -->", "#1", "#2"}},
		{"CRLF", "Add x", "a\r\n\r\nb", "Add x", "a\n\nb", nil},
		{"table border stays", "T", "a\n---\nb", "T", "a\n---\nb", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := CleanStatement(tt.title, tt.body)
			if s.Title != tt.wantTitle {
				t.Errorf("title %q, want %q", s.Title, tt.wantTitle)
			}
			if diff := cmp.Diff(tt.want, squeeze(s.Body)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.removed, s.Removed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// squeeze folds the gaps that cutting leaves inside a line.
func squeeze(s string) string { return spaceRun.ReplaceAllString(s, " ") }

func TestCleanStatementOnlyDeletes(t *testing.T) {
	t.Parallel()
	words := rapid.SliceOf(rapid.SampledFrom([]string{"Fixes", "#12", "(#3)", "deadbeef01", "https://h/o/r/pull/1", "a", "\n", "\n\n", "\nSigned-off-by: A <a@b>\n", "<!--", "-->", "text.", "- "}))
	rapid.Check(t, func(t *rapid.T) {
		title, body := "Add x (#3)", strings.Join(words.Draw(t, "body"), " ")
		s := CleanStatement(title, body)
		if !subsequence(strings.ReplaceAll(s.Text(), "\n", ""), strings.ReplaceAll(title+"\n\n"+body, "\n", "")) {
			t.Fatalf("%q is not what is left of %q", s.Text(), title+"\n\n"+body)
		}
		for _, m := range []string{"#12", "(#3)", "deadbeef01", "/pull/1", "Signed-off-by"} {
			if strings.Contains(s.Text(), m) {
				t.Fatalf("%q still holds %q", s.Text(), m)
			}
		}
	})
}

func subsequence(short, long string) bool {
	i := 0
	for j := 0; i < len(short) && j < len(long); j++ {
		if short[i] == long[j] {
			i++
		}
	}
	return i == len(short)
}
