package testcode

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"

	"sluice/miners/lang"
)

func fromHex(s string) string {
	n, err := strconv.ParseInt(s, 16, 32)
	if err != nil {
		return ""
	}
	return string(rune(n))
}

// rust reads a file of Rust. In a file of source only what is compiled for tests counts; modules that the file's own place makes are in
// no path.
func (r *reader) rust(root *sitter.Node) {
	in, _ := lang.InlineTests(r.name, r.src)
	w := rustWalk{reader: r, in: in, all: lang.Classify(r.name) == lang.Test}
	w.items(place{}, root)
}

type rustWalk struct {
	*reader
	in  lang.Inline
	all bool // the file holds nothing but tests
}

// lint is an attribute that is for the compiler's warnings, or for documentation.
var lint = regexp.MustCompile(`^#!\[\s*(?:cfg_attr\([^,]*,\s*)?(?:allow|warn|deny|expect|forbid|doc)\b`)

// items reads items with the attributes before them.
func (w *rustWalk) items(p place, body *sitter.Node) {
	if w.tooDeep(p) {
		return
	}
	var marks []*sitter.Node
	for _, n := range children(body) {
		if n.Type() == "attribute_item" {
			marks = append(marks, n)
			continue
		}
		if w.ours(n, marks) {
			w.item(p, n, marks)
		} else if inner := n.ChildByFieldName("body"); n.Type() == "mod_item" && inner != nil {
			w.items(p.within(w.field(n, "name"), Name{w.field(n, "name")}), inner)
		}
		marks = nil
	}
}

// ours says that an item is test code.
func (w *rustWalk) ours(n *sitter.Node, marks []*sitter.Node) bool {
	first := line(n)
	if len(marks) > 0 {
		first = line(marks[0])
	}
	return w.all || slices.ContainsFunc(w.in.Code, func(s lang.Span) bool { return s.First <= first && int(n.EndPoint().Row)+1 <= s.Last })
}

func (w *rustWalk) item(p place, n *sitter.Node, marks []*sitter.Node) {
	name := w.field(n, "name")
	nodes := append(slices.Clone(marks), n)
	switch n.Type() {
	case "function_item":
		if w.marked(n) {
			u := w.test(p, Name{name}, nodes...)
			u.names = []string{name}
			return
		}
		w.defineAll(p, nodes, name)
	case "mod_item":
		inner := p.within(name, Name{name})
		body := n.ChildByFieldName("body")
		if body == nil {
			w.defineAll(p, nodes, name)
			return
		}
		for _, m := range marks {
			w.around(inner, m)
		}
		w.items(inner, body)
	case "use_declaration":
		w.use(p, n)
	case "impl_item":
		w.defineAll(p, nodes, w.identifiers(n.ChildByFieldName("type"))...)
	case "empty_statement":
	case "inner_attribute_item":
		if !lint.MatchString(w.text(n)) {
			w.loose(p, n)
		}
	case "macro_invocation", "expression_statement", "ERROR", "extern_crate_declaration":
		w.loose(p, n)
	default:
		w.defineAll(p, nodes, name)
	}
}

// defineAll defines names by an item with its attributes.
func (w *rustWalk) defineAll(p place, nodes []*sitter.Node, names ...string) {
	for _, n := range nodes {
		if len(names) == 1 && names[0] == "" {
			w.loose(p, n)
			continue
		}
		w.define(p, n, names...)
	}
}

// marked says that a function is one of the tests that lang knows.
func (w *rustWalk) marked(n *sitter.Node) bool {
	last := int(n.EndPoint().Row) + 1
	return slices.ContainsFunc(w.in.Tests, func(t lang.InlineTest) bool {
		return t.Span.First <= line(n) && t.Span.Last == last && (t.Name == w.field(n, "name") || strings.HasSuffix(t.Name, "::"+w.field(n, "name")))
	})
}

func (w *rustWalk) use(p place, n *sitter.Node) {
	text := strings.TrimSuffix(w.text(n), ";")
	if strings.Contains(text, "super::*") {
		return // what stands around is source, or is compared itself
	}
	if strings.Contains(text, "*") {
		w.loose(p, n)
		return
	}
	w.leaves(p, n.ChildByFieldName("argument"), "")
}

// leaves defines each name that a use declaration brings in.
func (w *rustWalk) leaves(p place, n *sitter.Node, path string) {
	p.depth++
	if n == nil || w.tooDeep(p) {
		return
	}
	switch n.Type() {
	case "scoped_use_list":
		w.leaves(p, n.ChildByFieldName("list"), path+w.field(n, "path")+"::")
	case "use_list":
		for _, c := range children(n) {
			w.leaves(p, c, path)
		}
	default:
		name := w.text(n)
		if n.Type() == "use_as_clause" {
			name = w.field(n, "alias")
		}
		name = name[strings.LastIndexByte(name, ':')+1:]
		w.units = append(w.units, unit{scope: p.scope, names: []string{name}, digest: textDigest(path + w.text(n)), uses: map[string]bool{}})
	}
}
