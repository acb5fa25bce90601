package lang

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/golang"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/kotlin"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// grammar is a language that tree-sitter parses. Its tables are made at first use.
type grammar struct {
	load     func() *sitter.Language
	comments func([]byte) ([]span, bool)
	symbols  func() []role
	names    func() []bool // by symbol
	optional string        // what a formatter may add or drop: ";" at the end of a statement, "'" for "\""
}

var grammars = map[string]*grammar{
	"Python": newGrammar(python.GetLanguage, "'", "comment"),
	// The TSX grammar reads all of JavaScript's syntax too, but JavaScript's own knows better which "<" is a comparison.
	"JavaScript": newGrammar(javascript.GetLanguage, ";'", "comment"),
	"TypeScript": newGrammar(typescript.GetLanguage, ";'", "comment"),
	"TSX":        newGrammar(tsx.GetLanguage, ";'", "comment"),
	"C":          newGrammar(c.GetLanguage, "", "comment"),
	"C++":        newGrammar(cpp.GetLanguage, "", "comment"),
	"Java":       newGrammar(java.GetLanguage, "", "line_comment", "block_comment"),
	"Rust":       newGrammar(rust.GetLanguage, "", "line_comment", "block_comment"),
	"Ruby":       newGrammar(ruby.GetLanguage, "", "comment"),
}

// parsers are languages that are parsed for their syntax only: their comments are found in another way, or not at all.
var parsers = map[string]func() *sitter.Language{"Go": golang.GetLanguage, "Kotlin": kotlin.GetLanguage}

// Parse gives the syntax tree of a file, which the caller must close; nil where the language has no parser here, the file is too
// large, or the parser gives up. What cannot be read of a file is an ERROR in its tree.
func Parse(name string, src []byte) *sitter.Tree {
	if len(src) > maxSource || bytes.IndexByte(src, 0) >= 0 {
		return nil
	}
	language := Language(name)
	if g, ok := grammars[language]; ok {
		return g.parse(src)
	}
	if load, ok := parsers[language]; ok {
		return (&grammar{load: load}).parse(src)
	}
	return nil
}

func newGrammar(load func() *sitter.Language, optional string, comments ...string) *grammar {
	g := &grammar{load: load, optional: optional}
	query := sync.OnceValues(func() (*sitter.Query, error) {
		return sitter.NewQuery([]byte("[("+strings.Join(comments, ") (")+")] @c"), load())
	})
	g.names = sync.OnceValue(func() []bool { return identifiers(load()) })
	g.symbols = sync.OnceValue(func() []role { return roles(load(), comments) })
	g.comments = func(src []byte) ([]span, bool) {
		q, err := query()
		if err != nil {
			return nil, false
		}
		return g.find(q, src)
	}
	return g
}

// parse gives nil when the parser gives up. The tree must be closed.
func (g *grammar) parse(src []byte) *sitter.Tree {
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(g.load())
	tree, err := p.ParseCtx(context.Background(), nil, src)
	if err != nil {
		return nil
	}
	return tree
}

// find lists the comments in order.
func (g *grammar) find(q *sitter.Query, src []byte) ([]span, bool) {
	tree := g.parse(src)
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.Exec(q, tree.RootNode())
	var out []span
	for m, ok := cursor.NextMatch(); ok; m, ok = cursor.NextMatch() {
		for _, c := range m.Captures {
			out = append(out, span{int(c.Node.StartByte()), int(c.Node.EndByte())})
		}
	}
	return disjoint(out, len(src)), true
}

// disjoint sorts spans and drops what overlaps, which a parser may yield when it recovers from an error.
func disjoint(spans []span, size int) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	end := 0
	return slices.DeleteFunc(spans, func(s span) bool {
		if s.start < end || s.end > size || s.end <= s.start {
			return true
		}
		end = s.end
		return false
	})
}
