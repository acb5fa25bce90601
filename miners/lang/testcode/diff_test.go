package testcode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told writes what a change touches, a test a line.
func told(c Change) string {
	var lines []string
	for _, t := range c.Touched {
		l := string(t.How) + " " + t.String()
		if t.By != "" {
			l += " by " + t.By
		}
		if len(t.Was) > 0 {
			l += " from " + Test{Path: t.Was}.String()
		}
		lines = append(lines, l)
	}
	if len(c.Elsewhere) > 0 {
		lines = append(lines, "elsewhere "+strings.Join(c.Elsewhere, " "))
	}
	return strings.Join(lines, "\n")
}

const (
	goFile = `package a
import ("testing"; "os"; x "example.com/go-cmp/v2")
var table = []int{1}
func helper(t *testing.T) { deeper() }
func deeper() { os.Exit(1) }
func TestA(t *testing.T) { helper(t) }
func TestB(t *testing.T) { for range table { x.Do() } }
func TestC(t *testing.T) {}
func Testify(t *testing.T) {}
func FuzzD(f *testing.F) {}
func ExampleE() {
	// Output: 1
}
type S struct{ suite.Suite }
func TestSuite(t *testing.T) { suite.Run(t, new(S)) }
func (s *S) SetupTest() {}
func (s *S) TestOne() { s.say(1) }
func (s *S) TestTwo() {}
func (s *S) say(n int) {}
`
	pyFile = `"""Tests."""
import os, sys
from lib import a, b
TABLE = [1]
@pytest.fixture
def db(): return TABLE
@pytest.fixture(autouse=True)
def quiet(): pass
def check(x): a(x)
def test_a(db): pass
@pytest.mark.parametrize("n", [1, 2])
def test_b(n): check(n)
async def test_c(): b()
class Base(unittest.TestCase):
    limit = 1
    def setUp(self): self.x = 1
    def test_one(self): self.help()
    def help(self): pass
class TestChild(Base):
    limit = 2
    def test_two(self): assert self.limit
class Mixin:
    def test_mixed(self): pass
class TestMixed(Mixin, unittest.TestCase): pass
class Plain:
    def use(self): pass
def test_plain(): Plain().use()
`
	jsFile = "import { a } from './a';\nconst { b } = require('b');\nconst table = ['GET'];\nfunction check(x) { b(x) }\n" +
		"describe('res', () => {\n  let app;\n  beforeEach(() => { app = 1 });\n  describe('.send()', function () {\n" +
		"    it('sends \"it\\'s\"', done => { check(app) });\n    it(`takes ${b} of`, () => { a() });\n    test.each([1])('adds %i to $x', () => {});\n  });\n" +
		"  table.forEach(m => { it('should ' + m, () => {}) });\n  it('todo');\n  it('slow', () => {}).timeout(10);\n});\n" +
		"function shared(n) { it('shared ' + n, () => {}) }\n" +
		"test('parent', async t => { if (/x/.test('y')) a(); await t.test('sub', () => {}) });\n"
	rustFile = `use crate::a;
pub fn source() {}
#[cfg(test)]
mod tests {
    use super::*;
    use other::{one, two as second};
    const LIMIT: u8 = 1;
    fn helper() { one() }
    #[test]
    fn adds() { helper() }
    mod deep {
        #[tokio::test]
        async fn goes() { assert_eq!(LIMIT, second!()) }
    }
}
`
	javaFile = `package a;
import org.x.Helper;
public class ATest extends Base {
  int x = 1;
  @Rule public Temp t = new Temp();
  @BeforeEach void before() {}
  @Test void one() { help(); }
  @ParameterizedTest @MethodSource("numbers") void two(int n) {}
  static int[] numbers() { return null; }
  void help() { Helper.go(x); }
  @Nested class Inner { @Test void three() {} }
  static class Data { int y = 2; }
  @Test void four() { new Data(); }
}
`
	kotlinFile = `package a
import b.C
class ATest {
    private val x = 1
    @Before
    fun before() {}
    @Test
    fun ` + "`says so`" + `() { help() }
    @Test
    fun other() { C.go() }
    fun help() { println(x) }
}
`
	cppFile = `#include "a.h"
#define LIMIT 3
class Fix : public testing::Test { void SetUp() {} };
static int help(int x) { return LIMIT; }
namespace q {
TEST(Suite, One) { EXPECT_EQ(1, help(2)); }
TEST_F(Fix, Two) { int x; }
TEST_P(Params, Three) {}
}
INSTANTIATE_TEST_SUITE_P(Pre, Params, testing::Values(1));
TEST_CASE("a title", "[x]") { SECTION("q") { } }
`
	cFile = `#include "unity.h"
static const char *text[] = {"a"};
static void parses(void) { use(text); }
static void test_more(void) {}
int main(void) { RUN_TEST(parses); return UNITY_END(); }
`
)

