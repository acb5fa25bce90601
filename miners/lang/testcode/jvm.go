package testcode

import (
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// Annotations of JUnit and TestNG, by their last names.
var (
	jvmTests  = set("Test ParameterizedTest RepeatedTest TestFactory TestTemplate Theory Property Example")
	jvmSetUps = set(`Before After BeforeEach AfterEach BeforeAll AfterAll BeforeClass AfterClass BeforeMethod AfterMethod BeforeTest AfterTest
		BeforeSuite AfterSuite Rule ClassRule RegisterExtension TempDir Mock Captor InjectMocks Parameters Parameter`)
)

// java reads a file of Java: classes with their methods.
func (r *reader) java(root *sitter.Node) {
	for _, n := range children(root) {
		switch n.Type() {
		case "package_declaration":
			r.around(place{}, n)
		case "import_declaration":
			if last := n.NamedChild(int(n.NamedChildCount()) - 1); last != nil && last.Type() != "asterisk" {
				name := r.text(last)
				r.define(place{}, n, name[strings.LastIndexByte(name, '.')+1:])
				r.units[len(r.units)-1].uses = map[string]bool{}
				continue
			}
			r.loose(place{}, n)
		default:
			r.javaMember(place{}, n, false)
		}
	}
}

func (r *reader) javaMember(p place, n *sitter.Node, oldStyle bool) {
	switch n.Type() {
	case "class_declaration", "interface_declaration", "record_declaration", "enum_declaration":
		r.javaClass(p, n)
	case "method_declaration", "constructor_declaration":
		r.jvmFunction(p, n, r.field(n, "name"), oldStyle && strings.HasPrefix(r.text(n), "public"))
	case "field_declaration":
		var names []string
		for _, d := range children(n) {
			if d.Type() == "variable_declarator" {
				names = append(names, r.field(d, "name"))
			}
		}
		if r.annotated(n, jvmSetUps) {
			names = nil
		}
		r.define(p, n, names...)
	case "ERROR", "static_initializer", "block":
		r.loose(p, n)
	default:
		r.define(p, n, r.field(n, "name"))
	}
}

// annotated says that a declaration bears one of the annotations.
func (r *reader) annotated(n *sitter.Node, names map[string]bool) bool {
	for _, m := range children(n) {
		if m.Type() != "modifiers" {
			continue
		}
		for _, a := range children(m) {
			name, _, _ := strings.Cut(strings.TrimPrefix(r.text(a), "@"), "(")
			name = strings.TrimSpace(name)
			if strings.HasSuffix(a.Type(), "annotation") && names[name[strings.LastIndexByte(name, '.')+1:]] {
				return true
			}
		}
	}
	return false
}

// jvmFunction reads a method. oldStyle says that it may be a test of JUnit 3, by its name.
func (r *reader) jvmFunction(p place, n *sitter.Node, name string, oldStyle bool) {
	switch {
	case r.annotated(n, jvmTests), oldStyle && strings.HasPrefix(name, "test"):
		u := r.test(p, Name{name}, n)
		u.names = []string{name}
		u.uses[name] = true // a source of arguments may have the same name
	case r.annotated(n, jvmSetUps), name == "setUp", name == "tearDown", n.Type() == "constructor_declaration":
		r.around(p, n)
	default:
		r.define(p, n, name)
	}
}

func (r *reader) javaClass(p place, n *sitter.Node) {
	name, body := r.field(n, "name"), n.ChildByFieldName("body")
	if r.tooDeep(p) {
		return
	}
	super := r.field(n, "superclass")
	oldStyle := strings.Contains(super, "TestCase")
	abstract := false
	for _, m := range children(n) {
		abstract = abstract || m.Type() == "modifiers" && slices.Contains(strings.Fields(r.text(m)), "abstract")
	}
	if p.scope == "" {
		base := strings.TrimSpace(strings.TrimPrefix(super, "extends"))
		r.classes[name] = &class{[]string{base}, abstract}
	}
	r.jvmClass(p, n, body, name, func(inner place, m *sitter.Node) { r.javaMember(inner, m, oldStyle) })
}

// jvmClass reads a class: a test class has a scope of its own; another is a helper as a whole.
func (r *reader) jvmClass(p place, n, body *sitter.Node, name string, member func(place, *sitter.Node)) {
	inner := p.within(name, Name{name})
	before := len(r.units)
	for _, m := range children(body) {
		member(inner, m)
	}
	if !slices.ContainsFunc(r.units[before:], func(u unit) bool { return u.test != nil }) {
		r.units = r.units[:before]
		r.define(p, n, name)
		return
	}
	var skip []*sitter.Node
	if body != nil {
		skip = append(skip, body)
	}
	r.around(inner, n, skip...)
	digest, uses := r.look(n, skip)
	r.units = append(r.units, unit{scope: p.scope, names: []string{name}, digest: digest, uses: uses})
}

// kotlin reads a file of Kotlin: classes with their functions. Tests that are calls, such as Kotest's, are not known.
func (r *reader) kotlin(root *sitter.Node) { r.kotlinMembers(place{}, root) }

func (r *reader) kotlinMembers(p place, body *sitter.Node) {
	for _, n := range children(body) {
		switch n.Type() {
		case "package_header", "file_annotation":
			r.around(p, n)
		case "import_list":
			r.kotlinImports(n)
		default:
			r.kotlinMember(p, n)
		}
	}
}

func (r *reader) kotlinImports(n *sitter.Node) {
	for _, c := range children(n) {
		text := strings.TrimSpace(r.text(c))
		name := text[strings.LastIndexAny(text, ". ")+1:]
		if name == "*" {
			r.loose(place{}, c)
			continue
		}
		r.units = append(r.units, unit{names: []string{name}, digest: textDigest(text), uses: map[string]bool{}})
	}
}

func (r *reader) kotlinMember(p place, n *sitter.Node) {
	var name string
	var body *sitter.Node
	for _, c := range children(n) {
		switch c.Type() {
		case "simple_identifier", "type_identifier":
			if name == "" {
				name = strings.Trim(r.text(c), "`")
			}
		case "class_body", "enum_class_body":
			body = c
		}
	}
	switch n.Type() {
	case "class_declaration", "object_declaration":
		if !r.tooDeep(p) {
			r.jvmClass(p, n, body, name, r.kotlinMember)
		}
	case "function_declaration":
		r.jvmFunction(p, n, name, false)
	case "property_declaration":
		var names []string
		for _, c := range children(n) {
			if c.Type() == "variable_declaration" {
				names = append(names, r.identifiers(c.NamedChild(0))...)
			}
		}
		if r.annotated(n, jvmSetUps) {
			names = nil
		}
		r.define(p, n, names...)
	case "companion_object":
		for _, m := range children(body) {
			r.kotlinMember(p, m)
		}
	default:
		r.loose(p, n)
	}
}
