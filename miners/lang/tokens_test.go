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

var whole = []Span{{1, 1 << 30}}

// Only some lines may be wanted.
func TestReadWanted(t *testing.T) {
	t.Parallel()
	src := []byte("def f():\n    a = 1\n    b = \"\"\"x\n    y\"\"\"\n\n# c\ndef g():\n    c = 2\nd = 3\n")
	for _, tt := range []struct {
		wanted []Span
		want   string
	}{
		{[]Span{{2, 2}}, "2: $a = 1"},
		{[]Span{{4, 4}, {8, 9}}, "4: y \"\"\"\n8: $c = 2\n9: $d = 3"},
		{[]Span{{5, 7}}, "7: def $g ( ) :"},
		{nil, ""},
	} {
		o, ok := Read("a.py", src, tt.wanted)
		if got := brief(o.Tokens); !ok || got != tt.want || len(o.Functions) != 2 {
			t.Errorf("%v: %q, %v", tt.wanted, got, o.Functions)
		}
	}
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
		got, ok := Read(tt.path, []byte(tt.src), whole)
		if diff := cmp.Diff(tt.want, brief(got.Tokens)); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
	for path, src := range map[string]string{"a.txt": "x", "a.go": "a\x00b", "a.py": strings.Repeat("x\n", maxSource)} {
		if o, ok := Read(path, []byte(src), whole); ok || o.Tokens != nil {
			t.Errorf("%s: %d tokens", path, len(o.Tokens))
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
		got, ok := Read(tt.path, []byte(tt.src), nil)
		if diff := cmp.Diff(tt.want, got.Functions); !ok || len(got.Tokens) > 0 || diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
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
		o, _ := Read(path, src, whole)
		tokens, spans := o.Tokens, o.Functions
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
		for _, s := range spans {
			if s.First < max(end, 1) || s.Last < s.First || s.Last > len(lines) {
				t.Fatalf("%s: %+v after line %d of %d", path, s, end, len(lines))
			}
			end = s.Last
		}
	})
}
