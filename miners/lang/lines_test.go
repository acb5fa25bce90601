package lang

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each source is written with a mark before every line: "+" for code, "-" for the others.
func TestCodeLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, marked string }{
		{"go", "a.go", `
			-// Package a is.
			+package a
			-
			+//go:embed x.txt
			+var x string // trailing
			-/* block
			-
			-   end */
			+/* before */ var y = 1
			+var s = "// not a comment"
			+var r = ` + "`" + `
			-
			+/* not one */
			+` + "`" + ` /* but
			-this is */
			+func f() {}`},
		{"python", "a.py", `
			-# comment
			+"""Docstring.
			-
			+# inside it
			+"""
			+x = dedent('''
			+   # text
			+''')
			-
			-    # indented
			+y = "#"  # trailing`},
		{"javascript", "a.mjs", `
			-// c
			+const a = "/*"
			-/**
			- * doc
			- */
			+const r = /[/*]/ // x
			+const t = ` + "`" + `
			+// text
			+` + "`" + ``},
		{"typescript", "a.ts", `
			-/* c */
			+type A = "//" // c
			+let x = <any>y`},
		{"tsx", "a.tsx", `
			-// c
			+const x = <p>// text</p>`},
		{"c", "a.h", `
			-/* a */ // b
			+#define X 1 /* c
			-*/
			+char *s = "/*";
			+int y; // "*/
			-// over \
			-the line`},
		{"c++", "a.cc", `
			-// c
			+auto s = R"(// text
			+/* )";
			-/* c */`},
		{"java", "A.java", `
			-/** doc */
			+class A { String s = "//"; }
			-  // c`},
		{"rust", "a.rs", `
			-//! doc
			-/// doc
			-/* nested /* here */
			-*/
			+fn a() { let s = r#"// text"#; } // c`},
		{"ruby", "a.rb", `
			-# c
			-=begin
			-text
			-=end
			+x = <<~E
			+  # text
			+E
			+y = "#{1}" # c`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src, want := unmark(tt.marked)
			for name, s := range map[string]string{"lf": src, "crlf": strings.ReplaceAll(src, "\n", "\r\n")} {
				got, ok := CodeLines(tt.path, []byte(s))
				if diff := cmp.Diff(want, got); diff != "" || !ok {
					t.Errorf("%s: ok %v, -want +got\n%s", name, ok, diff)
				}
			}
		})
	}
}

func unmark(marked string) (src string, want []bool) {
	for i, line := range strings.Split(strings.TrimPrefix(marked, "\n"), "\n") {
		line = strings.TrimLeft(line, "\t")
		if i > 0 {
			src += "\n"
		}
		src += line[1:]
		want = append(want, line[0] == '+')
	}
	return src + "\n", want
}

func TestCodeLinesUnknown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, src string }{
		{"language", "a.unknown", "# x\n\n \t\r\ny"},
		{"binary", "a.go", "# x\n\n \t\r\ny\x00"},
		{"large", "a.py", "# x\n\n \t\r\ny" + strings.Repeat("z", maxSource)},
	} {
		got, ok := CodeLines(tt.path, []byte(tt.src))
		if diff := cmp.Diff([]bool{true, false, false, true}, got); diff != "" || ok {
			t.Errorf("%s: ok %v, -want +got\n%s", tt.name, ok, diff)
		}
	}
	if got, _ := CodeLines("a.go", nil); len(got) != 0 {
		t.Errorf("an empty file has %d lines", len(got))
	}
}

func FuzzCodeLines(f *testing.F) {
	paths := []string{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.c", "a.cc", "A.java", "a.rs", "a.rb", "a.txt"}
	for i, s := range []string{"", "\n", "// a\r\n", "/*", "\"\"\"\n#", "`", "x = '''", "<<E\n", "r#\"", "\xff\xfe", "#{", "<!--", "=begin\n"} {
		f.Add(uint8(i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, which uint8, src []byte) {
		got, _ := CodeLines(paths[int(which)%len(paths)], src)
		want := bytes.Count(src, []byte("\n"))
		if len(src) > 0 && src[len(src)-1] != '\n' {
			want++
		}
		if len(got) != want {
			t.Errorf("%d lines, want %d", len(got), want)
		}
	})
}

func BenchmarkCodeLines(b *testing.B) {
	for path, line := range map[string]string{
		"a.go": "\tif x := f(a, b); x > 0 { // note\n", "a.py": "x = f(a, b, c)  # note\n", "a.c": "x = f(a, b, c); /* note */\n",
	} {
		src := []byte(strings.Repeat(line, 2000))
		b.Run(path, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				CodeLines(path, src)
			}
		})
	}
}
