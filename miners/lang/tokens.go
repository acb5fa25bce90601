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

// Tokens lists what a file is made of, in order, without comments and white space. What spans several lines, as a string may, is
// cut into one token a line. ok is false where the language has no parser here or the file is too large; a file that does not
// parse gives what the parser makes of it.
func Tokens(name string, src []byte) (tokens []Token, ok bool) {
	language := Language(name)
	if len(src) > maxSource || bytes.IndexByte(src, 0) >= 0 {
		return nil, false
	}
	if language == "Go" {
		return goTokens(src), true
	}
	g, ok := grammars[language]
	if !ok {
		return nil, false
	}
	tree := g.parse(src)
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	return g.tokens(g.walk(tree.RootNode()), src), true
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

// tokens makes a token of every leaf, and of what stands between leaves: some grammars have no node for what a string holds.
func (g *grammar) tokens(nodes []node, src []byte) []Token {
	roles, names := g.symbols(), g.names()
	c := cutter{line: 1}
	pos := 0
	for _, n := range nodes {
		if !n.leaf || n.start < pos {
			continue
		}
		c.text(src[pos:n.start], false)
		if roleIn(roles, n.symbol) == comment {
			c.line += bytes.Count(src[n.start:n.end], []byte("\n"))
		} else {
			c.text(src[n.start:n.end], int(n.symbol) < len(names) && names[n.symbol])
		}
		pos = n.end
	}
	return c.out
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

// Span is lines First to Last of a file, counted from 1, both included.
type Span struct{ First, Last int }

// Functions lists the outermost functions and methods of a file in order, each from its first line (of a decorated one, that of the
// function itself) to its last. ok is as for Tokens; a file of Go that does not parse has the functions before the error.
func Functions(name string, src []byte) (functions []Span, ok bool) {
	language := Language(name)
	if len(src) > maxSource || bytes.IndexByte(src, 0) >= 0 {
		return nil, false
	}
	if language == "Go" {
		return goFunctions(src), true
	}
	g, ok := grammars[language]
	if !ok {
		return nil, false
	}
	tree := g.parse(src)
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	return g.spans(g.walk(tree.RootNode()), src), true
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

func (g *grammar) spans(nodes []node, src []byte) []Span {
	l := g.load()
	var out []Span
	line, pos, end := 1, 0, 0
	for _, n := range nodes {
		if n.start < end || !isFunction(l.SymbolName(n.symbol)) || n.leaf {
			continue
		}
		line += bytes.Count(src[pos:n.start], []byte("\n"))
		pos, end = n.start, n.end
		out = append(out, Span{line, line + bytes.Count(src[n.start:n.end], []byte("\n"))})
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
