package testcode

import (
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// python reads a file of Python, by the rules of pytest's defaults and of unittest.
func (r *reader) python(root *sitter.Node) { r.pyBlock(place{}, root) }

// pyBlock reads the statements of a file, of a class, or of a condition among them.
func (r *reader) pyBlock(p place, body *sitter.Node) {
	if r.tooDeep(p) {
		return
	}
	for _, n := range children(body) {
		switch n.Type() {
		case "import_statement", "import_from_statement", "future_import_statement":
			r.pyImport(p, n)
		case "decorated_definition":
			r.pyDefinition(p, n, n.ChildByFieldName("definition"))
		case "function_definition", "class_definition":
			r.pyDefinition(p, n, n)
		case "expression_statement":
			r.pyExpression(p, n)
		case "if_statement", "try_statement", "with_statement", "else_clause", "elif_clause", "except_clause", "finally_clause", "for_statement":
			r.pyCompound(p, n)
		default:
			r.loose(p, n)
		}
	}
}

// pyCompound reads a statement with blocks: what its blocks define holds beside it.
func (r *reader) pyCompound(p place, n *sitter.Node) {
	if strings.Contains(r.field(n, "condition"), "__main__") {
		return
	}
	var inner []*sitter.Node
	for _, c := range children(n) {
		if c.Type() == "block" || strings.HasSuffix(c.Type(), "_clause") {
			inner = append(inner, c)
		}
	}
	r.around(p, n, inner...)
	p.depth++
	for _, c := range inner {
		if c.Type() == "block" {
			r.pyBlock(p, c)
		} else if !r.tooDeep(p) {
			r.pyCompound(p, c)
		}
	}
}

func (r *reader) pyImport(p place, n *sitter.Node) {
	var names []string
	for _, c := range children(n) {
		switch {
		case c.Type() == "wildcard_import":
			r.loose(p, n)
			return
		case c.Type() == "aliased_import":
			names = append(names, r.field(c, "alias"))
		case n.Type() != "import_from_statement":
			first, _, _ := strings.Cut(r.text(c), ".")
			names = append(names, first)
		case !c.Equal(n.ChildByFieldName("module_name")):
			names = append(names, r.text(c))
		}
	}
	if len(names) == 0 {
		r.loose(p, n)
		return
	}
	for _, name := range names { // one by one: a further name in a list changes nothing for the others
		r.define(p, n, name)
		u := &r.units[len(r.units)-1]
		u.digest, u.uses = textDigest(r.field(n, "module_name")+" "+name), map[string]bool{}
		if n.Type() != "import_from_statement" || strings.Contains(r.text(n), " as ") {
			u.digest, _ = r.look(n, nil)
		}
	}
}

func (r *reader) pyExpression(p place, n *sitter.Node) {
	first := n.NamedChild(0)
	if first == nil {
		return
	}
	switch first.Type() {
	case "string":
		return // documentation
	case "assignment", "augmented_assignment":
		left := first.ChildByFieldName("left")
		if left == nil || left.Type() == "subscript" || left.Type() == "attribute" || r.text(left) == "pytestmark" || strings.HasPrefix(r.text(left), "__") {
			r.around(p, n)
			return
		}
		r.define(p, n, r.identifiers(left)...)
	default:
		r.loose(p, n)
	}
}

// pySetUps are functions and methods that tools call around tests.
var pySetUps = map[string]bool{
	"setUp": true, "tearDown": true, "setUpClass": true, "tearDownClass": true, "setUpModule": true, "tearDownModule": true, "asyncSetUp": true,
	"asyncTearDown": true, "setup": true, "teardown": true, "setup_method": true, "teardown_method": true, "setup_class": true,
	"teardown_class": true, "setup_module": true, "teardown_module": true, "setup_function": true, "teardown_function": true,
	"runTest": true, "__init__": true, "setUpTestData": true, "pytest_generate_tests": true,
}

// pyDefinition reads a function or class with its decorators.
func (r *reader) pyDefinition(p place, whole, n *sitter.Node) {
	name := r.field(n, "name")
	if n.Type() == "class_definition" {
		r.pyClass(p, whole, n, name)
		return
	}
	decorators := ""
	if !whole.Equal(n) {
		decorators, _, _ = strings.Cut(r.text(whole), "def "+name)
	}
	switch {
	case strings.Contains(decorators, "fixture") && !strings.Contains(decorators, "mark."):
		if strings.Contains(strings.ReplaceAll(decorators, " ", ""), "autouse=True") {
			r.around(p, whole)
			return
		}
		names := []string{name}
		if _, rest, ok := strings.Cut(decorators, "name="); ok { // the name by which tests ask for it
			names = append(names, strings.Trim(strings.FieldsFunc(rest+" ", func(c rune) bool { return c == ',' || c == ')' || c == '\n' })[0], "\"' "))
		}
		r.define(p, whole, names...)
	case pySetUps[name]:
		r.around(p, whole)
	case strings.HasPrefix(name, "test"):
		u := r.test(p, Name{name}, whole)
		u.names = []string{name}
		u.body, _ = r.look(whole, []*sitter.Node{n.ChildByFieldName("name")})
	default:
		r.define(p, whole, name)
	}
}

func (r *reader) pyClass(p place, whole, n *sitter.Node, name string) {
	body := n.ChildByFieldName("body")
	var bases []string
	likely := strings.HasPrefix(name, "Test")
	for _, b := range children(n.ChildByFieldName("superclasses")) {
		base := r.text(b)
		base = base[strings.LastIndexByte(base, '.')+1:]
		bases = append(bases, base)
		likely = likely || strings.Contains(base, "Test") || r.classes[base] != nil && !r.classes[base].abstract
	}
	if !likely && !r.hasTests(body) {
		r.define(p, whole, name)
		return
	}
	if p.scope == "" {
		r.classes[name] = &class{bases, !likely}
	}
	inner := p.within(name, Name{name})
	r.around(inner, whole, body)
	r.define(p, whole, name) // its head, for those who name it
	u := &r.units[len(r.units)-1]
	u.digest, u.uses = r.look(whole, []*sitter.Node{body})
	r.pyBlock(inner, body)
}

// hasTests says that a class's own methods are named as tests are.
func (r *reader) hasTests(body *sitter.Node) bool {
	return slices.ContainsFunc(children(body), func(n *sitter.Node) bool {
		if d := n.ChildByFieldName("definition"); d != nil {
			n = d
		}
		return n.Type() == "function_definition" && strings.HasPrefix(r.field(n, "name"), "test_")
	})
}
