package lang

import (
	"bytes"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// twig is a node of a tree in the order of a walk from the top. Two trees are the same when their twigs are.
type twig struct {
	depth  int
	symbol sitter.Symbol
	text   string // of a leaf, and what stands between an inner node's children
}

// node is a node with its place, before the layout is taken out.
type node struct {
	depth      int
	symbol     sitter.Symbol
	start, end int
	leaf       bool
}

// shape lists a file's syntax without comments and layout; not ok when the file does not parse.
func (g *grammar) shape(src []byte) ([]twig, bool) {
	tree := g.parse(src)
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	root := tree.RootNode()
	if root.HasError() {
		return nil, false
	}
	return g.strip(g.walk(root), src), true
}

// roleIn is the role of a symbol; that of an error is in no table.
func roleIn(roles []role, s sitter.Symbol) role {
	if int(s) >= len(roles) {
		return plain
	}
	return roles[s]
}

// walk lists the nodes from the top down, without what is inside of comments.
func (g *grammar) walk(root *sitter.Node) []node {
	roles := g.symbols()
	cursor := sitter.NewTreeCursor(root)
	defer cursor.Close()
	var out []node
	for depth := 0; depth >= 0; {
		n := cursor.CurrentNode()
		out = append(out, node{depth, n.Symbol(), int(n.StartByte()), int(n.EndByte()), false})
		if roleIn(roles, n.Symbol()) != comment && cursor.GoToFirstChild() {
			depth++
			continue
		}
		out[len(out)-1].leaf = true
		for !cursor.GoToNextSibling() {
			depth--
			if depth < 0 || !cursor.GoToParent() {
				return out
			}
		}
	}
	return out
}

// strip drops comments and what a formatter may change, and adds the text between children, which is part of the syntax
// inside of strings.
func (g *grammar) strip(nodes []node, src []byte) []twig {
	roles := g.symbols()
	var out []twig
	var open []int // the ancestors' indexes in nodes
	pos := 0
	flush := func(parent, end int) {
		if gap := between(roles[nodes[parent].symbol], src[min(pos, end):end]); gap != "" {
			out = append(out, twig{nodes[parent].depth, nodes[parent].symbol, gap})
		}
	}
	for i, n := range nodes {
		for len(open) > n.depth {
			last := open[len(open)-1]
			flush(last, nodes[last].end)
			pos = max(pos, nodes[last].end)
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			flush(open[len(open)-1], n.start)
		}
		pos = max(pos, n.start)
		if n.leaf {
			pos = max(pos, n.end)
		}
		open = append(open, i)
		if roles[n.symbol] != comment && !g.dropped(nodes, i, open) {
			out = append(out, g.twig(n, src))
		}
	}
	return out
}

// between gives the text between two children where it matters.
func between(parent role, gap []byte) string {
	if parent != text && parent != quote && len(bytes.Trim(gap, " \t\r\n\f\v\\")) == 0 {
		return ""
	}
	return string(gap)
}

func (g *grammar) twig(n node, src []byte) twig {
	if !n.leaf {
		return twig{n.depth, n.symbol, ""}
	}
	s := string(src[n.start:n.end])
	if g.symbols()[n.symbol] == quote && strings.Contains(g.optional, "'") {
		// In some grammars the two quotes are two symbols.
		return twig{n.depth, 0, strings.ReplaceAll(s, "'", "\"")}
	}
	return twig{n.depth, n.symbol, s}
}

// dropped tells whether the i-th node is a mark that the layout alone decides.
func (g *grammar) dropped(nodes []node, i int, open []int) bool {
	roles := g.symbols()
	n := nodes[i]
	next := i + 1
	for next < len(nodes) && roles[nodes[next].symbol] == comment {
		next++
	}
	end := next >= len(nodes) || nodes[next].depth < n.depth
	var follower role
	if !end && nodes[next].depth == n.depth {
		follower = roles[nodes[next].symbol]
	}
	switch roles[n.symbol] {
	case comma:
		before := nodes[i-1]
		hole := before.depth == n.depth && (roles[before.symbol] == opener || roles[before.symbol] == comma)
		parent := roles[nodes[open[len(open)-2]].symbol]
		return (follower == closer || follower == brace) && !hole && parent != verbatim
	case semi:
		return strings.Contains(g.optional, ";") && (end || follower == brace)
	}
	return false
}
