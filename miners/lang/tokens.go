package lang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// Token is a word or a mark of a program.
type Token struct {
	Line int // counted from 1
	Text string
	Name bool // an identifier: what a program may rename
}

// Span is lines First to Last of a file, counted from 1, both included.
type Span struct{ First, Last int }

// Outline is what a file is made of.
type Outline struct {
	Tokens    []Token // in order
	Functions []Span  // the outermost functions and methods, in order
}

// Read outlines a file: its functions, and the tokens of the wanted lines, which are in order and apart, without comments and white
// space. What spans several lines, as a string may, is cut into one token a line. A function begins at its own first line, not
// at that of what decorates it.
//
// ok is false where the language has no parser here or the file is too large. A file that does not parse gives what the parser
// makes of it.
func Read(name string, src []byte, wanted []Span) (o Outline, ok bool) {
	language := Language(name)
	if len(src) > maxSource || bytes.IndexByte(src, 0) >= 0 {
		return Outline{}, false
	}
	if language == "Go" {
		return Outline{within(goTokens(src), wanted), goFunctions(src)}, true
	}
	g, ok := grammars[language]
	if !ok {
		return Outline{}, false
	}
	tree := g.parse(src)
	if tree == nil {
		return Outline{}, false
	}
	defer tree.Close()
	return g.outline(tree.RootNode(), src, wanted), true
}

// within leaves the tokens of the wanted lines.
func within(tokens []Token, wanted []Span) []Token {
	var out []Token
	for _, t := range tokens {
		for len(wanted) > 0 && wanted[0].Last < t.Line {
			wanted = wanted[1:]
		}
		if len(wanted) > 0 && wanted[0].First <= t.Line {
			out = append(out, t)
		}
	}
	return out
}

func goTokens(src []byte) []Token {
	var c cutter
	s := newGoScanner(src)
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return c.out
		case tok == token.COMMENT, tok == token.SEMICOLON && lit == "\n":
			continue
		case lit == "":
			lit = tok.String()
		}
		c.add(s.file.PositionFor(pos, false).Line, lit, tok == token.IDENT)
	}
}

// outline walks the tree, but not into functions that hold no wanted line: a walk costs more than the parse.
func (g *grammar) outline(root *sitter.Node, src []byte, wanted []Span) Outline {
	roles, names, language := g.symbols(), g.names(), g.load()
	cursor := sitter.NewTreeCursor(root)
	defer cursor.Close()
	c := cutter{line: 1}
	var functions []Span
	pos, end, depth := 0, 0, 0
	for {
		n := cursor.CurrentNode()
		symbol, start, stop := n.Symbol(), int(n.StartByte()), int(n.EndByte())
		first, last := int(n.StartPoint().Row)+1, int(n.EndPoint().Row)+1
		if start >= end && isFunction(language.SymbolName(symbol)) && n.ChildCount() > 0 {
			functions = append(functions, Span{first, last})
			end = stop
		}
		outer := start >= end // functions may be inside
		if roleIn(roles, symbol) != comment && (outer || overlaps(wanted, first, last)) && cursor.GoToFirstChild() {
			depth++
			continue
		}
		if start >= pos {
			c.text(src[pos:start], false)
			c.leaf(src[start:stop], leafKind(roles, names, symbol))
			pos = stop
		}
		for !cursor.GoToNextSibling() {
			if depth == 0 || !cursor.GoToParent() {
				return Outline{within(c.out, wanted), functions}
			}
			depth--
		}
	}
}

// kind of a leaf.
type kind uint8

const (
	mark kind = iota
	name
	remark
)

func leafKind(roles []role, names []bool, s sitter.Symbol) kind {
	switch {
	case roleIn(roles, s) == comment:
		return remark
	case int(s) < len(names) && names[s]:
		return name
	}
	return mark
}

// overlaps tells whether a wanted line is between two lines.
func overlaps(wanted []Span, first, last int) bool {
	i, _ := slices.BinarySearchFunc(wanted, first, func(s Span, line int) int { return s.Last - line })
	return i < len(wanted) && wanted[i].First <= last
}

// identifiers tells which symbols of a grammar are names.
func identifiers(l *sitter.Language) []bool {
	out := make([]bool, l.SymbolCount())
	for i := range out {
		s := l.SymbolName(sitter.Symbol(i))
		out[i] = strings.HasSuffix(s, "identifier") || s == "shorthand_property_identifier_pattern" ||
			slices.Contains([]string{"constant", "instance_variable", "class_variable", "global_variable"}, s)
	}
	return out
}

// cutter cuts text into tokens that do not span lines.
type cutter struct {
	line int
	out  []Token
}

func (c *cutter) leaf(text []byte, k kind) {
	if k == remark {
		c.line += bytes.Count(text, []byte("\n"))
		return
	}
	c.text(text, k == name)
}

func (c *cutter) text(text []byte, name bool) {
	c.add(c.line, string(text), name)
	c.line += bytes.Count(text, []byte("\n"))
}

func (c *cutter) add(line int, text string, name bool) {
	for part := range strings.SplitSeq(text, "\n") {
		if part = strings.TrimSpace(part); part != "" {
			c.out = append(c.out, Token{Line: line, Text: part, Name: name})
		}
		line++
	}
}

func goFunctions(src []byte) []Span {
	fset := token.NewFileSet()
	// An error leaves what was read before it.
	file, _ := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	var out []Span
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			// Positions as they are, whatever //line comments say. A broken function may have no end.
			first, last := fset.PositionFor(f.Pos(), false).Line, fset.PositionFor(f.End(), false).Line
			out = append(out, Span{first, max(first, last)})
		}
	}
	return out
}

// isFunction knows how the grammars call the definition of a function.
func isFunction(symbol string) bool {
	switch symbol {
	case "method", "singleton_method", "arrow_function", "function", "function_item", "function_expression", "generator_function":
		return true
	}
	for _, kind := range []string{"function", "method", "constructor"} {
		for _, what := range []string{"_definition", "_declaration"} {
			if strings.HasSuffix(symbol, kind+what) {
				return true
			}
		}
	}
	return false
}
