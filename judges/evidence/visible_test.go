package evidence

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"größer ≥ 10 €, 漢字", "größer ≥ 10 €, 漢字"},
		{"a\u202eb", "a⟨U+202E⟩b"},
		{"a\u200bb\u2060\ufeff", "a⟨U+200B⟩b⟨U+2060⟩⟨U+FEFF⟩"},
		{"\U000E0049gnore", "⟨U+E0049⟩gnore"},
		{"\x1b[31mred", "⟨U+001B⟩[31mred"},
		{"a\r\nb\rc", "a⟨U+000D⟩\nb⟨U+000D⟩c"},
		{"a\x00b\x7f\u0085", "a⟨U+0000⟩b⟨U+007F⟩⟨U+0085⟩"},
		{"broken \xff\xc3", "broken ⟨0xFF⟩⟨0xC3⟩"},
		{"line\u2028sep", "line⟨U+2028⟩sep"},
		{"⚠\ufe0f works", "⚠\ufe0f works"},
		{"a\ufe0f⚠\ufe0f\ufe0f", "a⟨U+FE0F⟩⚠\ufe0f⟨U+FE0F⟩"},
		{"x\U000E0101", "x⟨U+E0101⟩"},
		{"\u2800\u3164\u115f", "⟨U+2800⟩⟨U+3164⟩⟨U+115F⟩"},
		{"\ufffd is a character", "\ufffd is a character"},
	} {
		if got := Visible(tt.text); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

func TestVisibleLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := Visible(text)
		if !utf8.ValidString(got) || Visible(got) != got {
			t.Fatalf("%q became %q", text, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("%q holds %q", got, got[i:])
		}
	})
}
