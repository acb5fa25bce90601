package gitrepo

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

func reading(data []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(data)) }

func FuzzParseDiffs(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add([]byte(id + "\x00:100644 100755 " + id + " " + id + " R090\x00old\nname\x00new\tname\x00" + "3\t1\t\x00old\nname\x00new\tname\x00"))
	f.Add([]byte(id + "\x00:000000 160000 " + id + " " + id + " A\x00\xff\x00-\t-\t\xff\x00" + id + "\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = parseDiffs(reading(data), func(head string, files []FileChange) {
			if !objectID.MatchString(head) {
				t.Errorf("head %q", head)
			}
			for _, file := range files {
				if file.Path == "" || file.Status == "" || file.Added < -1 || file.Deleted < -1 {
					t.Errorf("file %+v", file)
				}
			}
		})
	})
}

func FuzzParseHunks(f *testing.F) {
	f.Add([]byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ f\n--- x\n\\ No newline at end of file\n+++ y\n+z\n@@ -9,0 +11 @@\n+@@ -1 +1 @@\n"))
	f.Add([]byte("--- \"a/t\\tab \\377\"\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = parseHunks(reading(data), func(file FileHunks) {
			if file.Path == "" || len(file.Hunks) == 0 {
				t.Errorf("file %+v", file)
			}
			for _, h := range file.Hunks {
				if h.Old.Last < h.Old.First-1 || h.New.Last < h.New.First-1 {
					t.Errorf("hunk %+v", h)
				}
			}
		})
	})
}

func FuzzParseBlame(f *testing.F) {
	id := strings.Repeat("b", 40)
	f.Add([]byte(id + " 1 1 2\nauthor A\nboundary\nfilename a b\n\tboundary\n" + id + " 2 2\n\t\xff\r"))
	f.Add([]byte(id + " 7 9 1\nprevious x y\nfilename \"q\\\"\\303\\251\"\n\t\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := parseBlame(reading(data))
		if err != nil {
			return
		}
		for _, line := range found {
			if line.Line < 1 || line.OrigLine < 1 || !objectID.MatchString(line.Commit) {
				t.Errorf("line %+v", line)
			}
		}
	})
}

func FuzzNextEntry(f *testing.F) {
	f.Add([]byte("100644 name\x00" + strings.Repeat("\x01", 20)))
	f.Add([]byte("40000 \xff\x00" + strings.Repeat("\x01", 19)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for len(data) > 0 {
			e, rest, err := nextEntry(data, 20)
			if err != nil {
				return
			}
			if len(rest) >= len(data) || len(e.id) != 40 {
				t.Fatalf("entry %+v leaves %d of %d bytes", e, len(rest), len(data))
			}
			data = rest
		}
	})
}

func FuzzUnquote(f *testing.F) {
	f.Add(`"a\tb\"c\\\377"`)
	f.Add(`"\4"`)
	f.Fuzz(func(t *testing.T, text string) {
		if out, err := unquote(text); err == nil && len(out) > len(text) {
			t.Errorf("unquote(%q) = %q", text, out)
		}
	})
}

func TestUnquote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"plain"`: "plain", `"a\tb\nc"`: "a\tb\nc", `"\"\\"`: `"\`, `"\346\227\245"`: "日", `"\377"`: "\xff", `"\a\b\v\f\r"`: "\a\b\v\f\r",
	} {
		if got, err := unquote(text); err != nil || got != want {
			t.Errorf("unquote(%s) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{``, `"`, `x`, `"\"`, `"\4"`, `"\999"`, `"\x41"`} {
		if got, err := unquote(text); err == nil {
			t.Errorf("unquote(%s) = %q", text, got)
		}
	}
}
