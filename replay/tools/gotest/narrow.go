package gotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay/narrow"
)

// Narrow drops the top-level declarations of files in which errors lie, and the imports that only they used. An error at an
// import drops all that names the imported package.
func (Tool) Narrow(files map[string][]byte, output string) narrow.Edit {
	errs, clashes := parseGo(output)
	e := narrow.Begin(files)
	for _, c := range clashes {
		name := clashing(files, c)
		if name == "" {
			return narrow.Stuck("two packages in %s, neither of the overlay", c.dir)
		}
		e.DropFile(name, "it is of another package than the other files of its folder")
	}
	byFile := map[string][]compileError{}
	for _, err := range errs {
		name, at := locate(files, err)
		if name == "" {
			return narrow.Stuck("%s:%d: %s", err.file, err.line, err.message)
		}
		err.place = at
		byFile[name] = append(byFile[name], err)
	}
	for name, list := range byFile {
		if _, there := e.Files[name]; !there {
			continue
		}
		f, err := openGo(name, files[name])
		if err != nil {
			e.DropFile(name, "it cannot be parsed: "+list[0].message)
			continue
		}
		if why := f.narrow(list); why != "" {
			return narrow.Stuck("%s: %s", name, why)
		}
		f.save(e)
	}
	return e.Finish()
}

// clashing chooses the overlay's file of two that disagree about the package.
func clashing(files map[string][]byte, c twoPackages) string {
	for _, base := range []string{c.second, c.first} {
		if name := narrow.Match(files, path.Join(c.dir, base)); name != "" {
			return name
		}
	}
	return ""
}

// locate finds the overlay's file that an error is about: where it lies, or, for a double declaration that the compiler
// puts into the other file, where else it points.
func locate(files map[string][]byte, err compileError) (string, place) {
	if name := narrow.Match(files, err.file); name != "" {
		return name, err.place
	}
	if strings.Contains(err.message, "redeclared") || strings.Contains(err.message, "already declared") {
		for _, at := range err.related {
			if name := narrow.Match(files, at.file); name != "" {
				return name, at
			}
		}
	}
	return "", place{}
}

// goFile is one parsed file and what is to go from it.
type goFile struct {
	name    string
	src     []byte
	set     *token.FileSet
	file    *ast.File
	units   []*goUnit
	dropped []*goUnit
}

// goUnit is the smallest thing that can be dropped: a function, a spec of a group, a group of constants.
type goUnit struct {
	node       ast.Node
	span       narrow.Span
	name, kind string
	imported   string // the name under which the file uses the import
	because    string
	gone       bool
}

func openGo(name string, src []byte) (*goFile, error) {
	f := &goFile{name: name, src: src, set: token.NewFileSet()}
	var err error
	f.file, err = parser.ParseFile(f.set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.file.Decls {
		f.declare(d)
	}
	return f, nil
}

func (f *goFile) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		f.add(d, d.Doc, funcName(d), "func")
	case *ast.GenDecl:
		if d.Tok == token.CONST || len(d.Specs) == 1 || !d.Lparen.IsValid() {
			f.addGroup(d) // a constant's value may depend on the lines before it
			return
		}
		for _, spec := range d.Specs {
			name, doc, imported := specNames(spec)
			f.add(spec, doc, name, strings.ToLower(d.Tok.String())).imported = imported
		}
	}
}

func (f *goFile) addGroup(d *ast.GenDecl) {
	var names []string
	imported := ""
	for _, spec := range d.Specs {
		name, _, as := specNames(spec)
		names = append(names, name)
		imported = as
	}
	f.add(d, d.Doc, strings.Join(names, ", "), strings.ToLower(d.Tok.String())).imported = imported
}

func (f *goFile) add(n ast.Node, doc *ast.CommentGroup, name, kind string) *goUnit {
	start := n.Pos()
	if doc != nil && doc.Pos() < start {
		start = doc.Pos()
	}
	u := &goUnit{node: n, span: narrow.Span{Start: f.offset(start), End: f.offset(n.End())}, name: name, kind: kind}
	f.units = append(f.units, u)
	return u
}

func (f *goFile) offset(p token.Pos) int { return min(f.set.PositionFor(p, false).Offset, len(f.src)) }

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

func specNames(spec ast.Spec) (name string, doc *ast.CommentGroup, imported string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name, s.Doc, ""
	case *ast.ValueSpec:
		var names []string
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
		return strings.Join(names, ", "), s.Doc, ""
	case *ast.ImportSpec:
		p, _ := strconv.Unquote(s.Path.Value)
		if s.Name != nil {
			return p, s.Doc, s.Name.Name
		}
		return p, s.Doc, packageName(p)
	}
	return "", nil, ""
}

var (
	majorVersion = regexp.MustCompile(`^v[0-9]+$`)
	dotVersion   = regexp.MustCompile(`\.v[0-9]+$`)
)

