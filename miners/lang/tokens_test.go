package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// brief writes tokens line by line, names with a mark.
func brief(tokens []Token) string {
	var out strings.Builder
	line := 0
	for _, t := range tokens {
		if t.Line != line {
			fmt.Fprintf(&out, "\n%d:", t.Line)
			line = t.Line
		}
		mark := ""
		if t.Name {
			mark = "$"
		}
		out.WriteString(" " + mark + t.Text)
	}
	return strings.TrimPrefix(out.String(), "\n")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, src, want string }{
		{"a.go", "package a\n\n//line x.go:9\n// c\nvar x = `p\nq`; f(\"s\") // d\n", "1: package $a\n5: var $x = `p\n6: q` ; $f ( \"s\" )"},
		{"a.py", "# c\ndef f(a):\n    return a + \"x y\"\n", "2: def $f ( $a ) :\n3: return $a + \" x y \""},
		{"a.py", "x = '''p\n\nq'''\n", "1: $x = ''' p\n3: q '''"},
		{"a.c", "int f(struct s *p) { return p->n; /* c\n */ }\n", "1: int $f ( struct $s * $p ) { return $p -> $n ;\n2: }"},
		{"a.js", "let a = {b, c: `x ${d}`};\n", "1: let $a = { $b , $c : ` x ${ $d } ` } ;"},
		{"A.java", "class A { int x; }\n", "1: class $A { int $x ; }"},
		{"a.rb", "def f(a)\n  @b = C\nend\n", "1: def $f ( $a )\n2: $@b = $C\n3: end"},
	} {
		got, ok := Tokens(tt.path, []byte(tt.src))
		if diff := cmp.Diff(tt.want, brief(got)); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
	for path, src := range map[string]string{"a.txt": "x", "a.go": "a\x00b", "a.py": strings.Repeat("x\n", maxSource)} {
		if tokens, ok := Tokens(path, []byte(src)); ok || tokens != nil {
			t.Errorf("%s: %d tokens", path, len(tokens))
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, src string
		want      []Span
	}{
		{"a.go", "package a\n\n//line b.go:50\nfunc f() {\n\tg := func() {}\n}\n\nfunc (t T) m() {}\n", []Span{{4, 6}, {8, 8}}},
		{"a.go", "package a\n\nfunc f() {\n}\n\nfunc g( {\n", []Span{{3, 4}, {6, 6}}},
		{"a.py", "import x\n\n@d\ndef f():\n    def g():\n        pass\n    return g\n\nclass C:\n    def m(self):\n        pass\n", []Span{{4, 7}, {10, 11}}},
		{"a.c", "int x;\nint f(void)\n{\n}\n", []Span{{2, 4}}},
		{"a.js", "const f = () => {\n  g();\n};\nclass A {\n  m() {\n  }\n}\nfunction h() {}\n", []Span{{1, 3}, {5, 6}, {8, 8}}},
		{"A.java", "class A {\n  A() {}\n  void m() {\n  }\n}\n", []Span{{2, 2}, {3, 4}}},
		{"a.rb", "class A\n  def m\n  end\nend\n", []Span{{2, 3}}},
		{"a.rs", "fn f() {\n}\nimpl T { fn g() {} }\n", []Span{{1, 2}, {3, 3}}},
	} {
		got, ok := Functions(tt.path, []byte(tt.src))
		if diff := cmp.Diff(tt.want, got); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
	if _, ok := Functions("a.txt", []byte("x")); ok {
		t.Error("text has functions")
	}
}

// Tokens are what the lines of code hold: in order, within the file, none empty, each to be found on its line.
func FuzzTokens(f *testing.F) {
	paths := []string{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.c", "a.cc", "A.java", "a.rs", "a.rb"}
	for i, s := range []string{"package a", "x = '''\n", "a = `x${y}`", "f(;", "<a>b</a>", "#define A \\\nb", "R\"(", "class A{", "m!{}", "<<E"} {
		f.Add(uint8(i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, which uint8, src []byte) {
		path := paths[int(which)%len(paths)]
		tokens, _ := Tokens(path, src)
		lines := strings.Split(string(src), "\n")
		last := 1
		for _, tok := range tokens {
			if tok.Line < last || tok.Line > len(lines) || tok.Text == "" {
				t.Fatalf("%s: %+v after line %d of %d", path, tok, last, len(lines))
			}
			if path != "a.go" && !strings.Contains(lines[tok.Line-1], tok.Text) {
				t.Fatalf("%s: %q is not on line %d, %q", path, tok.Text, tok.Line, lines[tok.Line-1])
			}
			last = tok.Line
		}
		end := 0
		spans, _ := Functions(path, src)
		for _, s := range spans {
			if s.First < max(end, 1) || s.Last < s.First || s.Last > len(lines) {
				t.Fatalf("%s: %+v after line %d of %d", path, s, end, len(lines))
			}
			end = s.Last
		}
	})
}
