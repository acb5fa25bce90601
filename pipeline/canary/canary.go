// Package canary makes tests of our own that are laid among a project's: some must pass, some must fail. A test tool that reports
// whatever it likes, or what it was told to, is found out by them.
//
// It writes the files and says where they belong. It runs nothing; what an outcome means is for who laid them.
package canary

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"sort"
	"strings"

	"sluice/replay"
)

// Test is one test of a file.
type Test struct {
	Name  string
	Fails bool
}

// sum is what a test computes: its outcome stands nowhere in its text, so that only who runs it knows.
func sum(name string, fails bool) int {
	n := 0
	for _, b := range []byte(name) {
		n += int(b)
	}
	if fails {
		n++
	}
	return n
}

// Go is a file of Go tests for the package of that name.
func Go(file, clause string, tests ...Test) replay.File {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport \"testing\"\n", clause)
	for _, t := range tests {
		fmt.Fprintf(&b, "\nfunc %s(t *testing.T) {\n\tn := 0\n\tfor _, c := range []byte(%q) {\n\t\tn += int(c)\n\t}\n\tif n != %d {\n"+
			"\t\tt.Error(\"this test must fail\")\n\t}\n}\n", t.Name, t.Name, sum(t.Name, t.Fails))
	}
	return replay.File{Path: file, Mode: 0o644, Data: []byte(b.String())}
}

// Python is a module of tests for pytest.
func Python(file string, tests ...Test) replay.File {
	var list []string
	for _, t := range tests {
		list = append(list, fmt.Sprintf("def %s():\n    assert sum(b%q) == %d, \"this test must fail\"\n", t.Name, t.Name, sum(t.Name, t.Fails)))
	}
	return replay.File{Path: file, Mode: 0o644, Data: []byte(strings.Join(list, "\n\n"))}
}

// Unittest is a module of tests for Python's unittest.
func Unittest(file string, tests ...Test) replay.File {
	text := "import unittest\n\n\nclass Canary(unittest.TestCase):\n"
	for _, t := range tests {
		text += fmt.Sprintf("    def %s(self):\n        self.assertEqual(sum(b%q), %d, \"this test must fail\")\n\n", t.Name, t.Name, sum(t.Name, t.Fails))
	}
	return replay.File{Path: file, Mode: 0o644, Data: []byte(strings.TrimSuffix(text, "\n"))}
}

// Writer writes modules of Python for a test tool of Python.
func Writer(tool string) func(file string, tests ...Test) replay.File {
	if tool == "unittest" {
		return Unittest
	}
	return Python
}

// GoFile names the file of a canary in a folder. Go runs the tests of the package itself first, file by file in the order of their
// names: what ends the package early must not end it before the canary.
func GoFile(dir, word string) string { return path.Join(dir, "00"+word+"_test.go") }

// PythonFile names the module of a canary beside another one, where the same conftest.py files hold, and like it, so that the same
// settings collect it. It ends in ".py"; the function in it may have the name "test_zz"+word.
func PythonFile(beside, word string) string {
	if strings.HasSuffix(beside, "_test.py") {
		return path.Join(path.Dir(beside), "zz"+word+"_test.py")
	}
	return path.Join(path.Dir(beside), "test_zz"+word+".py")
}

// FirstModule returns the first path that pytest takes for a test module.
func FirstModule(paths []string) string {
	for _, p := range paths {
		if IsModule(p) {
			return p
		}
	}
	return ""
}

// IsModule reports whether pytest takes a path for a test module.
func IsModule(p string) bool {
	stem, ok := strings.CutSuffix(path.Base(p), ".py")
	return ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test"))
}

// IsGo reports whether the go command takes a path for a file of tests.
func IsGo(p string) bool {
	return strings.HasSuffix(p, "_test.go") && !strings.Contains("/"+p, "/testdata/")
}

// Folder is a folder with Go tests. Clause is the name of the package itself, not of the tests that live outside of it.
type Folder struct{ Path, Clause string }

// Folders lists those of files of tests, by path. A file that cannot be parsed counts for nothing.
func Folders(files []replay.File) []Folder {
	clauses := map[string]string{}
	for _, f := range files {
		if !IsGo(f.Path) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", f.Data, parser.PackageClauseOnly)
		if err == nil {
			clauses[path.Dir(f.Path)] = strings.TrimSuffix(parsed.Name.Name, "_test")
		}
	}
	var out []Folder
	for dir, clause := range clauses {
		out = append(out, Folder{dir, clause})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// Runnable reports whether pytest runs a path as a module of tests when it is named.
func Runnable(p string) bool {
	stem, ok := strings.CutSuffix(path.Base(p), ".py")
	return IsModule(p) || ok && (strings.HasSuffix(stem, "_tests") || stem == "test" || stem == "tests")
}
