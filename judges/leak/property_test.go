package leak

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// vocabulary is made of names, words and numbers, so that clues of all kinds are drawn.
var vocabulary = rapid.SampledFrom([]string{"retryBudget", "retry", "budget", "retry_budget", "parse", "the", "allowance", "12345", "0.125", "\"too many words here\"",
	"'x'", "assert", "raise", "def test_storm_of", "(", ")", "// note", "`code`", "net/a_file.go", "#12", "deadbeef1", "2031-01-01", "Δοκιμή", "\n"})

func patchOf(name string, lines []string) string {
	return "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1,99999 @@\n+" + strings.Join(lines, "\n+") + "\n"
}

// A statement cut out of what stood before, anywhere and of any length, is never a leak of any strength.
func TestPassagesFromBeforeNeverLeak(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOfN(vocabulary, 1, 40).Draw(t, "before"), " ")
		words := strings.Split(before, " ")
		from := rapid.IntRange(0, len(words)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(words)).Draw(t, "to")
		statement := strings.Join(words[from:to], " ")
		in := Input{Before: []string{before}, Fix: patchOf("a_file.go", rapid.SliceOf(vocabulary).Draw(t, "fix")), Tests: patchOf("x.py", rapid.SliceOf(vocabulary).Draw(t, "tests"))}
		if got := Find(statement, in); len(got) > 0 {
			t.Fatalf("%q stood before in %q, found %+v", statement, before, got)
		}
	})
}

// Words from before in another order may meet as a text of the fix does, but no word of them is a find by itself.
func TestWordsFromBeforeNeverLeakAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(vocabulary, 1, 40).Draw(t, "before")
		statement := strings.Join(rapid.SliceOf(rapid.SampledFrom(before)).Draw(t, "statement"), " ")
		in := Input{Before: []string{strings.Join(before, " ")}, Fix: patchOf("a_file.go", rapid.SliceOf(vocabulary).Draw(t, "fix")), Tests: patchOf("x.py", rapid.SliceOf(vocabulary).Draw(t, "tests"))}
		for _, l := range Find(statement, in) {
			if len(strings.Fields(l.Text)) < 2 {
				t.Fatalf("%q stood before, found %+v", l.Text, l)
			}
		}
	})
}

func TestFindsAreInOrderAndApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		statement := strings.Join(rapid.SliceOf(vocabulary).Draw(t, "statement"), rapid.SampledFrom([]string{" ", "", "-", "\n"}).Draw(t, "gap"))
		in := Input{Fix: patchOf("a_file.go", rapid.SliceOf(vocabulary).Draw(t, "fix")), Tests: patchOf("x.py", rapid.SliceOf(vocabulary).Draw(t, "tests")), Words: "aName"}
		checkFinds(t, statement, Find(statement, in))
	})
}

func checkFinds(t interface{ Fatalf(string, ...any) }, statement string, found []Leak) {
	end := 0
	for _, l := range found {
		if l.Start < end || l.End <= l.Start || l.End > len(statement) || statement[l.Start:l.End] != l.Text {
			t.Fatalf("%+v in %q, after byte %d", l, statement, end)
		}
		if utf8.ValidString(statement) && !utf8.ValidString(l.Text) {
			t.Fatalf("%+v cuts a rune of %q", l, statement)
		}
		if l.Kind == "" || l.Source == "" || l.Evidence == "" || l.Strength != Strong && l.Strength != Weak {
			t.Fatalf("%+v says too little", l)
		}
		end = l.End
	}
}

func FuzzFind(f *testing.F) {
	f.Add("A retryBudget, `allowance` and #812", taskPatch, fixPatch, testPatch)
	f.Add("", "", "@@ -1 +1 @@\n+x", "diff --git a b\n@@ -1,9 +1,9 @@\n\"\"\"\n'''")
	f.Fuzz(func(t *testing.T, statement, before, fix, tests string) {
		in := Input{Before: []string{before}, Fix: fix, Tests: tests, Words: before}
		checkFinds(t, statement, Find(statement, in))
	})
}

func FuzzLex(f *testing.F) {
	f.Add("a.go", "x := `a` // b")
	f.Add("a.py", "'''\n#'\"")
	f.Fuzz(func(t *testing.T, name, text string) {
		lines := strings.Count(text, "\n")
		last := 0
		for _, tok := range Lex(name, text) {
			if tok.Text == "" || !strings.Contains(text, tok.Text) || tok.Line < last || tok.Line > lines || !strings.Contains(text[tok.Start:tok.End], tok.Text) {
				t.Fatalf("%+v of %q", tok, text)
			}
			last = tok.Line
		}
	})
}
