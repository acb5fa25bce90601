package testcode

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sitter "github.com/smacker/go-tree-sitter"
)

// golang reads a file of Go. Methods whose names begin with "Test" and that take nothing are tests of testify's suites: they run below the
// test that starts the suite.
func (r *reader) golang(root *sitter.Node) {
	top := place{}
	suites := map[string][]*sitter.Node{} // by receiver
	r.directives(root)
	for _, n := range children(root) {
		switch n.Type() {
		case "import_declaration":
			r.goImports(n)
		case "const_declaration", "var_declaration", "type_declaration":
			r.goSpecs(n)
		case "function_declaration":
			r.goFunction(n)
		case "method_declaration":
			r.goMethod(n, suites)
		case "package_clause":
			r.around(top, n)
		default:
			r.loose(top, n)
		}
	}
	r.goSuites(suites)
}

// directives are comments that the build obeys: they hold for the whole file.
func (r *reader) directives(root *sitter.Node) {
	for i := range int(min(root.ChildCount(), 50)) {
		n := root.Child(i)
		if text := r.text(n); n.Type() == "comment" && (strings.HasPrefix(text, "//go:build") || strings.HasPrefix(text, "// +build")) {
			r.units = append(r.units, unit{digest: textDigest(text), uses: map[string]bool{}})
		}
	}
}

func (r *reader) goImports(n *sitter.Node) {
	for _, c := range children(n) {
		switch c.Type() {
		case "import_spec_list":
			r.goImports(c)
		case "import_spec":
			alias := r.field(c, "name")
			if alias == "." || alias == "_" {
				r.loose(place{}, c)
				continue
			}
			r.define(place{}, c, append(packageNames(strings.Trim(r.field(c, "path"), "`\"")), alias)...)
		}
	}
}

// packageNames are the names that a package may have by its path: a version is none.
func packageNames(p string) []string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	return append(strings.FieldsFunc(base, func(c rune) bool { return c == '-' || c == '.' }), base)
}

func (r *reader) goSpecs(n *sitter.Node) {
	specs := children(n)
	if len(specs) == 1 && strings.HasSuffix(specs[0].Type(), "_list") {
		specs = children(specs[0])
	}
	if n.Type() == "const_declaration" && slices.ContainsFunc(specs, func(s *sitter.Node) bool { return s.ChildByFieldName("value") == nil }) {
		var all []string // iota: each constant depends on those before it
		for _, s := range specs {
			all = append(all, r.goNames(s)...)
		}
		r.define(place{}, n, all...)
		return
	}
	for _, s := range specs {
		r.define(place{}, s, r.goNames(s)...)
	}
}

// goNames are the names that a specification declares.
func (r *reader) goNames(spec *sitter.Node) []string {
	var out []string
	for _, c := range children(spec) {
		if c.Type() != "identifier" && c.Type() != "type_identifier" {
			break
		}
		out = append(out, r.text(c))
	}
	return out
}

func (r *reader) goFunction(n *sitter.Node) {
	name := r.field(n, "name")
	switch {
	case name == "TestMain" || name == "init":
		r.around(place{}, n)
	case goTest(name, "Test") && len(children(n.ChildByFieldName("parameters"))) == 1, goTest(name, "Fuzz"):
		u := r.test(place{}, Name{name}, n)
		u.names = []string{name}
	case goTest(name, "Example") && hasOutput(r.text(n)):
		u := r.test(place{}, Name{name}, n)
		u.digest ^= textDigest(r.text(n)) // its comment is what it must print
	default:
		r.define(place{}, n, name)
	}
}

func hasOutput(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "// output:") || strings.Contains(text, "// unordered output:") || strings.Contains(text, "//output:")
}

// goTest is the go command's rule for the names of tests.
func goTest(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}

func (r *reader) goMethod(n *sitter.Node, suites map[string][]*sitter.Node) {
	name, receiver := r.field(n, "name"), r.receiver(n)
	none := len(children(n.ChildByFieldName("parameters"))) == 0
	setUp := false
	for _, p := range []string{"Setup", "SetUp", "TearDown", "Before", "After"} {
		setUp = setUp || strings.HasPrefix(name, p)
	}
	switch {
	case none && goTest(name, "Test"):
		suites[receiver] = append(suites[receiver], n)
	case setUp || goTest(name, "Test"):
		r.define(place{}, n, receiver)
	default:
		r.define(place{}, n, name)
	}
}

func (r *reader) receiver(n *sitter.Node) string {
	for _, w := range children(n.ChildByFieldName("receiver")) {
		t := w.ChildByFieldName("type")
		for t != nil && (t.Type() == "pointer_type" || t.Type() == "generic_type") {
			t = t.NamedChild(0)
		}
		return r.text(t)
	}
	return ""
}

// goSuites places the tests of suites below the functions that start them.
func (r *reader) goSuites(suites map[string][]*sitter.Node) {
	starters := slices.Clone(r.units)
	for _, receiver := range slices.Sorted(maps.Keys(suites)) {
		for _, n := range suites[receiver] {
			found := false
			for _, u := range starters {
				if u.test != nil && len(u.test.Path) == 1 && u.uses[receiver] && u.uses["Run"] {
					r.test(place{path: u.test.Path}, Name{r.field(n, "name")}, n)
					found = true
				}
			}
			if !found {
				r.test(place{path: []Name{Any()}}, Name{r.field(n, "name")}, n)
			}
		}
	}
}
