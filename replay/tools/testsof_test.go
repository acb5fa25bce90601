package tools

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/tools/testid"
)

// function makes one of a file and a path such as "A > b*c".
func function(file, path string) testid.Function {
	f := testid.Function{File: file}
	for _, n := range strings.Split(path, " > ") {
		f.Path = append(f.Path, strings.Split(n, "*"))
	}
	return f
}

// TestTestsOf: each tool finds a function's tests among ids of its own, and no others'.
func TestTestsOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recipe           replay.Recipe
		file, path       string
		mine, others     string // a line each
		unknownToTheTool bool
	}{
		{
			replay.Recipe{Runner: "gotest", Module: "example.com/m", Root: "sub"}, "sub/a/a_test.go", "TestX",
			"example.com/m/a::TestX\nexample.com/m/a::TestX/a_b/c\nexample.com/m/a::TestX#1", "example.com/m/a::TestXY\nexample.com/m::TestX\nexample.com/m/b/a::TestX", false,
		},
		{replay.Recipe{Runner: "gotest"}, "a/a_test.go", "* > TestOne", "x.y/a::TestSuite/TestOne\nx.y/a::TestSuite/TestOne/sub", "x.y/b::TestSuite/TestOne\nx.y/a::TestSuite", false},
		{replay.Recipe{Runner: "pytest"}, "t/test_a.py", "TestC > test_x", "t/test_a.py::TestC::test_x\nt/test_a.py::TestC::test_x[a::b-1]", "t/test_a.py::test_x\nt/test_a.py::TestC::test_xy\nt/test_a.py::TestC::In::test_x", false},
		{replay.Recipe{Runner: "unittest"}, "test_a.py", "C > test_x", "test_a.py::C::test_x\ntest_a.py::C::test_x#2", "test_a.py::D::test_x\nb/test_a.py::C::test_x", false},
		{replay.Recipe{Runner: "unittest"}, "test_a.py", "test_x", "", "test_a.py::test_x", false},
		{
			replay.Recipe{Runner: "jest"}, "a.test.js", "res  > adds *\n to * ", "a.test.js::res > adds 1 to 2\na.test.js::res > adds > to \na.test.js::res > adds 1 to 2#2",
			"a.test.js::adds 1 to 2\nb.test.js::res > adds 1 to 2\na.test.js::res > adds 1", false,
		},
		{replay.Recipe{Runner: "mocha"}, "test/a.js", "* > works", "test/a.js::works\ntest/a.js::a > b > works", "test/a.js::works not", false},
		{replay.Recipe{Runner: "nodetest"}, "a.js", "parent > sub", "a.js::parent > sub", "a.js::parent\na.js::(file)", false},
		{
			replay.Recipe{Runner: "cargo", Module: "json core"}, "core/src/a/b.rs", "tests > x", "core::a::b::tests::x\ncore/bin/core::a::b::tests::x\ncore::a::b::tests::x::case_1",
			"json::a::b::tests::x\ncore::b::tests::x\ncore/doc::a::b::tests::x", false,
		},
		{replay.Recipe{Runner: "cargo"}, "src/lib.rs", "tests > x", "json::tests::x\njson::tests::x#2", "json::lib::tests::x\njson/doc::tests::x", false},
		{replay.Recipe{Runner: "cargo"}, "tests/regression/issue1.rs", "x", "json/test/regression::issue1::x\njson/test/other::regression::issue1::x", "json/test/issue1::x\njson::x", false},
		{replay.Recipe{Runner: "cargo"}, "tests/all.rs", "m > x", "json/test/all::m::x", "json/test/all::x\njson/test/some::m::x", false},
		{
			replay.Recipe{Runner: "maven"}, "src/test/java/a/BTest.java", "BTest > Inner > two",
			"src/test/java/a/BTest.java::Inner::two\nsrc/test/java/a/BTest.java::Inner::two(int)[1]\nsrc/test/java/a/BTest.java::Inner::two[2]\nsrc/test/java/a/BTest.java::Inner::two#2",
			"src/test/java/a/BTest.java::two\nsrc/test/java/a/BTest.java::Inner::twofold\nsrc/test/java/a/BTest.java::(class)", false,
		},
		{replay.Recipe{Runner: "maven"}, "a/ATest.kt", "Other > says so", "a/ATest.kt::Other::says so\na/ATest.kt::Other::says so()", "a/ATest.kt::says so", false},
		{replay.Recipe{Runner: "gradle"}, "a/ATest.kt", "ATest > says so", "a/ATest.kt::says so\na/ATest.kt::says so()", "a/ATest.kt::ATest::says so\nb/ATest.kt::says so", false},
		{replay.Recipe{Runner: "ctest"}, "t/a_test.cc", "Suite > Two", "prog::Suite.Two\nprog::Pre/Suite.Two/0\nprog::Suite/1.Two", "prog::Suite.Twofold\nprog::Other.Two\nprog::Suite", false},
		{replay.Recipe{Runner: "ctest"}, "t/parse_array.c", "parses", "parse_array::parse_array\nctest::test-parse-array\nx::parses", "print_array::print_array\nparse_array_more::x", false},
		{replay.Recipe{Runner: "meson"}, "t/tests.c", "main", "t::main", "tests::tests\nt::other", false},
		{replay.Recipe{Runner: "none"}, "a", "b", "", "a::b", true},
	} {
		f := function(c.file, c.path)
		ids := append(strings.Split(c.mine, "\n"), strings.Split(c.others, "\n")...)
		mine, known := TestsOf(c.recipe, f, ids)
		if got := strings.Join(mine, "\n"); got != c.mine || known == c.unknownToTheTool {
			t.Errorf("%s, %s of %s: known %v\n%s\nwant\n%s", c.recipe.Runner, c.path, c.file, known, got, c.mine)
		}
	}
}

// TestTestsOfEveryTool: every tool tells, for any function and id, and without a panic.
func TestTestsOfEveryTool(t *testing.T) {
	t.Parallel()
	for _, tool := range table {
		if _, ok := tool.(TestMatcher); !ok {
			t.Errorf("%s does not tell which tests a function is", tool.Name())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a/:.#\[(> *]{0,8}`)
		f := testid.Function{File: text.Draw(t, "file")}
		for _, n := range rapid.SliceOfN(rapid.SliceOfN(text, 0, 3), 0, 3).Draw(t, "path") {
			f.Path = append(f.Path, n)
		}
		r := replay.Recipe{Runner: rapid.SampledFrom(table).Draw(t, "tool").Name(), Root: text.Draw(t, "root"), Module: text.Draw(t, "module")}
		TestsOf(r, f, []string{text.Draw(t, "id"), f.File + "::" + text.Draw(t, "name")})
	})
}