// packageName guesses the name of an imported package. A wrong guess drops nothing: the compiler then names the import.
func packageName(p string) string {
	base := path.Base(p)
	if majorVersion.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	base = dotVersion.ReplaceAllString(base, "")
	base = strings.TrimPrefix(strings.TrimSuffix(base, "-go"), "go-")
	return base
}

// narrow marks what has to go. It returns why that is not possible, or "".
func (f *goFile) narrow(errs []compileError) string {
	before := f.selectors()
	for _, err := range errs {
		u := f.unitAt(err.place)
		if u == nil {
			return "no declaration holds line " + strconv.Itoa(err.line) + ": " + err.message
		}
		if why := f.drop(u, err.message); why != "" {
			return why
		}
	}
	after := f.selectors()
	for _, u := range f.units {
		if u.imported != "" && !u.gone && before[u.imported] && !after[u.imported] {
			f.mark(u, "only dropped declarations used it")
		}
	}
	return ""
}

// drop marks a unit and, if it is an import that does not exist here, all that names it.
func (f *goFile) drop(u *goUnit, because string) string {
	if u.kind == "func" && (u.name == "TestMain" || u.name == "init") {
		return u.name + " cannot be dropped: " + because
	}
	f.mark(u, because)
	if u.imported == "" || strings.Contains(because, "not used") {
		return ""
	}
	for _, other := range f.units {
		if other.gone || !names(other.node, u.imported) {
			continue
		}
		if why := f.drop(other, "it names "+u.name+", which is not here"); why != "" {
			return why
		}
	}
	return ""
}

func (f *goFile) mark(u *goUnit, because string) {
	if !u.gone {
		u.gone, u.because = true, because
		f.dropped = append(f.dropped, u)
	}
}

// unitAt finds the declaration that holds a place: by its offset, else by its line.
func (f *goFile) unitAt(at place) *goUnit {
	tf := f.set.File(f.file.FileStart)
	if at.line < 1 || at.line > tf.LineCount() {
		return nil
	}
	start := f.offset(tf.LineStart(at.line))
	offset := min(start+max(at.column-1, 0), len(f.src))
	for _, u := range f.units {
		if u.span.Start <= offset && offset < u.span.End {
			return u
		}
	}
	end := len(f.src)
	if at.line < tf.LineCount() {
		end = f.offset(tf.LineStart(at.line + 1))
	}
	i := slices.IndexFunc(f.units, func(u *goUnit) bool { return u.span.Start < end && start < u.span.End })
	if i < 0 {
		return nil
	}
	return f.units[i]
}

// selectors are the names before a dot in what is not dropped.
func (f *goFile) selectors() map[string]bool {
	found := map[string]bool{}
	for _, u := range f.units {
		if !u.gone {
			eachSelector(u.node, func(name string) { found[name] = true })
		}
	}
	return found
}

func names(n ast.Node, name string) bool {
	found := false
	eachSelector(n, func(s string) { found = found || s == name })
	return found
}

func eachSelector(n ast.Node, f func(string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				f(id.Name)
			}
		}
		return true
	})
}

// save writes the file without what is dropped, or removes it if only imports are left or what is left is no Go.
func (f *goFile) save(e *narrow.Edit) {
	if len(f.dropped) == 0 {
		return
	}
	for _, u := range f.dropped {
		line := f.set.PositionFor(u.node.Pos(), false).Line
		e.Dropped = append(e.Dropped, narrow.Drop{File: f.name, Name: u.name, Kind: u.kind, Line: line, Because: u.because})
	}
	left := slices.ContainsFunc(f.units, func(u *goUnit) bool { return !u.gone && u.kind != "import" })
	out := narrow.Cut(f.src, f.spans())
	if !left {
		e.DropFile(f.name, "nothing but imports is left")
		return
	}
	if _, err := parser.ParseFile(token.NewFileSet(), f.name, out, parser.SkipObjectResolution); err != nil {
		e.DropFile(f.name, "what is left cannot be parsed")
		return
	}
	e.Files[f.name] = out
}

// spans are the dropped ranges; a group of which everything is dropped goes with its parentheses.
func (f *goFile) spans() []narrow.Span {
	var list []narrow.Span
	for _, u := range f.dropped {
		list = append(list, u.span)
	}
	for _, d := range f.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || len(g.Specs) < 2 || g.Tok == token.CONST {
			continue
		}
		empty := !slices.ContainsFunc(g.Specs, func(s ast.Spec) bool {
			return slices.ContainsFunc(f.units, func(u *goUnit) bool { return u.node == s && !u.gone })
		})
		if empty {
			list = append(list, narrow.Span{Start: f.offset(g.Pos()), End: f.offset(g.End())})
		}
	}
	return list
}
