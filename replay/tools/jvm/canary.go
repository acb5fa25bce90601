package jvm

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/project"
)

// testSource is a test class of Java or Kotlin in the usual place, by a name that Surefire takes unasked.
var testSource = regexp.MustCompile(`(?:^|/)src/test/(?:java|kotlin)/(?:.*/)?(?:Test\w*|\w+(?:Test|Tests|TestCase))\.(?:java|kt)$`)

// Neighbours are the test classes of the recipe's build.
func (Project) Neighbours(t *project.Tree, r replay.Recipe) []string {
	var out []string
	for f := range t.Files() {
		if project.Within(r.Root, f) && testSource.MatchString(f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// library is a library of tests: what a file has that uses it, and what a class of ours needs.
type library struct {
	uses   *regexp.Regexp
	test   string // the annotation
	equal  string // a call that throws where two numbers differ
	holds  string // one that throws where a condition does not hold
	super  string
	prefix string // of the names of tests
}

// libraries are all that we write for, each by names that its own artifact has: a file that uses one compiles with it.
var libraries = []library{
	{uses: regexp.MustCompile(`\borg\.junit\.jupiter\.api\.(?:Test|\*)`), test: "@org.junit.jupiter.api.Test",
		equal: "org.junit.jupiter.api.Assertions.assertEquals(sum, n)", holds: "org.junit.jupiter.api.Assertions.assertTrue(n == sum)"},
	{uses: regexp.MustCompile(`\borg\.junit\.(?:Test|\*)`), test: "@org.junit.Test",
		equal: "org.junit.Assert.assertEquals(sum, n)", holds: "org.junit.Assert.assertTrue(n == sum)"},
	{uses: regexp.MustCompile(`\borg\.testng\.annotations\.(?:Test|\*)`), test: "@org.testng.annotations.Test",
		equal: "org.testng.Assert.assertEquals(n, sum)", holds: "org.testng.Assert.assertTrue(n == sum)"},
	{uses: regexp.MustCompile(`\bjunit\.framework\.(?:TestCase|\*)`), super: "junit.framework.TestCase", prefix: "test",
		equal: "assertEquals(sum, n)", holds: "assertTrue(n == sum)"},
}

// asserts are the assertions that a file makes itself: one that was replaced is found out by those alone that use it, and what is not used
// may not be there.
func (l library) asserts(text string) []string {
	var out []string
	if strings.Contains(text, "assertEquals(") {
		out = append(out, l.equal)
	}
	if strings.Contains(text, "assertTrue(") {
		out = append(out, l.holds)
	}
	return out
}

var declares = regexp.MustCompile(`(?m)^\s*package\s+([\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*)\s*;?\s*$`)

// Canaries lays a class beside those of the target, or beside any: in their package and language, with the library that they use. Classes of a
// module run in one process. What a module's settings select (groups, tags) is not known, so that one that is missing means nothing; and
// what the compiler's settings refuse (warnings are errors) breaks its neighbours, so that it is a class that nothing warns of.
func (Project) Canaries(q canary.Request) []canary.File {
	files := slices.DeleteFunc(slices.Clone(q.Files), func(f replay.File) bool { return !testSource.MatchString(f.Path) })
	files = canary.Aimed(files, func(f replay.File) bool { return slices.Contains(q.Target, f.Path) })
	var out []canary.File
	seen := map[string]bool{}
	for _, f := range files {
		if dir := path.Dir(f.Path); !seen[dir] {
			if g, ok := besideClass(q, f); ok {
				seen[dir] = true
				out = append(out, g)
			}
		}
	}
	return canary.Places(q, out)
}

func besideClass(q canary.Request, f replay.File) (canary.File, bool) {
	text := string(f.Data)
	q.Files = []replay.File{f}
	i := slices.IndexFunc(libraries, func(l library) bool { return l.uses.MatchString(text) })
	m := declares.FindStringSubmatch(text)
	if i < 0 || m == nil && strings.Contains(text, "package") {
		return canary.File{}, false
	}
	class, ext := "Zz"+q.Word+"Test", path.Ext(f.Path)
	name := path.Join(path.Dir(f.Path), class+ext)
	var names, ends []string
	for _, t := range q.Tests {
		n := libraries[i].prefix + "zz" + q.Word + t.Part
		names, ends = append(names, n), append(ends, name+"::"+n)
	}
	pkg := ""
	if m != nil {
		pkg = m[1]
	}
	write := java
	if ext == ".kt" {
		write = kotlin
	}
	g := canary.File{
		File: canary.Text(name, write(q, libraries[i], pkg, class, names)), Names: names, Ends: ends, Together: true,
		Beside: canary.Below(path.Dir(f.Path) + "/"), Broken: unloadable(name, q.Word), Only: name,
	}
	if len(q.Target) > 0 {
		g.Target = name
	}
	return g, true
}

// java writes a class. It is documented, since a compiler may be told to want that.
func java(q canary.Request, l library, pkg, class string, names []string) string {
	var b strings.Builder
	if pkg != "" {
		fmt.Fprintf(&b, "package %s;\n\n", pkg)
	}
	extends := ""
	if l.super != "" {
		extends = "extends " + l.super + " "
	}
	fmt.Fprintf(&b, "/** Tests of ours. */\npublic class %s %s{\n", class, extends)
	for i, n := range names {
		fmt.Fprintf(&b, "    /** One of them. */\n    %s\n    public void %s() {\n        final int sum = %d;\n        int n = 0;\n"+
			"        for (final char c : \"%s\".toCharArray()) {\n            n += c;\n        }\n", l.test, n, canary.Sum(n, q.Tests[i].Fails), n)
		for _, try := range l.asserts(string(q.Files[0].Data)) {
			fmt.Fprintf(&b, "        try {\n            %s;\n            return;\n        } catch (final AssertionError e) {\n            n += 0;\n        }\n", try)
		}
		b.WriteString("        throw new AssertionError(\"this test must fail\");\n    }\n")
	}
	return b.String() + "}\n"
}

func kotlin(q canary.Request, l library, pkg, class string, names []string) string {
	var b strings.Builder
	if pkg != "" {
		fmt.Fprintf(&b, "package %s\n\n", pkg)
	}
	extends := ""
	if l.super != "" {
		extends = " : " + l.super + "()"
	}
	fmt.Fprintf(&b, "/** Tests of ours. */\npublic class %s%s {\n", class, extends)
	for i, n := range names {
		fmt.Fprintf(&b, "    /** One of them. */\n    %s\n    public fun %s(): Unit {\n        val sum: Int = %d\n        val n: Int = \"%s\".toByteArray().fold(0) { a, c -> a + c }\n",
			l.test, n, canary.Sum(n, q.Tests[i].Fails), n)
		for _, try := range l.asserts(string(q.Files[0].Data)) {
			fmt.Fprintf(&b, "        try {\n            %s\n            return\n        } catch (ignored: AssertionError) {\n        }\n", try)
		}
		b.WriteString("        throw AssertionError(\"this test must fail\")\n    }\n")
	}
	return b.String() + "}\n"
}

func unloadable(file, word string) replay.File { return canary.Text(file, "zz"+word+"\n") }

// Unloadable does not compile. In Groovy it might.
func (Project) Unloadable(file, word string) replay.File {
	if ext := path.Ext(file); ext != ".java" && ext != ".kt" {
		return replay.File{}
	}
	return unloadable(file, word)
}