// TestCompare: what a change of a piece touches, and nothing else.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, src, old, new, want string }{
		{"a_test.go", goFile, "deeper()\n}", "x", ""},
		{"a_test.go", goFile, "os.Exit(1)", "os.Exit(2)", "uses TestA by helper\nelsewhere deeper"},
		{"a_test.go", goFile, "int{1}", "int{1, 2}", "uses TestB by table\nelsewhere table"},
		{"a_test.go", goFile, "func TestC(t *testing.T) {}", "func TestC(t *testing.T) { t.Log() }", "modified TestC"},
		{"a_test.go", goFile, "func TestC(t *testing.T) {}", "// why\nfunc TestC(\n\tt *testing.T,\n) {\n}", ""},
		{"a_test.go", goFile, "func TestA(", "func TestNew(", "renamed TestNew from TestA"},
		{"a_test.go", goFile, "func TestC(t *testing.T) {}\n", "", "deleted TestC"},
		{"a_test.go", goFile, "func TestC", "func TestD(t *testing.T) { t.Fail() }\nfunc TestC", "added TestD"},
		{"a_test.go", goFile, "go-cmp/v2", "go-cmp/v3", "uses TestB by x\nelsewhere cmp go go-cmp x"},
		{"a_test.go", goFile, "// Output: 1", "// Output: 2", "modified ExampleE"},
		{"a_test.go", goFile, "say(n int) {}", "say(n int) { n++ }", "uses TestSuite > TestOne by say\nelsewhere say"},
		{"a_test.go", goFile, "SetupTest() {}", "SetupTest() { a() }", "uses TestSuite by S\nuses TestSuite > TestOne by S\nuses TestSuite > TestTwo by S\nelsewhere S"},
		{"a_test.go", goFile, "TestTwo() {", "TestTwo() { s.T().Fail()", "modified TestSuite > TestTwo"},
		{"test_a.py", pyFile, `"""Tests."""`, `"""All tests."""`, ""},
		{"test_a.py", pyFile, "TABLE = [1]", "TABLE = [1, 2]", "uses test_a by db\nelsewhere TABLE"},
		{"test_a.py", pyFile, "[1, 2])", "[1, 2, 3])", "modified test_b"},
		{"test_a.py", pyFile, "import a, b", "import a, b, c", "elsewhere c"},
		{"test_a.py", pyFile, "import a, b", "import a as b", "uses test_b by check\nuses test_c by b\nelsewhere a b"},
		{"test_a.py", pyFile, "self.x = 1", "self.x = 2", "around Base > test_one\naround TestChild > test_one\naround TestChild > test_two"},
		{"test_a.py", pyFile, "limit = 2", "limit = 3", "uses TestChild > test_two by limit"},
		{"test_a.py", pyFile, "def test_mixed(self): pass", "def test_mixed(self): f()", "modified TestMixed > test_mixed"},
		{"test_a.py", pyFile, "def help(self): pass", "def help(self): return 1", "uses Base > test_one by help\nuses TestChild > test_one by help"},
		{"test_a.py", pyFile, "def use(self): pass", "def use(self): return 1", "uses test_plain by Plain\nelsewhere Plain"},
		{"a.test.ts", jsFile, "b(x)", "b(x, 1)", "uses res > .send() > sends \"it's\" by check\nelsewhere check"},
		{"a.test.ts", jsFile, "{ a() });\n    test", "{ a(2) });\n    test", "modified res > .send() > takes * of"},
		{"a.test.ts", jsFile, "each([1])", "each([1, 2])", "modified res > .send() > adds * to *"},
		{"a.test.ts", jsFile, "['GET']", "['GET', 'PUT']", "uses res > should * by table\nelsewhere table"},
		{"a.test.ts", jsFile, "timeout(10)", "timeout(11)", "modified res > slow"},
		{"a.test.ts", jsFile, "it('todo')", "it('done')", "renamed res > done from res > todo"},
		{"a.test.ts", jsFile, "'shared ' + n, () => {}", "'shared ' + n, () => { a() }", "modified * > shared *\nelsewhere shared"},
		{"a.test.ts", jsFile, "'sub', () => {}", "'sub', () => { a() }", "modified parent\nmodified parent > sub"},
		{"a.test.ts", jsFile, "'./a'", "'./c'", "uses res > .send() > takes * of by a\nuses parent by a\nuses parent > sub by a\nelsewhere a"},
		{"src/a.rs", rustFile, "fn source() {}", "fn source() { 1 }", ""},
		{"src/a.rs", rustFile, "one() }", "one(); }", "uses tests > adds by helper"},
		{"src/a.rs", rustFile, "u8 = 1", "u8 = 2", "uses tests > deep > goes by LIMIT"},
		{"src/a.rs", rustFile, "two as second", "three as second", "uses tests > deep > goes by second"},
		{"src/a.rs", rustFile, "#[test]", "#[test]\n#[should_panic]", "modified tests > adds"},
		{"src/a.rs", rustFile, "async fn goes", "async fn moves", "renamed tests > deep > moves from tests > deep > goes"},
		{"tests/a.rs", "#![allow(x)]\n" + rustFile, "allow(x)", "allow(y)", ""},
		{"tests/a.rs", "#![cfg(x)]\n" + rustFile, "cfg(x)", "cfg(y)", "unsure tests > adds\nunsure tests > deep > goes"},
		{"ATest.java", javaFile, "x = 1", "x = 2", "uses ATest > one by help"},
		{"ATest.java", javaFile, "return null", "return 1", "uses ATest > two by numbers"},
		{"ATest.java", javaFile, "void three() {}", "void three() { x(); }", "modified ATest > Inner > three"},
		{"ATest.java", javaFile, "y = 2", "y = 3", "uses ATest > four by Data"},
		{"ATest.java", javaFile, "before() {}", "before() { a(); }", "around ATest > one\naround ATest > two\naround ATest > Inner > three\naround ATest > four"},
		{"ATest.kt", kotlinFile, "x = 1", "x = 2", "uses ATest > says so by help"},
		{"ATest.kt", kotlinFile, "before() {}", "before() { a() }", "around ATest > says so\naround ATest > other"},
		{"ATest.kt", kotlinFile, "b.C", "c.C", "uses ATest > other by C\nelsewhere C"},
		{"a_test.cc", cppFile, "LIMIT 3", "LIMIT 4", "uses Suite > One by help\nelsewhere LIMIT"},
		{"a_test.cc", cppFile, "SetUp() {}", "SetUp() { a(); }", "uses Fix > Two by Fix\nelsewhere Fix"},
		{"a_test.cc", cppFile, "Values(1)", "Values(2)", "uses Params > Three by Params\nelsewhere Params Pre"},
		{"a_test.cc", cppFile, `SECTION("q")`, `SECTION("r")`, "modified a title"},
		{"a_test.cc", cppFile, `"a.h"`, `"b.h"`, "unsure Suite > One\nunsure Fix > Two\nunsure Params > Three\nunsure a title"},
		{"tests/a.c", cFile, `{"a"}`, `{"b"}`, "uses parses by text\nelsewhere text"},
		{"tests/a.c", cFile, "test_more(void) {}", "test_more(void) { a(); }", "modified test_more"},
		{"tests/b.c", "int f() { return 1; }\nint main() { return f(); }\n", "return 1", "return 2", "uses main by f\nelsewhere f"},
	} {
		got := Compare(c.path, []byte(c.src), []byte(strings.Replace(c.src, c.old, c.new, 1)))
		if d := cmp.Diff(c.want, told(got)); d != "" {
			t.Errorf("%s: %q becomes %q (-want +got):\n%s", c.path, c.old, c.new, d)
		}
	}
}

