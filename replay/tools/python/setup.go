package python

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"

	"sluice/replay/tools/project"
)

// ini is a file of the kind that Python's configparser reads: section -> key -> value, continuation lines joined by \n.
type ini map[string]map[string]string

func parseINI(text string) ini {
	values := map[string]map[string]*strings.Builder{}
	var section map[string]*strings.Builder
	var value *strings.Builder // nil before a section's first key
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\t ")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			name := strings.TrimSpace(line[1 : len(line)-1])
			if values[name] == nil {
				values[name] = map[string]*strings.Builder{}
			}
			section, value = values[name], nil
		case section == nil:
		case line[0] == ' ' || line[0] == '\t':
			if value != nil {
				value.WriteString("\n" + trimmed)
			}
		default:
			k, v, _ := cutAny(line, "=:")
			value = &strings.Builder{}
			value.WriteString(strings.TrimSpace(v))
			section[strings.ToLower(strings.TrimSpace(k))] = value
		}
	}
	doc := ini{}
	for name, keys := range values {
		doc[name] = map[string]string{}
		for key, value := range keys {
			doc[name][key] = value.String()
		}
	}
	return doc
}

func cutAny(s, seps string) (before, after string, ok bool) {
	i := strings.IndexAny(s, seps)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// requirementLines splits a value of setup.cfg or tox.ini into requirements without comments.
func requirementLines(v string) []string {
	var list []string
	for line := range strings.Lines(v) {
		if line = strings.TrimSpace(reqComment.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func setupCfg(t *project.Tree, root string, p *info) error {
	text, err := t.Read(path.Join(root, "setup.cfg"))
	if err != nil {
		return err
	}
	doc := parseINI(text)
	if p.name == "" {
		p.name = doc["metadata"]["name"]
	}
	options := doc["options"]
	if p.python == "" {
		p.python = options["python_requires"]
	}
	list, err := cfgList(t, root, options["install_requires"])
	if err != nil {
		return err
	}
	p.requires = append(p.requires, list...)
	p.build = append(p.build, requirementLines(options["setup_requires"])...)
	if list := requirementLines(options["tests_require"]); len(list) > 0 {
		p.hints["tests"] = list
	}
	for name, v := range doc["options.extras_require"] {
		list, err := cfgList(t, root, v)
		if err != nil {
			return err
		}
		p.extras[normal(name)] = list
	}
	return nil
}

func cfgList(t *project.Tree, root, v string) ([]string, error) {
	if files, ok := strings.CutPrefix(v, "file:"); ok {
		return listed(t, root, strings.Split(files, ","))
	}
	return requirementLines(v), nil
}

var requirementsWord = regexp.MustCompile(`["'/]requirements?[\w./-]*\.(?:txt|pip)["']`)

// maxSetup bounds a setup.py in bytes: the parser takes seconds and gigabytes for a few megabytes that are made for it.
const maxSetup = 512 << 10

// setupPy reads setup.py's syntax tree: the literal arguments of its call of setup(). What is computed there cannot be
// read; if that is install_requires, the project is dynamic.
func setupPy(t *project.Tree, root string, p *info) error {
	text, err := t.Read(path.Join(root, "setup.py"))
	if err != nil || text == "" {
		return err
	}
	p.twoToThree = strings.Contains(text, "use_2to3")
	p.readsRequirements = requirementsWord.MatchString(text)
	if len(text) > maxSetup {
		p.dynamic = true
		return nil
	}
	src := []byte(text)
	tree, err := sitter.ParseCtx(context.Background(), src, python.GetLanguage())
	if err != nil {
		p.dynamic = true
		return nil
	}
	f := pyLiterals{src: src, vars: map[string]*sitter.Node{}}
	f.walk(tree, 0)
	for _, arg := range f.arguments {
		f.argument(arg, p)
	}
	return nil
}

// pyLiterals evaluates the literals of a module: strings, lists, dicts, sums of these, and names bound to them once.
type pyLiterals struct {
	src       []byte
	vars      map[string]*sitter.Node
	arguments []*sitter.Node // keyword arguments of setup()
	steps     int            // of evaluation: names bound to sums of names can double with each
}

const (
	maxDepth = 100
	maxSteps = 20_000
)

func (f *pyLiterals) text(n *sitter.Node) string { return n.Content(f.src) }

func (f *pyLiterals) walk(n *sitter.Node, depth int) {
	if depth > maxDepth {
		return
	}
	switch n.Type() {
	case "assignment":
		left, right := n.ChildByFieldName("left"), n.ChildByFieldName("right")
		if left != nil && right != nil && left.Type() == "identifier" {
			f.bind(f.text(left), right)
		}
	case "augmented_assignment":
		if left := n.ChildByFieldName("left"); left != nil {
			f.bind(f.text(left), n) // no literal: whoever uses the name is dynamic
		}
	case "call":
		if fn := n.ChildByFieldName("function"); fn != nil {
			if name := f.text(fn); name == "setup" || strings.HasSuffix(name, ".setup") {
				f.keywords(n.ChildByFieldName("arguments"))
			}
		}
	}
	for i := range int(n.NamedChildCount()) {
		f.walk(n.NamedChild(i), depth+1)
	}
}

// bind remembers what a name stands for; two bindings make it unreadable.
func (f *pyLiterals) bind(name string, value *sitter.Node) {
	if _, again := f.vars[name]; again {
		value = nil
	}
	f.vars[name] = value
}

func (f *pyLiterals) keywords(args *sitter.Node) {
	if args == nil {
		return
	}
	for i := range int(args.NamedChildCount()) {
		switch arg := args.NamedChild(i); arg.Type() {
		case "keyword_argument":
			f.arguments = append(f.arguments, arg)
		case "dictionary_splat":
			f.arguments = append(f.arguments, arg)
		}
	}
}

func (f *pyLiterals) argument(arg *sitter.Node, p *info) {
	if arg.Type() == "dictionary_splat" {
		p.dynamic = true // setup(**settings)
		return
	}
	name, value := arg.ChildByFieldName("name"), arg.ChildByFieldName("value")
	if name == nil || value == nil {
		return
	}
	switch f.text(name) {
	case "name":
		if list, ok := f.list(value, 0); ok && len(list) == 1 && p.name == "" {
			p.name = list[0]
		}
	case "python_requires":
		if list, ok := f.list(value, 0); ok && len(list) == 1 && p.python == "" {
			p.python = list[0]
		}
	case "install_requires", "requires":
		list, ok := f.list(value, 0)
		p.requires = append(p.requires, list...)
		p.dynamic = p.dynamic || !ok
	case "setup_requires": // the build would fetch them itself, without a network
		list, _ := f.list(value, 0)
		p.build = append(p.build, list...)
	case "tests_require":
		if list, _ := f.list(value, 0); len(list) > 0 {
			p.hints["tests"] = append(p.hints["tests"], list...)
		}
	case "extras_require":
		f.extras(value, p)
	}
}

// list evaluates an expression of strings; ok is false if a part of it is not literal.
func (f *pyLiterals) list(n *sitter.Node, depth int) (list []string, ok bool) {
	if f.steps++; n == nil || depth > maxDepth || f.steps > maxSteps {
		return nil, false
	}
	switch n.Type() {
	case "string":
		s, ok := f.str(n)
		return []string{s}, ok
	case "identifier":
		return f.list(f.vars[f.text(n)], depth+1)
	case "list", "tuple", "set", "parenthesized_expression", "concatenated_string":
		return f.all(n, depth)
	case "list_splat":
		return f.list(n.NamedChild(0), depth+1)
	case "binary_operator":
		if op := n.ChildByFieldName("operator"); op != nil && f.text(op) == "+" {
			return f.all(n, depth)
		}
	case "none":
		return nil, true
	}
	return nil, false
}

func (f *pyLiterals) all(n *sitter.Node, depth int) (list []string, ok bool) {
	ok = true
	for i := range int(n.NamedChildCount()) {
		child := n.NamedChild(i)
		if child.Type() == "comment" {
			continue
		}
		part, good := f.list(child, depth+1)
		list, ok = append(list, part...), ok && good
		if len(list) > maxRequirements {
			return list, false
		}
	}
	if n.Type() == "concatenated_string" {
		list = []string{strings.Join(list, "")}
	}
	return list, ok
}

// str is the value of a plain string; one with escapes or interpolation is not literal enough. A long one that lists
// requirements by lines is one string and refused later by its form.
func (f *pyLiterals) str(n *sitter.Node) (string, bool) {
	raw := f.text(n)
	body := strings.TrimLeft(raw, "rbuRBU")
	if strings.HasPrefix(body, "f") || strings.HasPrefix(body, "F") || strings.ContainsRune(body, '\\') {
		return "", false
	}
	for _, q := range []string{`"""`, `'''`, `"`, `'`} {
		if strings.HasPrefix(body, q) && len(body) >= 2*len(q) {
			return body[len(q) : len(body)-len(q)], true
		}
	}
	return "", false
}

func (f *pyLiterals) extras(n *sitter.Node, p *info) {
	if n.Type() == "identifier" {
		n = f.vars[f.text(n)]
	}
	if n == nil || n.Type() != "dictionary" {
		return
	}
	for i := range int(n.NamedChildCount()) {
		pair := n.NamedChild(i)
		if pair.Type() != "pair" {
			continue
		}
		key, _ := f.list(pair.ChildByFieldName("key"), 0)
		value, _ := f.list(pair.ChildByFieldName("value"), 0)
		if len(key) == 1 {
			name := normal(key[0])
			p.extras[name] = slices.Concat(p.extras[name], value)
		}
	}
}
