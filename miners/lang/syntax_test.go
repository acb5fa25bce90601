package lang

import (
	"bytes"
	"strings"
	"testing"
)

func TestSameSyntax(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path, a, b string
		same, known      bool
	}{
		{"identical unknown language", "a.xyz", "x", "x", true, true},
		{"unknown language", "a.xyz", "x", "x ", false, false},

		{"go layout", "a.go", "package a\nfunc f(a int,b int){return}\n", "package a\n\n// f.\nfunc f(\n\ta int,\n\tb int,\n) {\n\treturn\n}\n", true, true},
		{"go crlf", "a.go", "package a\nvar x = `a\nb`\n", "package a\r\nvar x = `a\r\nb`\r\n", true, true},
		{"go change", "a.go", "package a\nvar x = 1\n", "package a\nvar x = 2\n", false, true},
		{"go directive", "a.go", "package a\nvar x string\n", "package a\n//go:embed x\nvar x string\n", false, true},
		{"go statements joined", "a.go", "package a\nfunc f() { a\n(b) }\n", "package a\nfunc f() { a(b) }\n", false, true},
		{"go cgo", "a.go", "package a\n// int x;\nimport \"C\"\n", "package a\n// int y;\nimport \"C\"\n", false, true},
		{"go broken", "a.go", "package a\nvar x = \"\n", "package a\nvar x = \"\n//\n", false, false},
		{"go different, then broken", "a.go", "package a\nvar x = \"\n", "package b\n", false, true},
		{"go marks in a row", "a.go", "package a\nfunc f() { for ;; { } ; ; }\n", "package a\nfunc f() { for ;; {} ; }\n", false, true},
		{"go string", "a.go", "package a\nvar x = \"a b\"\n", "package a\nvar x = \"ab\"\n", false, true},

		{"python layout", "a.py", "def f(a,b):\n  return a+b\n", "# c\ndef f(\n    a,\n    b,\n):\n    return a + b  # d\n", true, true},
		{"python quotes", "a.py", "x = 'a'\n", "x = \"a\"\n", true, true},
		{"python block", "a.py", "if a:\n  b\n  c\n", "if a:\n  b\nc\n", false, true},
		{"python tuple", "a.py", "x = (a,)\n", "x = (a)\n", false, true},
		{"python index", "a.py", "x = y[a,]\n", "x = y[a]\n", false, true},
		{"python string space", "a.py", "x = 'a  b'\n", "x = 'a b'\n", false, true},
		{"python docstring", "a.py", "def f():\n  'a'\n", "def f():\n  'b'\n", false, true},
		{"python broken", "a.py", "def f(:\n", "def  f(:\n", false, false},

		{"javascript layout", "a.js", "const a=[1,2];f('x')\n", "const a = [\n  1,\n  2,\n];\nf(\"x\"); // c\n", true, true},
		{"javascript semicolon inserted", "a.js", "function f() { return\nx }\n", "function f() { return x }\n", false, true},
		{"javascript hole", "a.js", "a = [,]\n", "a = []\n", false, true},
		{"javascript template", "a.js", "a = `x  ${b} `\n", "a = `x ${b} `\n", false, true},
		{"javascript for", "a.js", "for (a;b;) {}\n", "for (a;;b) {}\n", false, true},
		{"typescript layout", "a.ts", "type A={x:number;y:string};f()\n", "type A = {\n  x: number;\n  y: string;\n}\nf()\n", true, true},
		{"tsx text", "a.tsx", "a = <p>x y</p>\n", "a = <p>xy</p>\n", false, true},

		{"c layout", "a.c", "int f(int a){return a+1;}\n", "/* f */\nint f(int a)\n{\n\treturn a + 1; // c\n}\n", true, true},
		{"c semicolon", "a.c", "void f(){if(a);b();}\n", "void f(){if(a)b();}\n", false, true},
		{"c++ layout", "a.cpp", "auto x=f<int>(1);\n", "auto x = f<int>( 1 );\n", true, true},
		{"java layout", "A.java", "class A{int x=1;}\n", "/** d */\nclass A {\n  int x = 1;\n}\n", true, true},
		{"java change", "A.java", "class A{int x=1;}\n", "class A{int y=1;}\n", false, true},
		{"rust layout", "a.rs", "fn f(a:u8){g(a)}\n", "/// doc\nfn f(\n    a: u8,\n) {\n    g(a)\n}\n", true, true},
		{"rust return", "a.rs", "fn f()->u8{g();1}\n", "fn f()->u8{g();1;}\n", false, true},
		{"rust macro", "a.rs", "fn f(){m!(a,)}\n", "fn f(){m!(a)}\n", false, true},
		{"ruby layout", "a.rb", "def f(a)\na+1\nend\n", "# c\ndef f(a)\n  a + 1\nend\n", true, true},
		{"ruby heredoc", "a.rb", "x = <<E\n a\nE\n", "x = <<E\n  a\nE\n", false, true},
		{"ruby quotes", "a.rb", "x = '#{a}'\n", "x = \"#{a}\"\n", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				same, known := SameSyntax(tt.path, []byte(pair[0]), []byte(pair[1]))
				if same != tt.same || known != tt.known {
					t.Errorf("SameSyntax(%q, %q) = %v, %v; want %v, %v", pair[0], pair[1], same, known, tt.same, tt.known)
				}
			}
		})
	}
}

// Blank lines between top-level statements are layout in every language, and a new statement never is.
func TestSameSyntaxBlankLinesAndStatements(t *testing.T) {
	t.Parallel()
	for path, stmt := range map[string]string{
		"a.go": "var x = f(1)\n", "a.py": "x = f(1)\n", "a.js": "x = f(1);\n", "a.ts": "x = f(1);\n", "a.tsx": "x = f(1);\n",
		"a.c": "int x = 1;\n", "a.cc": "int x = 1;\n", "A.java": "class A { int x = 1; }\n", "a.rs": "fn f() { x(1) }\n", "a.rb": "x = f(1)\n",
	} {
		pre := ""
		if path == "a.go" {
			pre = "package a\n"
		}
		a := []byte(pre + strings.Repeat(stmt, 3))
		b := bytes.ReplaceAll(a, []byte("\n"), []byte("\n\n"))
		if same, known := SameSyntax(path, a, b); !same || !known {
			t.Errorf("%s: blank lines: %v, %v", path, same, known)
		}
		if same, known := SameSyntax(path, a, append(b, stmt...)); same || !known {
			t.Errorf("%s: a statement more: %v, %v", path, same, known)
		}
	}
}

func FuzzSameSyntax(f *testing.F) {
	paths := []string{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.c", "a.cc", "A.java", "a.rs", "a.rb", "a.txt"}
	for i, s := range []string{"package a", "x = [1,]\n", "a = `x${y}`", "f(;", "<a>b</a>", "#define A \\\nb", "R\"(", "class A{", "m!{}", "<<E"} {
		f.Add(uint8(i), []byte(s), []byte(s+"\n"))
	}
	f.Fuzz(func(t *testing.T, which uint8, a, b []byte) {
		path := paths[int(which)%len(paths)]
		ab, knownAB := SameSyntax(path, a, b)
		ba, knownBA := SameSyntax(path, b, a)
		if ab != ba || knownAB != knownBA {
			t.Errorf("not symmetric: %v %v, %v %v", ab, knownAB, ba, knownBA)
		}
		if ab && !knownAB {
			t.Error("same but not known")
		}
	})
}
