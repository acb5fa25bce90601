package testid

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name Name
		text string
		want bool
	}{
		{Name{"a"}, "a", true}, {Name{"a"}, "ab", false}, {Name{"a", ""}, "ab", true}, {Name{"a", "c"}, "abc", true}, {Name{"a", "c"}, "a", false},
		{Name{"ab", "bc"}, "abc", false}, {Name{"", "x", ""}, "axb", true}, {Name{"", "x", ""}, "ab", false}, {nil, "", false}, {Name{""}, "", true},
	} {
		if got := c.name.Match(c.text); got != c.want {
			t.Errorf("%q is %q: %v", c.text, c.name, got)
		}
	}
	f := Function{Path: []Name{{"", ""}, {"does ", ""}}}
	for text, want := range map[string]bool{"does x": true, "a > does x": true, "a > b > does x": true, "never": false} {
		if f.Joined(" > ").Match(text) != want {
			t.Errorf("%q is %q: %v", text, f.Joined(" > "), !want)
		}
	}
	if n := (Name{"test"}); !n.Begins("test(int)[1]", "([") || n.Begins("testing", "([") || !n.Begins("test", "") {
		t.Error("a name does not begin as it should")
	}
	if Unnumbered("a #1 > b#23") != "a #1 > b" {
		t.Error(Unnumbered("a #1 > b#23"))
	}
	if rest, ok := In("a/b.js", "a/b.js::c::d"); !ok || rest != "c::d" {
		t.Error(rest, ok)
	}
}

// TestFilled: whatever stands for what is not known, the name matches.
func TestFilled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := Name(rapid.SliceOfN(rapid.StringMatching(`[ab> ]{0,4}`), 1, 4).Draw(t, "name"))
		text := n[0]
		for _, piece := range n[1:] {
			text += rapid.StringMatching(`[ab> ]{0,4}`).Draw(t, "value") + piece
		}
		if !n.Match(text) {
			t.Fatalf("%q is not %q", text, n)
		}
		if len(n) == 1 && n.Match(text+"x") || len(n) > 1 && n.Match(strings.Repeat("x", 3)) && !n.any() {
			t.Fatalf("%q matches too much", n)
		}
	})
}
