// Package sluice_test holds the rules that the whole module keeps: who may import whom, what every package says about
// itself, how long files and functions may be, and who may read the clock.
package sluice_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "sluice"

// Lengths in lines. Tests may hold longer tables, but not longer than people read.
const (
	maxFile     = 400
	maxTestFile = 600
	maxFunc     = 80
	maxTestFunc = 120
)

// maxParams is how many parameters a function may take; more go into a struct with names. Helpers of tests may take more.
const maxParams = 5

// mayImport says which folders of the module each top folder may import; a folder stands for all below it. The four
// leaves import none of each other; the pipeline joins them; the command is thin.
var mayImport = map[string][]string{
	"miners":   {"miners"},
	"judges":   {"judges", "prompts"},
	"replay":   {"replay", "internal/process"}, // whose leftovers a sandbox may remove
	"store":    {"store"},
	"prompts":  {},
	"pipeline": {"pipeline", "miners", "judges", "replay", "store", "prompts", "internal"},
	"internal": {"internal", "store"}, // progress shows states of the store
	// Besides the pipeline, the command opens the store, chooses a sandbox by a flag, shows changes and tells errors apart. Its
	// tests start a fake of GitHub's API, and of an endpoint whose models answer as judges.
	"cmd": {"pipeline", "store", "internal", "miners/gitrepo", "miners/github/githubtest", "replay", "judges/judgestest", "judges/model/modeltest"},
}

// clockReaders may call time.Now and its kin outside of cmd; each with its reason.
var clockReaders = map[string]string{
	"store/store.go":                 "default of Options.Clock",
	"pipeline/engine.go":             "default of Options.Clock",
	"replay/docker/docker.go":        "default of Options.Clock",
	"replay/local/local.go":          "default of Options.Clock",
	"replay/sandboxtest/hostile.go":  "measures whether a sandbox keeps its time limits",
	"replay/sandboxtest/sessions.go": "the same for its sessions",
	"judges/model/client.go":         "default of Options.Clock",
}

// source is one Go file of the module.
type source struct {
	path  string // relative, with slashes
	test  bool
	fset  *token.FileSet
	file  *ast.File
	text  []byte
	lines int
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		s := source{path: name, test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet(), text: text}
		s.lines = strings.Count(string(text), "\n")
		if s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	})
	if len(out) < 20 {
		t.Fatalf("found %d Go files only: are we in the root of the module?", len(out))
	}
	return out
}

// walk calls f for every file of the project but test data, hidden folders and what is built.
func walk(t *testing.T, f func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci"
		if d.IsDir() && (hidden || d.Name() == "testdata" || name == "bin") {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && !hidden {
			f(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// within reports whether a folder is one of the given ones or below it.
func within(folder string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return folder == f || strings.HasPrefix(folder, f+"/") })
}

// TestImports holds the one import rule, in tests too.
func TestImports(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		top, _, below := strings.Cut(s.path, "/")
		if !below {
			continue // this file
		}
		allowed, known := mayImport[top]
		if !known {
			t.Errorf("%s: folder %s is not in the table of imports", s.path, top)
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if folder, ours := strings.CutPrefix(name, module+"/"); ours && !within(folder, allowed) {
				t.Errorf("%s imports %s: %s may import only %v", s.path, folder, top, allowed)
			}
		}
	}
}

// TestPackageComments wants a comment on every package that has code.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		folder := path.Dir(s.path)
		text := s.file.Doc.Text()
		has := strings.HasPrefix(text, "Package "+s.file.Name.Name+" ") || strings.HasPrefix(text, "Command ")
		documented[folder] = documented[folder] || has
	}
	for folder, has := range documented {
		if !has {
			t.Errorf("%s: no package comment that says what it is for", folder)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if formatted, err := format.Source(s.text); err != nil || !bytes.Equal(formatted, s.text) {
			t.Errorf("%s: run gofmt -w on it (%v)", s.path, err)
		}
	}
}

// TestLineEnds: a script with CR LF fails line by line in ways that nobody understands; see github.com/SWE-bench/SWE-bench/issues/372.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	walk(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\r\n")) {
			t.Errorf("%s has lines that end in CR LF", name)
		}
	})
	rule, err := os.ReadFile(".gitattributes")
	if err != nil || !strings.Contains(string(rule), "* -text\n") {
		t.Errorf("git may rewrite the ends of lines in a checkout: %v", err)
	}
}

