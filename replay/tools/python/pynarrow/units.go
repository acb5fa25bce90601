package pynarrow

import (
	"context"
	"fmt"
	"path"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"

	"sluice/replay/narrow"
)

// pyUnit is what can be dropped as a whole: a statement at the top of a module, or of a class body.
type pyUnit struct {
	node    *sitter.Node // with its decorators
	span    narrow.Span
	kind    string // func, class, method, import or statement
	name    string
	binds   []string        // the names that it gives to the module
	uses    map[string]bool // names and whole strings that it mentions
	parent  *pyUnit         // the class of a method
	gone    bool
	because string
}

// pyModule is one parsed file.
type pyModule struct {
	name    string
	src     []byte
	units   []*pyUnit
	dropped []*pyUnit
}

func parsePython(src []byte) (*sitter.Node, error) {
	root, err := sitter.ParseCtx(context.Background(), src, python.GetLanguage())
	if err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	if root.HasError() {
		return nil, fmt.Errorf("parsing: it is no Python that this program knows")
	}
	return root, nil
}

func openPython(name string, src []byte) (*pyModule, error) {
	root, err := parsePython(src)
	if err != nil {
		return nil, err
	}
	m := &pyModule{name: name, src: src}
	for i := range int(root.NamedChildCount()) {
		m.statement(root.NamedChild(i), nil)
	}
	return m, nil
}

func (m *pyModule) text(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	return n.Content(m.src)
}

func nodeSpan(n *sitter.Node) narrow.Span {
	return narrow.Span{Start: int(n.StartByte()), End: int(n.EndByte())}
}

func line(n *sitter.Node) int { return int(n.StartPoint().Row) + 1 }

// statement makes the unit of a statement, and those of a class's methods.
func (m *pyModule) statement(n *sitter.Node, class *pyUnit) {
	if n.Type() == "comment" {
		return
	}
	u := &pyUnit{node: n, span: nodeSpan(n), kind: "statement", uses: map[string]bool{}, parent: class}
	m.mentions(n, u.uses, 0)
	inner := n
	if n.Type() == "decorated_definition" {
		inner = n.ChildByFieldName("definition")
	}
	m.units = append(m.units, u)
	switch inner.Type() {
	case "function_definition":
		u.kind, u.name = "func", m.text(inner.ChildByFieldName("name"))
		if class != nil {
			u.kind = "method"
		}
		u.binds = []string{u.name}
	case "class_definition":
		u.kind, u.name = "class", m.text(inner.ChildByFieldName("name"))
		u.binds = []string{u.name}
		if class == nil {
			m.class(n, inner, u)
		}
	case "import_statement", "import_from_statement":
		u.kind, u.name = "import", firstLineOf(m.text(n))
		for _, b := range m.imported(inner) {
			u.binds = append(u.binds, b.as)
		}
	default:
		u.name = firstLineOf(m.text(n))
		m.bound(n, &u.binds, 0)
	}
}

// class separates a class's methods from the rest of it: dropping a method leaves the class.
func (m *pyModule) class(whole, def *sitter.Node, u *pyUnit) {
	body := def.ChildByFieldName("body")
	if body == nil {
		return
	}
	u.uses = map[string]bool{}
	for i := range int(whole.NamedChildCount()) {
		if c := whole.NamedChild(i); c.Type() == "decorator" {
			m.mentions(c, u.uses, 0)
		}
	}
	m.mentions(def.ChildByFieldName("superclasses"), u.uses, 0)
	for i := range int(body.NamedChildCount()) {
		child := body.NamedChild(i)
		if t := child.Type(); t == "function_definition" || t == "decorated_definition" {
			m.statement(child, u)
			continue
		}
		m.mentions(child, u.uses, 0)
	}
}

const maxDepth = 500

// mentions gathers identifiers, and strings, by which pytest names fixtures. A keyword's or an attribute's name is not one,
// except behind self or cls.
func (m *pyModule) mentions(n *sitter.Node, into map[string]bool, depth int) {
	if n == nil || depth > maxDepth {
		return
	}
	switch n.Type() {
	case "identifier":
		into[m.text(n)] = true
		return
	case "string":
		into[strings.Trim(m.text(n), `"'`)] = true
	case "attribute":
		object := n.ChildByFieldName("object")
		if o := m.text(object); o == "self" || o == "cls" {
			into["self."+m.text(n.ChildByFieldName("attribute"))] = true
		}
		m.mentions(object, into, depth+1)
		return
	case "keyword_argument":
		m.mentions(n.ChildByFieldName("value"), into, depth+1)
		return
	}
	for i := range int(n.NamedChildCount()) {
		m.mentions(n.NamedChild(i), into, depth+1)
	}
}

// bound gathers the names that a statement binds, also inside of if, try and with.
func (m *pyModule) bound(n *sitter.Node, into *[]string, depth int) {
	if n == nil || depth > maxDepth {
		return
	}
	switch n.Type() {
	case "assignment", "augmented_assignment", "for_statement":
		m.targets(n.ChildByFieldName("left"), into, depth+1)
	case "function_definition", "class_definition":
		*into = append(*into, m.text(n.ChildByFieldName("name")))
		return
	case "import_statement", "import_from_statement":
		for _, b := range m.imported(n) {
			*into = append(*into, b.as)
		}
		return
	case "as_pattern_target":
		m.targets(n, into, depth+1)
	}
	for i := range int(n.NamedChildCount()) {
		m.bound(n.NamedChild(i), into, depth+1)
	}
}

func (m *pyModule) targets(n *sitter.Node, into *[]string, depth int) {
	if n == nil || depth > maxDepth {
		return
	}
	switch n.Type() {
	case "identifier":
		*into = append(*into, m.text(n))
		return
	case "attribute", "subscript", "call":
		return
	}
	for i := range int(n.NamedChildCount()) {
		m.targets(n.NamedChild(i), into, depth+1)
	}
}

// pyImport is one name of an import statement: what it is called there, and in the module.
type pyImport struct {
	node     *sitter.Node
	name, as string
}

func (m *pyModule) imported(n *sitter.Node) []pyImport {
	var list []pyImport
	module := n.ChildByFieldName("module_name")
	for i := range int(n.NamedChildCount()) {
		c := n.NamedChild(i)
		if module != nil && c.Equal(module) {
			continue
		}
		b := pyImport{node: c}
		switch c.Type() {
		case "dotted_name":
			b.name = m.text(c)
			b.as, _, _ = strings.Cut(b.name, ".")
		case "aliased_import":
			b.name, b.as = m.text(c.ChildByFieldName("name")), m.text(c.ChildByFieldName("alias"))
		case "wildcard_import":
			b.name, b.as = "*", "*"
		default:
			continue
		}
		list = append(list, b)
	}
	return list
}

func firstLineOf(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 80 {
		s = s[:80]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func isConftest(name string) bool { return path.Base(name) == "conftest.py" }
