package project

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// errDeep says why a TOML text is not read: the library's work grows with the square of a key's parts and of nesting.
var errDeep = errors.New("a key of more than 100 parts, or values nested more than 100 deep")

const maxTOMLDepth = 100

// DecodeTOML reads a TOML text of a repository. What is deeper than any manifest is refused before it is read.
func DecodeTOML(text string, v any) error {
	if tomlDepth(text) > maxTOMLDepth {
		return errDeep
	}
	_, err := toml.Decode(text, v)
	return err
}

// tomlDepth is the greatest number of dots in a key, or of brackets that are open at once, outside of strings and comments.
func tomlDepth(text string) int {
	deepest, dots, open := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '#':
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return deepest
			}
			i += n - 1
		case '"', '\'':
			i += tomlString(text[i:], c) - 1
		case '.':
			dots++
		case '[', '{':
			open, dots = open+1, 0
		case ']', '}':
			open, dots = max(0, open-1), 0
		case '=', ',', '\n':
			dots = 0
		}
		deepest = max(deepest, dots, open)
	}
	return deepest
}

// tomlString is the length of the string that a text begins with, its quotes included. One without end is the text's rest.
func tomlString(s string, quote byte) int {
	long := strings.Repeat(string(quote), 3)
	if !strings.HasPrefix(s, long) {
		return stringEnd(s, string(quote), quote)
	}
	n := stringEnd(s, long, quote)
	for range 2 { // it may end in quotes of its own
		if n < len(s) && s[n] == quote {
			n++
		}
	}
	return n
}

func stringEnd(s, quotes string, quote byte) int {
	for i := len(quotes); i < len(s); i++ {
		switch {
		case quote == '"' && s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quotes):
			return i + len(quotes)
		case len(quotes) == 1 && s[i] == '\n':
			return i // no such string; the library will say so
		}
	}
	return len(s)
}
