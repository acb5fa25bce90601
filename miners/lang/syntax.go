package lang

import (
	"bytes"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// SameSyntax tells whether two versions of a file differ at most in comments and layout: white space, line breaks, a
// trailing comma, in some languages the quotes and the semicolon at the end of a line. It errs on the side of "different".
// known is false where it cannot tell: the language has no parser here, or a version does not parse.
func SameSyntax(name string, a, b []byte) (same, known bool) {
	language := Language(name)
	switch {
	case bytes.Equal(a, b):
		return true, true
	case max(len(a), len(b)) > maxSource:
		return false, false
	case language == "Go":
		return sameGo(a, b)
	}
	g, ok := grammars[language]
	if !ok {
		return false, false
	}
	return g.same(a, b)
}

// same compares what is left without comments and layout first, which settles most pairs at the price of a parse, and
// then the trees, which know that indentation is syntax.
func (g *grammar) same(a, b []byte) (same, known bool) {
	ca, okA := g.comments(a)
	cb, okB := g.comments(b)
	if !okA || !okB {
		return false, false
	}
	if !bytes.Equal(squeeze(a, ca), squeeze(b, cb)) {
		return false, true
	}
	ta, okA := g.shape(a)
	tb, okB := g.shape(b)
	if !okA || !okB {
		return false, false
	}
	return slices.Equal(ta, tb), true
}

// squeeze leaves out the comments and every byte that a formatter may add or drop.
func squeeze(src []byte, comments []span) []byte {
	out := make([]byte, 0, len(src))
	pos := 0
	for _, c := range append(comments, span{len(src), len(src)}) {
		for _, b := range src[pos:c.start] {
			if strings.IndexByte(" \t\r\n\f\v,;'\"", b) < 0 {
				out = append(out, b)
			}
		}
		pos = c.end
	}
	return out
}

// role is what a symbol of a grammar means to the comparison.
type role uint8

const (
	plain    role = iota
	comment       // is left out
	text          // white space inside counts
	comma         // may be left out before a closer
	closer        // ")" or "]"
	brace         // "}"
	opener        // an opening bracket
	semi          // may be left out at the end of a node and before a brace
	quote         // opens or closes a string
	verbatim      // its commas count: the arguments of a macro, an index
)

func roles(l *sitter.Language, comments []string) []role {
	out := make([]role, l.SymbolCount())
	for i := range out {
		out[i] = roleOf(l.SymbolName(sitter.Symbol(i)), comments)
	}
	return out
}

func roleOf(symbol string, comments []string) role {
	switch symbol {
	case ",":
		return comma
	case ")", "]":
		return closer
	case "}":
		return brace
	case "(", "[", "{":
		return opener
	case ";":
		return semi
	case "'", "\"", "string_start", "string_end":
		return quote
	case "token_tree", "subscript":
		return verbatim
	}
	if slices.Contains(comments, symbol) {
		return comment
	}
	for _, part := range []string{"string", "heredoc", "regex", "text", "subshell", "content", "template", "char"} {
		if strings.Contains(symbol, part) {
			return text
		}
	}
	return plain
}
