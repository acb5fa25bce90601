package testcode

import (
	"regexp"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// What test tools of JavaScript call tests, blocks and hooks.
var (
	jsTests  = set("it test specify xit fit xtest xspecify ftest")
	jsBlocks = set("describe context suite xdescribe fdescribe xcontext fcontext")
	jsHooks  = set("before after beforeEach afterEach beforeAll afterAll setup teardown suiteSetup suiteTeardown")
	// jsMakers take arguments before the title.
	jsMakers = set("each for if runIf skipIf extend")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// script reads a file of JavaScript or TypeScript: describe and it by their titles, also in loops and conditions.
func (r *reader) script(root *sitter.Node) { r.jsBlock(place{}, root) }

func (r *reader) jsBlock(p place, body *sitter.Node) {
	if r.tooDeep(p) {
		return
	}
	for _, n := range children(body) {
		r.jsStatement(p, n)
	}
}

func (r *reader) jsStatement(p place, n *sitter.Node) {
	switch n.Type() {
	case "import_statement":
		r.jsImport(p, n)
	case "export_statement":
		if d := n.ChildByFieldName("declaration"); d != nil {
			r.jsStatement(p, d)
			return
		}
		r.loose(p, n)
	case "lexical_declaration", "variable_declaration":
		for _, d := range children(n) {
			r.jsDeclared(p, d, r.identifiers(d.ChildByFieldName("name")))
		}
	case "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration", "type_alias_declaration",
		"interface_declaration", "enum_declaration", "function_signature", "ambient_declaration":
		r.jsDeclared(p, n, []string{r.field(n, "name")})
	case "expression_statement":
		r.jsExpression(p, n.NamedChild(0))
	case "empty_statement":
	default:
		r.jsInside(p, n)
	}
}

// jsDeclared reads a declaration; tests in it are made wherever it is called, so nothing is known of the blocks around them.
func (r *reader) jsDeclared(p place, n *sitter.Node, names []string) {
	r.define(p, n, names...)
	if r.anyTest(n) {
		outer := r.nameless(p)
		outer.path = []Name{Any()}
		r.jsWrapped(outer, n)
	}
}

func (r *reader) jsImport(p place, n *sitter.Node) {
	clause := n.NamedChild(0)
	if clause == nil || clause.Type() != "import_clause" {
		r.loose(p, n)
		return
	}
	for _, name := range r.identifiers(clause) {
		r.define(p, n, name)
		u := &r.units[len(r.units)-1]
		u.uses = map[string]bool{}
		if !strings.Contains(r.text(clause), " as ") {
			u.digest = textDigest(r.field(n, "source") + " " + name)
		}
	}
}

func (r *reader) jsExpression(p place, n *sitter.Node) {
	if n == nil {
		return
	}
	for n.Type() == "await_expression" && n.NamedChild(0) != nil {
		n = n.NamedChild(0)
	}
	if n.Type() == "call_expression" {
		if call, kind := r.jsCall(n); kind != "" {
			r.jsTest(p, n, call, kind)
			return
		}
	}
	if n.Type() == "assignment_expression" {
		r.define(p, n, r.identifiers(n.ChildByFieldName("left"))...)
		return
	}
	r.jsInside(p, n)
}

// jsInside reads code that may hold tests: each belongs to it, and to what stands around it.
func (r *reader) jsInside(p place, n *sitter.Node) {
	if !r.anyTest(n) {
		if root, _ := r.jsRoot(n); jsHooks[root] {
			r.around(p, n)
			return
		}
		r.loose(p, n)
		return
	}
	r.jsWrapped(r.nameless(p), n)
}

// jsWrapped reads the tests in a piece of code; the rest of it stands around them.
func (r *reader) jsWrapped(p place, n *sitter.Node) {
	var inner []*sitter.Node
	r.jsFind(p, n, &inner)
	r.around(p, n, inner...)
}

func (r *reader) jsFind(p place, n *sitter.Node, inner *[]*sitter.Node) {
	p.depth++
	if r.tooDeep(p) {
		return
	}
	for _, c := range children(n) {
		switch call, kind := r.jsCall(c); {
		case kind != "":
			*inner = append(*inner, c)
			r.jsTest(p, c, call, kind)
		case !r.anyTest(c):
		case c.Type() == "statement_block":
			*inner = append(*inner, c)
			r.jsBlock(p, c)
		default:
			r.jsFind(p, c, inner)
		}
	}
}

// jsCall knows a call that makes a test ("it"), a block ("describe") or a hook ("before"); it looks through what is called on the result,
// such as mocha's timeout.
func (r *reader) jsCall(n *sitter.Node) (call *sitter.Node, kind string) {
	for range maxNested {
		if n == nil || n.Type() != "call_expression" {
			return nil, ""
		}
		root, plain := r.jsRoot(n)
		switch {
		case !plain:
			f := n.ChildByFieldName("function")
			if f == nil || f.Type() != "member_expression" {
				return nil, ""
			}
			n = f.ChildByFieldName("object")
			continue
		case jsTests[root] && r.jsTitled(n):
			return n, "it"
		case jsBlocks[root] && r.jsTitled(n):
			return n, "describe"
		case jsHooks[root]:
			return n, "before"
		}
		return nil, ""
	}
	return nil, ""
}

// jsRoot is the word that a call begins with; plain says that nothing was called before but what makes tests from tables.
func (r *reader) jsRoot(n *sitter.Node) (root string, plain bool) {
	f := n.ChildByFieldName("function")
	maker := ""
	for depth := 0; f != nil && depth < maxNested; depth++ {
		switch f.Type() {
		case "identifier":
			return r.text(f), true
		case "member_expression":
			maker = r.field(f, "property")
			object := f.ChildByFieldName("object")
			if object != nil && object.Type() == "identifier" && jsTests[maker] && !jsTests[r.text(object)] && len(r.text(object)) <= 4 {
				return maker, true // node's t.test, and the like
			}
			f = object
		case "call_expression":
			inner := f.ChildByFieldName("function")
			if inner == nil || inner.Type() != "member_expression" || !jsMakers[r.field(inner, "property")] {
				return "", false
			}
			f = inner
		default:
			return "", true
		}
	}
	return "", true
}

// jsTitled says that a call gets a title and something to do, or a title alone: what is still to be written.
func (r *reader) jsTitled(n *sitter.Node) bool {
	f, args := n.ChildByFieldName("function"), children(n.ChildByFieldName("arguments"))
	if len(args) == 0 {
		return false
	}
	if f != nil && f.Type() == "member_expression" {
		object := r.field(f, "object")
		if jsMakers[r.field(f, "property")] || jsTests[r.field(f, "property")] && !jsBlocks[object] && functionBody(args) == nil {
			return false // it.each(table) itself; a regular expression's test
		}
	}
	switch args[0].Type() {
	case "string", "template_string":
		return n.ChildByFieldName("arguments").Type() == "arguments"
	case "binary_expression", "identifier", "member_expression", "call_expression":
		return len(args) > 1
	}
	return false
}

// jsTest reads a call that makes tests; whole is with what is called on its result.
func (r *reader) jsTest(p place, whole, call *sitter.Node, kind string) {
	args := children(call.ChildByFieldName("arguments"))
	if kind == "before" {
		r.around(p, whole)
		return
	}
	title := r.jsTitle(args[0], isEach(r.text(call.ChildByFieldName("function"))))
	body := functionBody(args)
	if kind == "describe" {
		inner := p.within(strings.Join(title, "\x02"), title)
		if body == nil {
			r.around(inner, whole)
			return
		}
		r.around(inner, whole, body)
		if body.Type() == "statement_block" {
			r.jsBlock(inner, body)
		} else {
			r.jsExpression(inner, body)
		}
		return
	}
	u := r.test(p, title, whole)
	u.body, _ = r.look(whole, []*sitter.Node{args[0]})
	if body != nil && r.anyTest(body) { // node's subtests
		inner := p.within(strings.Join(title, "\x02"), title)
		var own []*sitter.Node
		r.jsFind(inner, body, &own)
		r.around(inner, body, own...)
	}
}

func isEach(function string) bool {
	return strings.Contains(function, ".each") || strings.Contains(function, ".for")
}

// functionBody is the body of the first function among arguments.
func functionBody(args []*sitter.Node) *sitter.Node {
	for _, a := range args[1:] {
		if b := a.ChildByFieldName("body"); b != nil {
			return b
		}
	}
	return nil
}

// anyTest says that a test, a block or a hook is made somewhere in a piece of code.
func (r *reader) anyTest(n *sitter.Node) bool {
	return r.anyOf(n, 0)
}

func (r *reader) anyOf(n *sitter.Node, depth int) bool {
	c := sitter.NewTreeCursor(n)
	defer c.Close()
	for {
		x := c.CurrentNode()
		if x.Type() == "call_expression" {
			if _, kind := r.jsCall(x); kind == "it" || kind == "describe" {
				return true
			}
		}
		if c.GoToFirstChild() {
			depth++
			continue
		}
		for !c.GoToNextSibling() {
			depth--
			if depth < 0 || !c.GoToParent() {
				return false
			}
		}
	}
}

// Placeholders of titles that are made from tables.
var placeholder = regexp.MustCompile(`%[psdifjoOc#$%]|\$[\pL_#][\pL\pN_.$]*`)

// jsTitle is a title as far as it is written.
func (r *reader) jsTitle(n *sitter.Node, each bool) Name {
	var pieces Name
	switch n.Type() {
	case "string":
		pieces = Name{unquote(r.text(n))}
	case "template_string":
		pieces = r.jsTemplate(n)
	case "binary_expression":
		if r.text(n.ChildByFieldName("operator")) == "+" || strings.Contains(r.text(n), "+") {
			left, right := n.ChildByFieldName("left"), n.ChildByFieldName("right")
			if left != nil && right != nil {
				a, b := r.jsTitle(left, each), r.jsTitle(right, each)
				joined := append(Name{}, a[:len(a)-1]...)
				return append(append(joined, a[len(a)-1]+b[0]), b[1:]...)
			}
		}
		return Any()
	default:
		return Any()
	}
	if !each {
		return pieces
	}
	var out Name
	for _, piece := range pieces {
		out = append(out, placeholder.Split(piece, -1)...)
	}
	return out
}

func (r *reader) jsTemplate(n *sitter.Node) Name {
	text, at := "", int(n.StartByte())+1
	var out Name
	for _, c := range children(n) {
		if c.Type() != "template_substitution" {
			continue
		}
		text += string(r.src[min(at, int(c.StartByte())):c.StartByte()])
		out = append(out, unescape(text))
		text, at = "", int(c.EndByte())
	}
	end := max(at, int(n.EndByte())-1)
	return append(out, unescape(text+string(r.src[at:end])))
}

func unquote(s string) string {
	if len(s) < 2 {
		return s
	}
	return unescape(s[1 : len(s)-1])
}

var escaped = regexp.MustCompile(`\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(?s:(.)))`)

// unescape reads the escapes of a string of JavaScript.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		m := escaped.FindStringSubmatch(e)
		if hex := m[1] + m[2] + m[3]; hex != "" {
			return fromHex(hex)
		}
		switch m[4] {
		case "n", "r", "t", "v", "f", "b":
			return " "
		case "0", "\n":
			return ""
		}
		return m[4]
	})
}
