// Package testcode knows which test functions stand in a file of tests, and which of them a change of the file touches: those that it
// adds, modifies, deletes or renames, and those that use what it changes besides, such as a helper, a fixture, a table, the set-up of
// a class. Where that cannot be told, all of the file are touched, and it says so.
//
// It sees one file at a time, by its syntax: names are not resolved, so that one word for two things counts as one. What other files use
// of a file, and what a file takes from others, is not known. It never runs anything, and knows no test tool: what a report calls a
// test is for package replay/tools.
package testcode

import (
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"

	"sluice/miners/lang"
)

// Name is one step of a test's path as far as the file tells it: pieces of text with anything between one and the next. One piece is
// the whole name; two empty ones are any name.
type Name []string

// Any is a name, or several, of which the file tells nothing.
func Any() Name { return Name{"", ""} }

// String writes the name with "*" for what is not known.
func (n Name) String() string { return strings.Join(n, "*") }

// Test is a test function, or what a language has for one.
type Test struct {
	// Path is its names from the outside in: modules, classes, describe blocks and its own. A test of GoogleTest is its suite and its
	// name; a program of C without such tests is "main".
	Path  []Name    `json:"path"`
	Lines lang.Span `json:"lines"`
}

// String writes the path for people.
func (t Test) String() string {
	names := make([]string, len(t.Path))
	for i, n := range t.Path {
		names[i] = n.String()
	}
	return strings.Join(names, " > ")
}

func (t Test) key() string {
	var b strings.Builder
	for _, n := range t.Path {
		b.WriteString(strings.Join(n, "\x01") + "\x00")
	}
	return b.String()
}

// File is what a file holds, as far as tests go.
type File struct {
	Tests []Test // in order
	units []unit
}

// unit is a piece of a file that changes as one.
type unit struct {
	scope  string   // keys of what stands around it; it holds for everything whose scope begins so
	names  []string // what it defines; none: it holds for all tests of its scope
	digest uint64   // of its syntax
	body   uint64   // of a test: of its syntax without its name
	uses   map[string]bool
	test   *Test
	loose  bool      // nothing tells what it is for
	lines  lang.Span // of what defines names
}

// maxNested bounds what stands within another: deeper files are not read.
const maxNested = 200

// readers take a tree apart, by language.
var readers = map[string]func(*reader, *sitter.Node){
	"Go": (*reader).golang, "Python": (*reader).python, "JavaScript": (*reader).script, "TypeScript": (*reader).script, "TSX": (*reader).script,
	"Rust": (*reader).rust, "Java": (*reader).java, "Kotlin": (*reader).kotlin, "C": (*reader).native, "C++": (*reader).native,
}

// Knows tells whether tests of a file's language are known here.
func Knows(name string) bool { return readers[language(name)] != nil }

// language is that of the path; a header may be C++.
func language(name string) string {
	if l := lang.Language(name); l != "C" || !strings.HasSuffix(name, ".h") {
		return l
	}
	return "C++"
}

// Read takes a file apart. ok is false where its language is not known here, it is too large or nested too deep, or it cannot be read at
// all; a part that cannot be read counts as code that stands around all tests.
func Read(name string, src []byte) (f File, ok bool) {
	read := readers[language(name)]
	if read == nil {
		return File{}, false
	}
	tree := lang.Parse(name, src)
	if tree == nil {
		return File{}, false
	}
	defer tree.Close()
	r := &reader{name: name, src: src, count: map[string]int{}, classes: map[string]*class{}}
	read(r, tree.RootNode())
	if r.deep {
		return File{}, false
	}
	r.inherit()
	f.units = r.units
	for _, u := range r.units {
		if u.test != nil {
			f.Tests = append(f.Tests, *u.test)
		}
	}
	slices.SortStableFunc(f.Tests, func(a, b Test) int { return a.Lines.First - b.Lines.First })
	return f, true
}
