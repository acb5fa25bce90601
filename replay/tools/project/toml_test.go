package project

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// TestDecodeTOML: what the library would take minutes for is refused, and dots and brackets in strings and comments are neither.
func TestDecodeTOML(t *testing.T) {
	t.Parallel()
	many := func(s string) string { return strings.Repeat(s, 5000) }
	for name, tt := range map[string]struct {
		text string
		deep bool
	}{
		"a key":             {many("a.") + "a = 1", true},
		"quoted parts":      {many(`"a".`) + "a = 1", true},
		"a table":           {"[" + many("a.") + "a]", true},
		"arrays":            {"a = " + many("[") + many("]"), true},
		"inline tables":     {"a = " + many("{a = ") + "1" + many("}"), true},
		"prose":             {`a = "` + many("A word. [x] ") + `"`, false},
		"an escaped quote":  {`a = "\"` + many("w. [") + `"`, false},
		"a literal":         {`a = '` + many(`w. [\`) + `'`, false},
		"several lines":     {"a = \"\"\"\n" + many("w. \"[\"\n") + "\"\"\"", false},
		"a comment":         {"# " + many("w. [") + "\na = 1", false},
		"many short ones":   {many("[[a]]\n'b.c'.d = [1.5, 2.5]\n"), false},
		"behind quotes":     {`a = ["""x"""", ` + many("["), true},
		"an open string":    {`a = "` + many("w. ["), false},
		"nothing at an end": {"#", false},
	} {
		var m map[string]any
		err := DecodeTOML(tt.text, &m)
		if (err == errDeep) != tt.deep {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzTOMLDepth: what the library reads with few parts and little nesting is not refused, and nothing panics.
func FuzzTOMLDepth(f *testing.F) {
	for _, s := range []string{"a.b = 1", `a = "x.y" # [`, "[a.'b.c']\nd = '''\n'''", `"`, "'''", "a = [[{b = 1}]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		var a, b map[string]any
		_, err := toml.Decode(s, &a)
		if got := DecodeTOML(s, &b); err == nil && got != nil && strings.Count(s, ".")+strings.Count(s, "[")+strings.Count(s, "{") <= maxTOMLDepth {
			t.Errorf("%q: %v", s, got)
		}
	})
}
