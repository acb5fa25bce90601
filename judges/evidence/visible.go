package evidence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible writes what cannot be seen, or what directs how text is shown, as its number: control characters and with them ANSI
// escapes, marks of direction, zero widths, tags, variation selectors, private and unassigned characters, broken UTF-8. Line
// breaks and tabs stay.
func Visible(text string) string {
	i := firstHidden(text)
	if i < 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + 64)
	out.WriteString(text[:i])
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, "⟨0x%02X⟩", text[i])
		case hidden(r) && !(emoji(r) && unicode.Is(unicode.So, before)):
			fmt.Fprintf(&out, "⟨U+%04X⟩", r)
		default:
			out.WriteString(text[i : i+n])
		}
		before = r
		i += n
	}
	return out.String()
}

// firstHidden finds the first byte that may need writing out. Most evidence is plain ASCII.
func firstHidden(text string) int {
	for i := 0; i < len(text); i++ {
		if b := text[i]; b < ' ' && b != '\n' && b != '\t' || b >= 0x7f {
			return i
		}
	}
	return -1
}

// emoji is the selector that asks for a symbol in colours or without: after a symbol it hides nothing.
func emoji(r rune) bool { return r == 0xFE0E || r == 0xFE0F }

// hidden reports whether a character cannot be seen. Go's IsGraphic leaves out control, format, private and unassigned
// characters and separators of lines and paragraphs.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || ' ' <= r && r < 0x7f:
		return false
	case r == 0x2800: // a Braille pattern without dots
		return true
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
