package testcode

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	sitter "github.com/smacker/go-tree-sitter"

	"sluice/miners/lang"
)

// reader takes one file apart.
type reader struct {
	name    string
	src     []byte
	units   []unit
	count   map[string]int // of nameless scopes within a scope
	classes map[string]*class
	deep    bool
}

// place is where a piece of a file stands.
type place struct {
	scope string
	path  []Name
	depth int
}

// within is a place within another, of its own scope.
func (p place) within(key string, names ...Name) place {
	return place{p.scope + key + "\x00", append(slices.Clone(p.path), names...), p.depth + 1}
}

// nameless is a scope that adds no name, such as a loop.
func (r *reader) nameless(p place) place {
	r.count[p.scope]++
	return p.within("\x01" + string(rune('0'+r.count[p.scope]%1000)))
}

func (r *reader) text(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	return n.Content(r.src)
}

func (r *reader) field(n *sitter.Node, name string) string { return r.text(n.ChildByFieldName(name)) }

// children are the named children but comments.
func children(n *sitter.Node) []*sitter.Node {
	if n == nil {
		return nil
	}
	c := sitter.NewTreeCursor(n)
	defer c.Close()
	var out []*sitter.Node
	for ok := c.GoToFirstChild(); ok; ok = c.GoToNextSibling() {
		if x := c.CurrentNode(); x.IsNamed() && !isComment(x.Type()) {
			out = append(out, x)
		}
	}
	return out
}

func isComment(kind string) bool { return kind == "comment" || strings.HasSuffix(kind, "_comment") }

// define adds a piece that defines names; without any it stands around all tests of its place.
func (r *reader) define(p place, n *sitter.Node, names ...string) {
	digest, uses := r.look(n, nil)
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" || s == "_" })
	r.units = append(r.units, unit{scope: p.scope, names: names, digest: digest, uses: uses, lines: lines(n)})
}

// around adds a piece that holds for all tests of its place: a set-up, a decorator, an argument. What it skips are pieces of their own.
func (r *reader) around(p place, n *sitter.Node, skip ...*sitter.Node) {
	digest, uses := r.look(n, skip)
	r.units = append(r.units, unit{scope: p.scope, digest: digest, uses: uses})
}

// loose adds a piece of which nothing is known.
func (r *reader) loose(p place, n *sitter.Node) {
	r.around(p, n)
	r.units[len(r.units)-1].loose = true
}

// test adds a test of one node or of several that follow each other.
func (r *reader) test(p place, name Name, nodes ...*sitter.Node) *unit {
	t := Test{Path: append(slices.Clone(p.path), name)}
	u := unit{scope: p.scope, uses: map[string]bool{}, test: &t}
	h := xxhash.New()
	for i, n := range nodes {
		span := lines(n)
		if i == 0 {
			t.Lines.First = span.First
		}
		t.Lines.Last = max(t.Lines.Last, span.Last)
		r.hash(h, n, nil, u.uses)
	}
	u.digest = h.Sum64()
	u.body, _ = r.look(nodes[len(nodes)-1], []*sitter.Node{nodes[len(nodes)-1].ChildByFieldName("name")})
	r.units = append(r.units, u)
	return &r.units[len(r.units)-1]
}

func (r *reader) look(n *sitter.Node, skip []*sitter.Node) (uint64, map[string]bool) {
	h, uses := xxhash.New(), map[string]bool{}
	r.hash(h, n, skip, uses)
	return h.Sum64(), uses
}

