package gotest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/module"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// source is what a project's Go files declare, as far as recipes go by it.
type source struct {
	imports  map[string]bool     // of all files that the go command looks at, tests too
	dirs     map[string]bool     // folders with packages
	names    map[string]string   // package names by folder
	comments map[string]string   // import comments by folder
	external map[string][]string // imports of packages x_test, by folder
	tags     map[string]bool     // ordinary words that test files are behind
	cgo      cgoNeeds
}

// readSource reads the files of a module or project. Folders of other modules below it are read too: what they name is in vain, and
// harmless.
func readSource(t *project.Tree, root string) (*source, error) {
	s := &source{
		imports: map[string]bool{}, dirs: map[string]bool{}, names: map[string]string{}, comments: map[string]string{},
		external: map[string][]string{}, tags: map[string]bool{},
	}
	prefix := root + "/"
	if root == "" {
		prefix = ""
	}
	goFile := func(p string) bool { return strings.HasPrefix(p, prefix) && strings.HasSuffix(p, ".go") }
	err := t.Each(goFile, func(f replay.File) error {
		switch {
		case !ignoredByGo(f.Path):
			s.file(f)
		case strings.Contains("/"+f.Path, "/vendor/") && bytes.Contains(f.Data, []byte(`"C"`)):
			s.cgo.read(f, false)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading Go files: %w", err)
	}
	return s, nil
}

func (s *source) file(f replay.File) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", f.Data, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return
	}
	dir := project.Dir(f.Path)
	s.dirs[dir] = true
	name := file.Name.Name
	test, usesC := strings.HasSuffix(f.Path, "_test.go"), false
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		s.imports[p] = true
		usesC = usesC || p == "C"
		if test && strings.HasSuffix(name, "_test") {
			s.external[dir] = append(s.external[dir], p)
		}
	}
	if usesC {
		s.cgo.read(f, true)
	}
	if test {
		for _, w := range wordsOf(f) {
			s.tags[w] = true
		}
		return
	}
	s.names[dir] = name
	if c := importComment(set, file, f.Data); c != "" {
		s.comments[dir] = c
	}
}

var importAs = regexp.MustCompile(`^\s*(?://|/\*)\s*import\s+("[^"\s]+"|` + "`[^`\\s]+`" + `)`)

// importComment is the path of a comment such as `package x // import "path/x"`.
func importComment(set *token.FileSet, file *ast.File, src []byte) string {
	at := set.PositionFor(file.Name.End(), false).Offset
	line, _, _ := bytes.Cut(src[min(at, len(src)):], []byte("\n"))
	m := importAs.FindSubmatch(line)
	if m == nil {
		return ""
	}
	p, err := strconv.Unquote(string(m[1]))
	if err != nil || module.CheckImportPath(p) != nil {
		return ""
	}
	return p
}

// target is the system that all recipes are for.
var target = func() build.Context {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled, c.BuildTags, c.Compiler = "linux", "amd64", true, nil, "gc"
	return c
}()

// matches says that the target's go command compiles a file.
func matches(f replay.File, tags ...string) bool {
	c := target
	c.BuildTags = tags
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Data)), nil }
	ok, err := c.MatchFile(path.Dir(f.Path), path.Base(f.Path))
	return err == nil && ok
}

// maxImports bounds the command lines that name them.
const maxImports = 1000

// foreign lists the packages of other modules that the code imports, tests included.
func (s *source) foreign(locals []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.imports)), func(p string) bool { return !isForeign(p, locals) })
}

// isForeign says that an import path is another module's: its first part has a dot and it is a sound path.
func isForeign(p string, locals []string) bool {
	first, _, _ := strings.Cut(p, "/")
	return strings.Contains(first, ".") && module.CheckImportPath(p) == nil && !slices.ContainsFunc(locals, func(l string) bool {
		return p == l || strings.HasPrefix(p, l+"/")
	})
}