// samples are files of every language with tests.
var samples = map[string]string{
	"a_test.go": goFile, "test_a.py": pyFile, "a.test.ts": jsFile, "a.test.js": strings.ReplaceAll(jsFile, "import { a } from", "const a ="),
	"src/a.rs": rustFile, "ATest.java": javaFile, "ATest.kt": kotlinFile, "a_test.cc": cppFile, "tests/a.c": cFile,
}

// TestIdentity: a file that does not change touches nothing; one that comes or goes touches all that it has.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for path, src := range samples {
		f, ok := Read(path, []byte(src))
		if !ok || len(f.Tests) < 2 {
			t.Fatalf("%s: %v, %d tests", path, ok, len(f.Tests))
		}
		if got := Compare(path, []byte(src), []byte(src)); !cmp.Equal(got, Change{}) {
			t.Errorf("%s: no change touches %v", path, got)
		}
		for how, got := range map[How]Change{Added: Compare(path, nil, []byte(src)), Deleted: Compare(path, []byte(src), nil)} {
			if len(got.Touched) != len(f.Tests) || slices.ContainsFunc(got.Touched, func(x Touch) bool { return x.How != how }) {
				t.Errorf("%s: %s touches %d of %d tests:\n%s", path, how, len(got.Touched), len(f.Tests), told(got))
			}
		}
	}
}