var word = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*$`)

// hash takes in the syntax of a node without comments, layout and a comma before a closing bracket, and collects the words that it uses.
// What is written in a string counts as a word if it is one: tools look things up by such names.
func (r *reader) hash(h *xxhash.Digest, top *sitter.Node, skip []*sitter.Node, uses map[string]bool) {
	c := sitter.NewTreeCursor(top)
	defer c.Close()
	comma := false
	for depth := 0; depth >= 0; {
		n := c.CurrentNode()
		kind := n.Type()
		passed := isComment(kind) || slices.ContainsFunc(skip, func(s *sitter.Node) bool { return s != nil && n.Equal(s) })
		if !passed {
			comma = r.hashNode(h, n, depth, comma, uses)
			if c.GoToFirstChild() {
				depth++
				continue
			}
		}
		for !c.GoToNextSibling() {
			depth--
			if depth < 0 || !c.GoToParent() {
				return
			}
		}
	}
}

// hashNode takes in one node; comma says that one is held back, and the result whether one is now.
func (r *reader) hashNode(h *xxhash.Digest, n *sitter.Node, depth int, comma bool, uses map[string]bool) bool {
	kind, leaf := n.Type(), n.ChildCount() == 0
	if leaf && (kind == ";" || kind == "\n") {
		return comma
	}
	if leaf && comma {
		if kind != ")" && kind != "]" && kind != "}" {
			_, _ = h.WriteString(",\x00")
		}
		comma = false
	}
	if leaf && kind == "," {
		return true
	}
	_, _ = h.Write([]byte{byte(depth), byte(depth >> 8)})
	_, _ = h.WriteString(kind)
	text := leaf || strings.Contains(kind, "string") || strings.Contains(kind, "template") || strings.Contains(kind, "char") ||
		strings.Contains(kind, "regex")
	if text {
		s := n.Content(r.src)
		_, _ = h.WriteString("\x00" + s)
		if leaf && n.IsNamed() {
			r.use(kind, s, uses)
		}
	}
	_, _ = h.WriteString("\x00")
	return comma
}

func (r *reader) use(kind, s string, uses map[string]bool) {
	if kind == "preproc_arg" {
		for _, w := range strings.FieldsFunc(s, func(c rune) bool { return !word.MatchString(string(c)) && (c < '0' || c > '9') }) {
			uses[w] = true
		}
		return
	}
	if s = strings.Trim(s, "`\""); word.MatchString(s) {
		uses[s] = true
	}
}

// identifiers are the words in a node, sorted.
func (r *reader) identifiers(n *sitter.Node) []string {
	if n == nil {
		return nil
	}
	_, uses := r.look(n, nil)
	return slices.Sorted(maps.Keys(uses))
}

func line(n *sitter.Node) int { return int(n.StartPoint().Row) + 1 }

// lines is where a node stands.
func lines(n *sitter.Node) lang.Span {
	return lang.Span{First: line(n), Last: int(n.EndPoint().Row) + 1}
}

// tooDeep notes that a file is nested deeper than anybody writes.
func (r *reader) tooDeep(p place) bool {
	r.deep = r.deep || p.depth > maxNested
	return r.deep
}

// class is a class at the top of a file, for those that inherit its tests.
type class struct {
	bases    []string
	abstract bool // its own tests are not run, only those of classes that inherit them
}

// inherit gives classes the tests and all else of their bases in the file, and takes out the tests of those that are bases only.
func (r *reader) inherit() {
	own := slices.Clone(r.units)
	for _, name := range slices.Sorted(maps.Keys(r.classes)) {
		r.inheritFrom(own, name, name, map[string]bool{name: true})
	}
	r.units = slices.DeleteFunc(r.units, func(u unit) bool {
		if u.test == nil {
			return false
		}
		c := r.classes[u.test.Path[0].String()]
		return c != nil && c.abstract && len(u.test.Path) > 1
	})
}

func (r *reader) inheritFrom(own []unit, name, at string, seen map[string]bool) {
	for _, base := range r.classes[at].bases {
		if r.classes[base] == nil || seen[base] || len(seen) > maxNested {
			continue
		}
		seen[base] = true
		r.copyUnits(own, base, name)
		r.inheritFrom(own, name, base, seen)
	}
}

// copyUnits lays what stands in one class into another, as far as it is not overridden there.
func (r *reader) copyUnits(units []unit, from, to string) {
	own := map[string]bool{}
	for _, u := range units {
		if u.scope == to+"\x00" {
			for _, n := range u.names {
				own[n] = true
			}
		}
	}
	for _, u := range units {
		rest, ok := strings.CutPrefix(u.scope, from+"\x00")
		if !ok || rest == "" && slices.ContainsFunc(u.names, func(n string) bool { return own[n] }) {
			continue
		}
		u.scope = to + "\x00" + rest
		if u.test != nil {
			t := *u.test
			t.Path = append([]Name{{to}}, t.Path[1:]...)
			u.test = &t
		}
		r.units = append(r.units, u)
	}
}
