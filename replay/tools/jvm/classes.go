package jvm

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// Classes knows from which files the classes of a module's tests are.
type Classes struct {
	dir     string
	files   map[string]string // "a.b.C" -> file
	named   map[string]string // "a.b.C" -> the base name that the compiler gave
	sources map[string]string // "a.b/C.kt" -> file
	first   string            // folder of the first source
	count   map[string]int    // of the tests of one name in one report
}

// NewClasses starts for the module in a folder of the tree.
func NewClasses(dir string) *Classes {
	return &Classes{dir: dir, files: map[string]string{}, named: map[string]string{}, sources: map[string]string{}, count: map[string]int{}}
}

// Source tells of a source file of tests, by its path in the tree, and the package that it declares.
func (c *Classes) Source(file, pkg string) {
	base := path.Base(file)
	c.sources[pkg+"/"+base] = file
	class := strings.TrimSuffix(base, path.Ext(base))
	if pkg != "" {
		class = pkg + "." + class
	}
	if _, known := c.files[class]; !known {
		c.files[class] = file
	}
}

// Compiled tells of an outer class and the base name of its source, as the compiler left it.
func (c *Classes) Compiled(class, base string) { c.named[class] = base }

// File is the file of a class, and the names of classes that are in it besides what its name says. A class whose source nobody saw
// gets the file that it would have.
func (c *Classes) File(class string) (file, rest string) {
	outer, inner, _ := strings.Cut(class, "$")
	pkg, simple := "", outer
	if i := strings.LastIndexByte(outer, '.'); i >= 0 {
		pkg, simple = outer[:i], outer[i+1:]
	}
	file, ok := c.sources[pkg+"/"+c.named[outer]]
	if !ok {
		file, ok = c.files[outer]
	}
	if !ok {
		file = path.Join(c.dir, "src/test/java", strings.ReplaceAll(outer, ".", "/")+".java")
	}
	base := path.Base(file)
	if strings.TrimSuffix(base, path.Ext(base)) != simple {
		rest = simple + "::"
	}
	if inner != "" {
		rest += strings.ReplaceAll(inner, "$", "::") + "::"
	}
	return strings.ToValidUTF8(file, "\uFFFD"), rest
}

// WholeClass is the name of what stands for all tests of a class.
const WholeClass = "(class)"

// invocation is how Surefire 2 names an invocation of a test with parameters, where later ones use round brackets.
var invocation = regexp.MustCompile(`^([\pL_$][\pL\pN_$]*)\{(.*)\}(\[\d+\])$`)

// ID is the id of a test: its file, the classes in it, and its name. The tests of one name are told apart by the order in which they ended.
func (c *Classes) ID(class, name string) string {
	file, rest := c.File(class)
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "\uFFFD")), " ")
	name = strings.Replace(invocation.ReplaceAllString(name, "$1($2)$3"), "()[", "[", 1)
	if name == "" || name == class || name == "initializationError" || name == "classMethod" {
		name = WholeClass
	}
	id := file + "::" + rest + name
	c.count[id]++
	if n := c.count[id]; n > 1 {
		return fmt.Sprintf("%s#%d", id, n)
	}
	return id
}

// Test reads a case of a report. failures says that the report has another element for what is no assertion.
func (c *Classes) Test(x report.Case, failures bool) replay.Test {
	t := x.Test(func(w report.What) replay.Kind {
		if assertion.MatchString(w.Type) || failures && len(x.Failures) > 0 {
			return replay.Assertion
		}
		return replay.Exception
	})
	t.ID = c.ID(x.Class, x.Name)
	for _, list := range [][]report.What{x.Failures, x.Errors} {
		if len(list) == 0 {
			continue
		}
		w := list[0]
		if timedOut(w) {
			t.Outcome, t.Kind = replay.TimedOut, ""
		}
		t.Message = words(w)
		break
	}
	return t
}

// words are the type of what was thrown and its message, as Java prints them.
func words(w report.What) string {
	if w.Type == "" || strings.HasPrefix(w.Message, w.Type) {
		return w.Message
	}
	return strings.TrimSuffix(w.Type+": "+w.Message, ": ")
}