// TestUnread: what cannot be read touches everything, and says so.
func TestUnread(t *testing.T) {
	t.Parallel()
	got := Compare("a_test.go", []byte(goFile), []byte("package a\x00"))
	if !got.Unread || len(got.Touched) != 8 || got.Touched[0].How != Unsure {
		t.Errorf("%+v", got)
	}
	if Knows("a.txt") || !Knows("a.mjs") || !Compare("a.txt", []byte("a"), []byte("b")).Unread {
		t.Error("a text has tests")
	}
	deep := fmt.Sprintf("describe('a', () => { %s it('b', () => {}) %s })", strings.Repeat("{", 1000), strings.Repeat("}", 1000))
	if _, ok := Read("a.test.js", []byte(deep)); ok {
		t.Error("a file that nobody wrote was read")
	}
}

// TestAroundBeforeUnsure: of what stands around a test, that counts first whose use is known, whatever the order of the pieces.
func TestAroundBeforeUnsure(t *testing.T) {
	t.Parallel()
	before := "beforeEach(one);\nprepare(1);\nit('a', f);\n"
	after := "prepare(2);\nbeforeEach(two);\nit('a', f);\n"
	for range 50 {
		if got := told(Compare("a.test.js", []byte(before), []byte(after))); got != "around a" {
			t.Fatalf("%q", got)
		}
	}
}

// TestSuitesWithoutStarters: tests of one name in several suites that other files start keep their order.
func TestSuitesWithoutStarters(t *testing.T) {
	t.Parallel()
	src := "package a\nfunc (s *A) TestOne() { s.a() }\nfunc (s *B) TestOne() { s.b() }\nfunc (s *C) TestOne() { s.c() }\n"
	for range 50 {
		if got := told(Compare("a_test.go", []byte(src), []byte(src+"var x int\n"))); got != "elsewhere int x" {
			t.Fatalf("%q", got)
		}
	}
}
