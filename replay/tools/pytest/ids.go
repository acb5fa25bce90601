package pytest

import (
	"path"
	"strings"
	"unicode"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// moduleNames turns pytest's dotted class names back into node ids. pytest writes "tests.test_a.TestC" for
// "tests/test_a.py::TestC", which alone does not say where the file ends; and the file that it gives is where the test
// was written, for an inherited test the file of the base class. So the longest known file that fits is taken.
type moduleNames struct {
	root  string
	files map[string]string // dotted name -> file
}

func newModuleNames(root string, paths []string, cases []report.Case) moduleNames {
	n := moduleNames{root: root, files: map[string]string{}}
	for _, p := range paths {
		n.know(strings.TrimPrefix(project.Relative(root, path.Clean("/" + p)[1:]), "./"))
	}
	for _, c := range cases {
		n.know(c.File)
	}
	return n
}

func (n moduleNames) know(file string) {
	if file != "" && !strings.HasPrefix(file, "../") {
		n.files[dotted(file)] = file
	}
}

func dotted(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
}

// nodeID is the test's id, with its file relative to the tree.
func (n moduleNames) nodeID(c report.Case) string {
	file, classes := n.split(c.Class)
	id := path.Join(n.root, file)
	if classes != "" {
		id += "::" + strings.ReplaceAll(classes, ".", "::")
	}
	return id + "::" + c.Name
}

// split finds the file in a dotted name; what is left are classes.
func (n moduleNames) split(name string) (file, classes string) {
	for head := name; head != ""; {
		if file, ok := n.files[head]; ok {
			return file, strings.TrimPrefix(strings.TrimPrefix(name, head), ".")
		}
		i := strings.LastIndexByte(head, '.')
		if i < 0 {
			break
		}
		head = head[:i]
	}
	return guessFile(name)
}

// guessFile takes the parts before the first one that looks like a class.
func guessFile(name string) (file, classes string) {
	parts := strings.Split(name, ".")
	n := 1
	for n < len(parts) && !startsUpper(parts[n]) {
		n++
	}
	return strings.Join(parts[:n], "/") + ".py", strings.Join(parts[n:], ".")
}

func startsUpper(s string) bool {
	for _, r := range s {
		return unicode.IsUpper(r)
	}
	return false
}

// module names the file of a case that stands for a whole file.
func (n moduleNames) module(c report.Case) string {
	file := c.File
	if file == "" {
		var ok bool
		if file, ok = n.files[c.Name]; !ok {
			file = strings.ReplaceAll(c.Name, ".", "/") + ".py"
		}
	}
	return path.Join(n.root, strings.ToValidUTF8(file, "\uFFFD"))
}

// collected is false for the pseudo-tests by which pytest reports a file that it could not, or should not, collect.
func collected(c report.Case) bool {
	if c.Class != "" {
		return true
	}
	for _, list := range [][]report.What{c.Errors, c.Failures, c.Skips} {
		for _, w := range list {
			if strings.HasPrefix(w.Message, "collection ") {
				return false
			}
		}
	}
	return true
}

// kind tells an assertion, in any of the ways in which pytest words one, from an exception.
func kind(w report.What) replay.Kind {
	m := w.Message
	for _, stage := range []string{"failed on setup with \"", "failed on teardown with \""} {
		m = strings.TrimPrefix(m, stage)
	}
	for _, p := range []string{"assert ", "AssertionError", "Failed: ", "[XPASS(strict)]"} {
		if strings.HasPrefix(m, p) {
			return replay.Assertion
		}
	}
	name, _, _ := strings.Cut(m, ":")
	if strings.HasSuffix(name, ".AssertionError") || strings.HasSuffix(strings.TrimSpace(w.Text), "DocTestFailure") {
		return replay.Assertion
	}
	return replay.Exception
}
