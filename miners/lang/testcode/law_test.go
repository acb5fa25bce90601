package testcode

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shape writes n tests, each with its own body, in one language, and says what a test of a number is called.
type shape struct {
	path string
	file func(bodies []string) string
	name func(int) string
}

func joined(bodies []string, head, each, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i, body := range bodies {
		fmt.Fprintf(&b, each, i, body)
	}
	return b.String() + tail
}

// shapes are files with tests whose bodies may change; a %d is the test's number, a %s its body, which is one call.
var shapes = []shape{
	{"a_test.go", func(b []string) string {
		return joined(b, "package a\nfunc help() {}\n", "func TestN%d(t *testing.T) { %s }\n", "")
	}, func(i int) string { return fmt.Sprintf("TestN%d", i) }},
	{"test_a.py", func(b []string) string {
		return joined(b, "import x\nclass TestC:\n", "    def test_n%d(self):\n        %s\n", "def last(): pass\n")
	}, func(i int) string { return fmt.Sprintf("TestC > test_n%d", i) }},
	{"a.test.ts", func(b []string) string {
		return joined(b, "describe('d', () => {\n", "it('n %d', () => { %s });\n", "})\n")
	}, func(i int) string { return fmt.Sprintf("d > n %d", i) }},
	{"src/a.rs", func(b []string) string {
		return joined(b, "#[cfg(test)]\nmod tests {\n", "#[test]\nfn n%d() { %s; }\n", "}\n")
	}, func(i int) string { return fmt.Sprintf("tests > n%d", i) }},
	{"ATest.java", func(b []string) string {
		return joined(b, "class ATest {\n", "@Test void n%d() { %s; }\n", "}\n")
	}, func(i int) string { return fmt.Sprintf("ATest > n%d", i) }},
	{"ATest.kt", func(b []string) string {
		return joined(b, "class ATest {\n", "@Test\nfun n%d() { %s }\n", "}\n")
	}, func(i int) string { return fmt.Sprintf("ATest > n%d", i) }},
	{"a_test.cc", func(b []string) string {
		return joined(b, "int help();\n", "TEST(S, N%d) { %s; }\n", "")
	}, func(i int) string { return fmt.Sprintf("S > N%d", i) }},
	{"tests/a.c", func(b []string) string {
		return joined(b, "int help();\n", "static void test_n%d(void) { %s; }\n", "int main(void) { return 0; }\n")
	}, func(i int) string { return fmt.Sprintf("test_n%d", i) }},
}

// TestOneChangeTouchesOneTest: whatever tests a file has, a change of some of them touches these and no others; and nothing changes the other
// way round.
func TestOneChangeTouchesOneTest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(shapes).Draw(t, "shape")
		body := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("check(%d)", rapid.IntRange(0, 9).Draw(t, "n")) })
		before := rapid.SliceOfN(body, 1, 8).Draw(t, "bodies")
		after := slices.Clone(before)
		var want []string
		for i := range after {
			if rapid.Bool().Draw(t, "changes") {
				after[i] = body.Draw(t, "body")
			}
			if after[i] != before[i] {
				want = append(want, s.name(i))
			}
		}
		for _, pair := range [][2][]string{{before, after}, {after, before}} {
			c := Compare(s.path, []byte(s.file(pair[0])), []byte(s.file(pair[1])))
			var got []string
			for _, x := range c.Touched {
				if got = append(got, x.String()); x.How != Modified {
					t.Errorf("%s: %s is %s", s.path, x, x.How)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v touched, %v changed", s.path, got, want)
			}
		}
	})
}

// TestAnyPieceOfAFile: removing any lines of a file never panics, and touches only tests that one of the versions has.
func TestAnyPieceOfAFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		paths := make([]string, 0, len(samples))
		for p := range samples {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		path := rapid.SampledFrom(paths).Draw(t, "path")
		all := strings.SplitAfter(samples[path], "\n")
		from := rapid.IntRange(0, len(all)).Draw(t, "from")
		to := rapid.IntRange(from, len(all)).Draw(t, "to")
		after := strings.Join(all[:from], "") + strings.Join(all[to:], "")
		known(t, path, []byte(samples[path]), []byte(after))
	})
}

type failer interface{ Errorf(string, ...any) }

// known checks that a change names tests of its versions only, each once.
func known(t failer, path string, before, after []byte) {
	names := map[string]bool{}
	for _, src := range [][]byte{before, after} {
		if f, ok := Read(path, src); ok {
			for _, x := range f.Tests {
				names[x.key()] = true
				if x.Lines.First < 1 || x.Lines.Last < x.Lines.First {
					t.Errorf("%s: %s stands in the lines %v", path, x, x.Lines)
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, x := range Compare(path, before, after).Touched {
		if !names[x.key()] || seen[x.key()] {
			t.Errorf("%s: %q is touched, again: %v", path, x.key(), seen[x.key()])
		}
		seen[x.key()] = true
	}
}

func FuzzCompare(f *testing.F) {
	for path, src := range samples {
		f.Add(path, []byte(src), []byte(src[:len(src)/2]))
	}
	f.Add("a.test.js", []byte("it(\"\\"), []byte("it(`${"))
	f.Add("a.test.js", []byte("it('a'+"), []byte("test.each(1)('',()=>{})"))
	f.Add("test_a.py", []byte("class A(A):\n def test_(s):0\nclass B(A,B):\n pass"), []byte("@fixture(name=)\ndef f():0"))
	f.Add("a.rs", []byte("#[test]\nuse a::{b,c::{*"), []byte("#![cfg(test)]\nmod"))
	f.Add("a.kt", []byte("class"), []byte("fun"))
	f.Add("a_test.cc", []byte("TEST("), []byte("TEST_CASE() {}"))
	f.Fuzz(func(t *testing.T, path string, before, after []byte) {
		if len(before)+len(after) > 64<<10 {
			return
		}
		known(t, path, before, after)
	})
}

// TestReal reads a file that SLUICE_TESTCODE names, for a look at what it holds.
func TestReal(t *testing.T) {
	name := os.Getenv("SLUICE_TESTCODE")
	if name == "" {
		t.Skip("SLUICE_TESTCODE names no file")
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := Read(name, src)
	for _, x := range f.Tests {
		t.Log(x.Lines, x)
	}
	if !ok || len(f.Tests) == 0 {
		t.Error("no tests")
	}
}
