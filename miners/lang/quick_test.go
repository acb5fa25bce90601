package lang

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is read without a parser is what the parser reads.
func TestQuickCommentsAreTheParsers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, language, src string }{
		{"c", "C", "int a; // one\n/* two\n lines */ char *s = \"// no /* no\"; char c = '\"'; // three \\\n goes on\nint b;\n"},
		{"c: escapes", "C", "char *s = \"a\\\"// b\"; /* x */ char q = '\\''; // y\n"},
		{"c: no final newline", "C", "int a; // end"},
		{"c: directive with an apostrophe", "C", "#if 0\n#error don't\n#endif\nint a; // b\n"},
		{"c++: digits", "C++", "auto n = 1'000'000; // million\n"},
		{"java", "Java", "class A { /** doc */ String s = \"/*\"; char c = '\"'; // x\n}\n"},
		{"python", "Python", "a = '#' # one\nb = \"\"\"\n# no\n\"\"\" # two\nc = r'\\'' # three\n# four\n"},
		{"python: docstring", "Python", "def f():\n    '''a # b'''\n    # c\n    return \"x\\\"#\" # d\n"},
		{"python: end", "Python", "x = 1 # end"},
		{"python: empty strings", "Python", "x = '' # a\ny = \"\" # b\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := quickComments(test.language, []byte(test.src))
			want, parsed := grammars[test.language].comments([]byte(test.src))
			if !ok || !parsed {
				t.Fatal(ok, parsed)
			}
			if d := cmp.Diff(markLines([]byte(test.src), want), markLines([]byte(test.src), got)); d != "" {
				t.Errorf("%v, the parser says %v: %s", got, want, d)
			}
		})
	}
}

func TestQuickCommentsLeaveTheRestToTheParser(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, src string }{
		{"C++", "auto s = R\"(// no)\";\n"}, {"Java", "String s = \"\"\"\n // no\n \"\"\";\n"}, {"C", "int a; /* open\n"},
		{"Python", "s = 'open\n# what is this\n"}, {"Python", "s = '''open\n# what is this\n"}, {"JavaScript", "a = /\\/\\//; // b\n"},
	} {
		if _, ok := quickComments(test.language, []byte(test.src)); ok {
			t.Errorf("%s: %q was read without a parser", test.language, test.src)
		}
	}
}

func FuzzQuickComments(f *testing.F) {
	f.Add("C", "a // b\n/* c */ \"d\" 'e'\\\n")
	f.Add("Python", "'''a''' # b\n\"c\\\"\"\n")
	f.Fuzz(func(t *testing.T, language, src string) {
		comments, ok := quickComments(language, []byte(src))
		end := 0
		for _, c := range comments {
			if !ok || c.start < end || c.end <= c.start || c.end > len(src) {
				t.Fatalf("%s %q: %v", language, src, comments)
			}
			end = c.end
		}
	})
}
