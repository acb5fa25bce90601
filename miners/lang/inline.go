package lang

import (
	"bytes"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// Inline is the test code in a file that holds source code too, or tests only.
type Inline struct {
	Code  []Span       // lines of test code, in order and apart: what is compiled for tests only, and the tests themselves
	Tests []InlineTest // in order
}

// InlineTest is one test function.
type InlineTest struct {
	Name string // with the modules around it in the file: "tests::deep::adds"; modules that the file's own place makes are not in it
	Span Span   // with what decorates it
}

// InlineTests finds the tests that stand in a file beside the source that they test, or alone. ok is false where the language has none of
// that kind (all but Rust), the file is too large, or it cannot be read.
//
// Test code is what "#[cfg(test)]" marks, and functions marked as tests: "#[test]", a path that ends in "::test" (tokio and its like),
// "#[rstest]", "#[test_case(…)]", "#[quickcheck]", "#[wasm_bindgen_test]" and "#[proptest]". A macro that writes tests is not
// seen but as a line of test code.
func InlineTests(name string, src []byte) (in Inline, ok bool) {
	if Language(name) != "Rust" || len(src) > maxSource || bytes.IndexByte(src, 0) >= 0 {
		return Inline{}, false
	}
	tree := grammars["Rust"].parse(src)
	if tree == nil {
		return Inline{}, false
	}
	defer tree.Close()
	w := inlineWalk{src: src}
	w.items(tree.RootNode(), nil, 0)
	return Inline{Code: merge(w.code), Tests: w.tests}, true
}

// maxNested bounds modules within modules.
const maxNested = 50

type inlineWalk struct {
	src   []byte
	code  []Span
	tests []InlineTest
}

// items goes over the items of a file or of a module's body. Attributes are siblings that stand before their item.
func (w *inlineWalk) items(body *sitter.Node, modules []string, depth int) {
	first, marks := 0, []string(nil)
	for i := range int(body.NamedChildCount()) {
		n := body.NamedChild(i)
		line := int(n.StartPoint().Row) + 1
		switch n.Type() {
		case "line_comment", "block_comment":
			continue
		case "inner_attribute_item":
			if depth == 0 && forTests(attribute(n.Content(w.src))) {
				w.code = append(w.code, Span{1, int(body.EndPoint().Row) + 1})
			}
			continue
		case "attribute_item":
			if marks == nil {
				first = line
			}
			marks = append(marks, attribute(n.Content(w.src)))
			continue
		}
		if marks == nil {
			first = line
		}
		w.item(n, Span{first, int(n.EndPoint().Row) + 1}, marks, modules, depth)
		marks = nil
	}
}

func (w *inlineWalk) item(n *sitter.Node, span Span, marks, modules []string, depth int) {
	if slices.ContainsFunc(marks, forTests) {
		w.code = append(w.code, span)
	}
	name := ""
	if id := n.ChildByFieldName("name"); id != nil {
		name = id.Content(w.src)
	}
	switch n.Type() {
	case "function_item":
		if slices.ContainsFunc(marks, isTest) {
			w.code = append(w.code, span)
			w.tests = append(w.tests, InlineTest{strings.Join(append(slices.Clone(modules), name), "::"), span})
		}
	case "mod_item":
		if body := n.ChildByFieldName("body"); body != nil && depth < maxNested {
			w.items(body, append(slices.Clone(modules), name), depth+1)
		}
	}
}

// attribute is an attribute without its brackets and white space.
func attribute(text string) string {
	text = strings.TrimSuffix(strings.TrimLeft(text, "#!["), "]")
	return strings.Join(strings.Fields(text), "")
}

// forTests says that an item is compiled for tests only.
func forTests(attr string) bool {
	rest, ok := strings.CutPrefix(attr, "cfg(")
	return ok && (rest == "test)" || strings.HasPrefix(rest, "all(") && slices.Contains(strings.FieldsFunc(rest[4:], func(r rune) bool {
		return r == ',' || r == ')'
	}), "test"))
}

// isTest says that an attribute makes a function a test.
func isTest(attr string) bool {
	name, _, _ := strings.Cut(attr, "(")
	switch name {
	case "test", "rstest", "test_case", "quickcheck", "proptest", "wasm_bindgen_test", "test_log::test", "test_case::test_case", "rstest::rstest":
		return true
	}
	return strings.HasSuffix(name, "::test")
}

// merge sorts spans and joins those that overlap or meet.
func merge(list []Span) []Span {
	slices.SortFunc(list, func(a, b Span) int { return a.First - b.First })
	var out []Span
	for _, s := range list {
		if n := len(out); n > 0 && s.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, s.Last)
			continue
		}
		out = append(out, s)
	}
	return out
}