// length is how many lines a node spans.
func (s source) length(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

// tables counts the lines of a test that are data: its outermost composite literals.
func (s source) tables(f *ast.FuncDecl) int {
	lines := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.CompositeLit); ok && s.test {
			lines += s.length(n) - 1
			return false
		}
		return true
	})
	return lines
}

func TestLengths(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		fileLimit, funcLimit := maxFile, maxFunc
		if s.test {
			fileLimit, funcLimit = maxTestFile, maxTestFunc
		}
		if s.lines > fileLimit {
			t.Errorf("%s has %d lines, the limit is %d", s.path, s.lines, fileLimit)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.length(f) - s.tables(f); n > funcLimit {
				t.Errorf("%s: %s has %d lines, the limit is %d", s.path, f.Name.Name, n, funcLimit)
			}
			if n := f.Type.Params.NumFields(); n > maxParams && !s.test {
				t.Errorf("%s: %s has %d parameters, the limit is %d", s.path, f.Name.Name, n, maxParams)
			}
		}
	}
}

// TestScriptLengths holds the programs in other languages to the same length.
func TestScriptLengths(t *testing.T) {
	t.Parallel()
	walk(t, func(name string) {
		if !slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".java", ".gradle", ".sh"}, path.Ext(name)) {
			return
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > maxFile {
			t.Errorf("%s has %d lines, the limit is %d", name, n, maxFile)
		}
	})
}

// TestClock: what reads the machine's clock cannot be repeated. Clocks are passed in; cmd passes the machine's.
func TestClock(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.path, "cmd/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || pkg.Name != "time" || !slices.Contains([]string{"Now", "Sleep", "Since", "Until", "Tick"}, sel.Sel.Name) {
				return true
			}
			used[s.path] = true
			if clockReaders[s.path] == "" {
				t.Errorf("%s: time.%s: take a clock instead", s.fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
	for name := range clockReaders {
		if !used[name] {
			t.Errorf("%s reads no clock: take it off the list", name)
		}
	}
}

// TestDependencies compares docs/dependencies.md with what is imported.
func TestDependencies(t *testing.T) {
	t.Parallel()
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	modules := capture(`(?m)^\t(?:require )?(\S+\.\S+) v`, goMod)
	imported := map[string]bool{}
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range modules {
				if within(name, []string{m}) {
					imported[m] = true
				}
			}
		}
	}
	documented := capture("(?m)^\\| `(\\S+)` \\|", page)
	for m := range imported {
		if !slices.Contains(documented, m) {
			t.Errorf("docs/dependencies.md does not name %s", m)
		}
	}
	for _, m := range documented {
		if !imported[m] {
			t.Errorf("docs/dependencies.md names %s, which nothing imports", m)
		}
	}
}

// capture returns the first group of every match.
func capture(pattern string, text []byte) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// foreign is what may stand in no file: the names of registries and mirrors, which users configure, and paths of the
// machine that something was written on. The words are taken apart, since this file is looked at too.
var foreign = regexp.MustCompile(strings.Join([]string{
	`ghcr\.` + `io`, `quay\.` + `io`, `(?:registry-1|index|registry|auth)\.docker\.` + `io`, `pypi\.` + `org`, `pythonhosted\.` + `org`,
	`registry\.npmjs\.` + `org`, `proxy\.golang\.` + `org`, `sum\.golang\.` + `org`, `deb\.debian\.` + `org`, `gcr\.` + `io`,
	`/work/` + `main`, `/ro` + `ot/`,
}, "|"))

func TestNoForeignNames(t *testing.T) {
	t.Parallel()
	text := []string{".go", ".sh", ".md", ".toml", ".yaml", ".yml", ".json", ".py", ".sql", ""}
	walk(t, func(name string) {
		if !slices.Contains(text, path.Ext(name)) {
			return
		}
		b, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if found := foreign.FindString(line); found != "" {
				t.Errorf("%s names %s", fmt.Sprintf("%s:%d", name, i+1), found)
			}
		}
	})
}
