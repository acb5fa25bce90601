package testcode

import (
	"maps"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// Macros of GoogleTest with a suite and a name; of Catch2, doctest and Boost with a title or a name; and of Unity, Check and CUnit, whose
// functions are named in a list.
var (
	suiteMacros = set("TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P GTEST_TEST")
	titleMacros = set("TEST_CASE SCENARIO TEST_CASE_METHOD TEST_CASE_TEMPLATE BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE CATCH_TEST_CASE DOCTEST_TEST_CASE")
)

// native reads a file of C or C++. Where no macro of a test library is used, functions that are named as tests are, or that are handed to
// RUN_TEST, are the tests; where there are none either, main is.
func (r *reader) native(root *sitter.Node) {
	run := map[string]bool{}
	r.runTests(root, run)
	r.nativeItems(place{}, root, run)
	tested := slices.ContainsFunc(r.units, func(u unit) bool { return u.test != nil })
	for i, u := range r.units {
		if len(u.names) == 1 && u.names[0] == "main" && u.test == nil && !tested {
			t := Test{Path: []Name{{"main"}}, Lines: u.lines}
			r.units[i].test = &t
		}
	}
}

// runTests collects the functions that a main function hands to the library.
func (r *reader) runTests(root *sitter.Node, run map[string]bool) {
	c := sitter.NewTreeCursor(root)
	defer c.Close()
	for depth := 0; depth >= 0; {
		n := c.CurrentNode()
		if n.Type() == "call_expression" {
			switch name := r.field(n, "function"); name {
			case "RUN_TEST", "tcase_add_test", "CU_add_test", "UNITY_RUN_TEST", "cmocka_unit_test":
				for _, w := range r.identifiers(n.ChildByFieldName("arguments")) {
					run[w] = true
				}
			}
		}
		if c.GoToFirstChild() {
			depth++
			continue
		}
		for !c.GoToNextSibling() {
			depth--
			if depth < 0 || !c.GoToParent() {
				return
			}
		}
	}
}

func (r *reader) nativeItems(p place, body *sitter.Node, run map[string]bool) {
	if r.tooDeep(p) {
		return
	}
	deeper := place{p.scope, p.path, p.depth + 1}
	list := children(body)
	for i := 0; i < len(list); i++ {
		n := list[i]
		switch n.Type() {
		case "namespace_definition", "linkage_specification":
			r.nativeItems(deeper, n.ChildByFieldName("body"), run)
		case "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "declaration_list":
			if head := n.ChildByFieldName("condition"); head != nil {
				r.loose(p, head)
			}
			r.nativeItems(deeper, n, run)
		case "function_definition":
			r.nativeFunction(p, n, run)
		case "expression_statement":
			if i+1 < len(list) && list[i+1].Type() == "compound_statement" && r.titled(p, n, list[i+1]) {
				i++
				continue
			}
			r.nativeCall(p, n)
		case "preproc_include", "using_declaration", "ERROR", "compound_statement":
			r.loose(p, n)
		case "preproc_def", "preproc_function_def":
			r.define(p, n, r.field(n, "name"))
		default:
			r.define(p, n, r.declared(n)...)
		}
	}
}

// declared are the names that a declaration declares: of a variable, a type, the values of an enumeration.
func (r *reader) declared(n *sitter.Node) []string {
	if name := r.field(n, "name"); name != "" {
		return append([]string{name}, r.enumerators(n)...)
	}
	names := map[string]bool{}
	for i := range int(n.ChildCount()) {
		if c := n.Child(i); n.FieldNameForChild(i) == "declarator" {
			if d := r.innermost(c); d != "" {
				names[d] = true
			}
		}
	}
	for _, c := range children(n) {
		if strings.HasSuffix(c.Type(), "_specifier") || c.Type() == "function_definition" || c.Type() == "declaration" {
			for _, w := range r.declared(c) {
				names[w] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (r *reader) enumerators(n *sitter.Node) []string {
	var out []string
	for _, c := range children(n.ChildByFieldName("body")) {
		if c.Type() == "enumerator" {
			out = append(out, r.field(c, "name"))
		}
	}
	return out
}

// innermost is the name within declarators.
func (r *reader) innermost(n *sitter.Node) string {
	for range maxNested {
		d := n.ChildByFieldName("declarator")
		if d == nil {
			break
		}
		n = d
	}
	if strings.HasSuffix(n.Type(), "identifier") {
		s := r.text(n)
		return s[strings.LastIndexByte(s, ':')+1:]
	}
	return ""
}

func (r *reader) nativeFunction(p place, n *sitter.Node, run map[string]bool) {
	name := r.innermost(n)
	switch {
	case suiteMacros[name] || titleMacros[name]:
		var args []string
		for _, a := range children(r.parameters(n)) {
			args = append(args, r.text(a))
		}
		switch {
		case suiteMacros[name] && len(args) == 2:
			t := r.test(place{p.scope, []Name{{args[0]}}, p.depth}, Name{args[1]}, n)
			t.body, _ = r.look(n.ChildByFieldName("body"), nil)
		case titleMacros[name] && len(args) > 0:
			r.test(p, Name{args[len(args)-1]}, n)
		default:
			r.loose(p, n)
		}
	case name == "setUp" || name == "tearDown" || name == "setup" || name == "teardown":
		r.around(p, n)
	case run[name] || name != "main" && (strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test")):
		u := r.test(p, Name{name}, n)
		u.names = []string{name}
	case name == "":
		r.loose(p, n)
	default:
		r.define(p, n, name)
	}
}

// parameters are those of a function's innermost declarator.
func (r *reader) parameters(n *sitter.Node) *sitter.Node {
	for range maxNested {
		if p := n.ChildByFieldName("parameters"); p != nil {
			return p
		}
		if n = n.ChildByFieldName("declarator"); n == nil {
			return nil
		}
	}
	return nil
}

// titled reads a test of Catch2 or doctest: a call with a title, and the block behind it.
func (r *reader) titled(p place, call, block *sitter.Node) bool {
	inner := call.NamedChild(0)
	if inner == nil || inner.Type() != "call_expression" || !titleMacros[r.field(inner, "function")] {
		return false
	}
	for _, a := range children(inner.ChildByFieldName("arguments")) {
		if strings.HasPrefix(a.Type(), "string") {
			title := unquote(r.text(a))
			if r.field(inner, "function") == "SCENARIO" {
				title = "Scenario: " + title
			}
			u := r.test(p, Name{title}, call, block)
			u.body, _ = r.look(block, nil)
			return true
		}
	}
	return false
}

// nativeCall reads a macro at the top: one that names a suite, such as the one that gives it parameters, holds for that suite.
func (r *reader) nativeCall(p place, n *sitter.Node) {
	text := r.text(n)
	if strings.HasPrefix(text, "INSTANTIATE_") || strings.HasPrefix(text, "TYPED_TEST_SUITE") || strings.HasPrefix(text, "REGISTER_TYPED_TEST") {
		if call := n.NamedChild(0); call != nil {
			var names []string
			for i, a := range children(call.ChildByFieldName("arguments")) {
				if i < 2 && a.Type() == "identifier" {
					names = append(names, r.text(a))
				}
			}
			r.define(p, n, names...)
			return
		}
	}
	r.loose(p, n)
}
