package leak

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLex(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, text, want string }{
		{"Go", "a.go", "x := f(\"a b\", 'c') // say so\ny = `r\naw`", "n:x n:f s:a b s:c c: say so n:y s:r\naw"},
		{"Python", "a.py", "def f(x): # why\n  '''doc\n  more''' ; return r'a\\'b'", "n:def n:f n:x c: why s:doc\n  more n:return n:r s:a\\'b"},
		{"a docstring that began before", "a.py", "end of doc\n\"\"\"\nx = 1", "n:end n:of n:doc n:x #:1"},
		{"Rust lifetimes", "a.rs", "fn f<'a>(x: &'a str) -> char { 'x' }", "n:fn n:f n:a n:x n:a n:str n:char s:x"},
		{"numbers", "a.c", "x = 0x1F + 1.5e3 + 1_000; // 7.", "n:x #:0x1F #:1.5e3 #:1_000 c: 7."},
		{"a string without end", "a.js", "x = 'a\ny", "n:x n:a n:y"},
		{"C comment over lines", "a.c", "a /* b\nc */ d", "n:a c: b\nc  n:d"},
		{"a comment without end", "a.c", "a /* b", "n:a n:b"},
		{"prose", "a.md", "It's \"x\" # 1", "n:It n:s n:x #:1"},
		{"SQL", "a.sql", "select 1 -- one", "n:select #:1 c: one"},
		{"Lisp quotes", "a.el", "(f 'x \"y\") ; z", "n:f n:x s:y c: z"},
		{"HTML", "a.html", "<a b=\"c\"><!-- d -->", "n:a n:b s:c c: d "},
		{"by the file's name", "Makefile", "a: b # c", "n:a n:b c: c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, tok := range Lex(tt.file, tt.text) {
				got = append(got, map[TokenKind]string{Name: "n:", Literal: "s:", Number: "#:", Comment: "c:"}[tok.Kind]+tok.Text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"retryBudget": "retry budget", "RETRY_BUDGET": "retry budget", "--retry-budget": "retry budget", "HTTPServer": "http server",
		"parseURLs": "parse urls", "base64Decode": "base64 decode", "x": "x", "__init__": "init", "": "", "ÄpfelUndBirnen": "äpfel und birnen",
		"IP6_TNL": "ip6 tnl", "getX2Y": "get x2 y",
	} {
		if got := strings.Join(Split(name), " "); got != want {
			t.Errorf("Split(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestReadPatch(t *testing.T) {
	t.Parallel()
	const patch = "From: someone\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ head\n a\n--- b\n+++ c\n\n\\ No newline at end of file\n" +
		"@@ -9 +9 @@\n-old\n+new\n-- \n2.1\n--- a/y\t2020\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" +
		"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+fresh\n"
	var got []string
	for _, f := range ReadPatch(patch) {
		s := f.Path
		if f.New {
			s += " new"
		}
		for _, h := range f.Hunks {
			s += " | " + strings.ReplaceAll(h.Before+"=>"+h.After, "\n", "/")
			for i := range strings.Count(h.After, "\n") {
				if h.Added[i] {
					s += "+" + strconv.Itoa(i)
				}
			}
		}
		got = append(got, s)
	}
	want := []string{"x | a/-- b//=>a/++ c//+1 | old/=>new/+0", "y | gone/=>", "n new | =>fresh/+0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
