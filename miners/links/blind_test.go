package links

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBlind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, want string
		words            []string
	}{
		{name: "prose", text: "Fix division (#4)\n\nThis is a regression from #1. Zero was not thought of.", want: "Fix division (#4)\n\nZero was not thought of."},
		{name: "trailer", text: "Fix it\n\nBecause.\n\nFixes: 0123abcd (\"area: divide\")\nSigned-off-by: A <a@b>", want: "Fix it\n\nBecause.\n\nSigned-off-by: A <a@b>"},
		{name: "wrapped trailer", text: "Fix it\n\nFixes: 0123abcd (\"area: divide all\n numbers by the others\")\nReviewed-by: B", want: "Fix it\n\nReviewed-by: B"},
		{name: "wrapped sentence", text: "Fix it\n\nAll was well. This was broken\nby the change in #12,\nas it seems. Now it works.", want: "Fix it\n\nAll was well. Now it works."},
		{name: "said twice", text: "Fix it\n\nThis is a regression from #1. In #1 the sign was lost. More.", want: "Fix it\n\nMore."},
		{name: "abbreviated", text: "Fix it\n\nFixes: 0123abcd4567\n\nOnly 0123abcd did not think of zero. More.", want: "Fix it\n\nMore."},
		{name: "negated", text: "Fix it\n\nThis is not caused by #12. More.", want: "Fix it\n\nMore."},
		{name: "in the title", text: "Fix regression from #12\n\nMore.", want: "More."},
		{name: "nothing left", text: "Fix regression from #12", want: ""},
		{name: "own number", text: "Fix it (#4)\n\nFollow-up fix for #4. More.", want: "Fix it (#4)\n\nMore."},
		{name: "words", text: "Fix it\n\nThe work on \"Divide   by\nanything\" forgot zero. More.", words: []string{"divide by anything", "it"}, want: "Fix it\n\nMore."},
		{name: "nothing to hide", text: "Fix it \n\n\n\nSee #7.", want: "Fix it \n\n\n\nSee #7."},
		{name: "empty"},
	} {
		if got := Blind(tt.text, ParseRepo("o/r"), tt.words...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestBlindLaws: no claim is left, nothing is added, and a text without claims stays as it is.
func TestBlindLaws(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"Fix it", "This is a regression from #1", "broken by", "0123abcd", "Fixes: 0123abcd (\"x: y\")", ". ", "\n", "\n\n", " ", "caused by #12",
		"and #13", "#1", "`", "```\n", "<!--", "-->", "é", "- ", "not", "https://github.com/o/r/pull/1"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		got := Blind(text, ParseRepo("o/r"))
		if len(got) > len(text) {
			t.Fatalf("%q grew to %q", text, got)
		}
		if left := Claims(got, ParseRepo("o/r")); len(left) > 0 {
			t.Fatalf("%q became %q, which claims %+v", text, got, left)
		}
		if len(Claims(text, ParseRepo("o/r"))) == 0 && got != text {
			t.Fatalf("%q has no claim and became %q", text, got)
		}
	})
}

func FuzzBlind(f *testing.F) {
	f.Add("Fix it\n\nThis is a regression from #1. Zero.", "a subject of eight")
	f.Add("Fixes: 0123abcd (\"x\xffy\")\r\n", "\x00\x01\x02\x03\x04\x05\x06\x07\x08")
	f.Fuzz(func(t *testing.T, text, words string) {
		if got := Blind(text, ParseRepo("o/r"), words); len(got) > len(text) {
			t.Errorf("%q grew to %q", text, got)
		}
	})
}

// TestBlindManyReferences: a text of nothing but references is read in a moment.
func TestBlindManyReferences(t *testing.T) {
	t.Parallel()
	text := "Fix it\n\nbroken by " + strings.Repeat("#12 and #13, ", 50_000)
	if got := Blind(text, ParseRepo("o/r")); got != "Fix it" {
		t.Errorf("%.80q is left", got)
	}
}
