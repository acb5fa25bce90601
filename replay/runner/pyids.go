package runner

import (
	"path"
	"strings"
	"unicode"
)

// moduleNames turns pytest's dotted class names back into node ids. pytest writes "tests.test_a.TestC" for
// "tests/test_a.py::TestC", which alone does not say where the file ends; and the file that it gives is where the test
// was written, for an inherited test the file of the base class. So the longest known file that fits is taken.
type moduleNames struct {
	root  string
	files map[string]string // dotted name -> file
}

func newModuleNames(root string, paths []string, cases []junitCase) moduleNames {
	n := moduleNames{root: root, files: map[string]string{}}
	for _, p := range paths {
		n.know(strings.TrimPrefix(relativeTo(root, path.Clean("/" + p)[1:]), "./"))
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
func (n moduleNames) nodeID(c junitCase) string {
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
func (n moduleNames) module(c junitCase) string {
	file := c.File
	if file == "" {
		var ok bool
		if file, ok = n.files[c.Name]; !ok {
			file = strings.ReplaceAll(c.Name, ".", "/") + ".py"
		}
	}
	return path.Join(n.root, strings.ToValidUTF8(file, "\uFFFD"))
}
