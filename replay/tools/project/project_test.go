package project

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func TestTree(t *testing.T) {
	t.Parallel()
	tree, err := Scan(t.Context(), tooltest.Tree{"a/b/c.txt": "\xff", "a/m": "", "link": "-> a/m"})
	if err != nil {
		t.Fatal(err)
	}
	if !tree.Has("a/m") || tree.Has("link") || tree.Has("a") || !tree.HasDir("a/b") || tree.HasDir("b") {
		t.Error("files and folders are mixed up, or a link is a file")
	}
	if text, err := tree.Read("a/b/c.txt"); text != "\uFFFD" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if text, err := tree.Read("link"); text != "" || err != nil {
		t.Errorf("a link was followed: %q, %v", text, err)
	}
	if root, ok := tree.Nearest([]string{"a/b/x", "/../a/y", "z"}, "m"); root != "a" || !ok {
		t.Errorf("nearest is %q, %v", root, ok)
	}
}

// TestUnfit: a tree that can be laid into no folder has no recipe, whatever else is in it, and costs nothing. One that just can is read.
func TestUnfit(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 255)
	for _, c := range []struct {
		path string
		fits bool
	}{
		{name, true}, {name + "n/x", false}, {strings.Repeat("d/", 1919) + "x", true}, {strings.Repeat("d/", 2000) + "x", false},
		{strings.Repeat("d/", 1<<20) + "x", false}, {"../config", false}, {"a/../b", false}, {"a//b", false}, {"..a", true}, {"a\nb", true},
	} {
		_, err := Scan(t.Context(), tooltest.Tree{c.path: "", "z/go.mod": "module m"})
		var none ErrNoRecipe
		if fits := err == nil; fits != c.fits || !fits && (!errors.As(err, &none) || len(none.Reason) > 400) {
			t.Errorf("%.20q of %d bytes: %v", c.path, len(c.path), err)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ root, name, inside, relative string }{
		{"", "a/b", "a/b", "./a/b"}, {"r", "../r/x", "r/x", "./x"}, {"r/s", "..", "r", ".."}, {"r", ".", "r", "."}, {"r", "..", "", ".."},
	} {
		got, ok := Inside(c.root, c.name)
		if got != c.inside || !ok {
			t.Errorf("inside %q, %q is %q, %v", c.root, c.name, got, ok)
		}
		if rel := Relative(c.root, c.inside); rel != c.relative {
			t.Errorf("from %q, %q is %q", c.root, c.inside, rel)
		}
	}
	for name, in := range map[string]bool{"r": true, "r/a": true, "rs/a": false, "a/r": false, "": false} {
		if Within("r", name) != in || !Within("", name) {
			t.Errorf("within a folder, or the tree: %q", name)
		}
	}
	for _, name := range []string{"/etc", "../..", "a/../../../x"} {
		if got, ok := Inside("r", name); ok {
			t.Errorf("%q is inside, as %q", name, got)
		}
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"in": "1", "other": "x"}
	r := replay.Recipe{Inputs: []string{"in"}, Install: []replay.Step{{Name: "i", Args: []string{"true"}}}}
	print := func(tree tooltest.Tree, r replay.Recipe) string {
		s, err := Fingerprint(t.Context(), tree, r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := print(tree, r)
	warm, noted := r, r
	warm.Install = append([]replay.Step{{Name: "w", Warm: true}}, r.Install...)
	noted.Notes, noted.Fingerprint = []string{"n"}, base
	if print(tree, warm) != base || print(tree, noted) != base || print(tooltest.Tree{"in": "1"}, r) != base {
		t.Error("what only saves time, or is not read, is part of the fingerprint")
	}
	if print(tooltest.Tree{"in": "2"}, r) == base || print(tooltest.Tree{}, r) == base {
		t.Error("the inputs are not part of it")
	}
}

func TestRoundUp(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2019-01-01T00:00:00Z": "2019-04-01", "2019-03-31T23:59:59Z": "2019-04-01", "2019-04-01T00:00:00Z": "2019-07-01",
		"2019-12-31T23:30:00-05:00": "2020-04-01", "2019-11-02T00:00:00Z": "2020-01-01",
	} {
		at, err := time.Parse(time.RFC3339, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := RoundUp(at).Format(Day); got != want || !RoundUp(at).After(at) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestDots: names that begin with a dot keep it.
func TestDots(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a": "", ".a": "", ".ci/a": ".ci", ".ci/.b/a": ".ci/.b", "c./a": "c."} {
		if got := Dir(name); got != want {
			t.Errorf("the folder of %q: %q", name, got)
		}
	}
	for name, want := range map[string]string{".ci/needs.txt": ".ci/needs.txt", ".": "", "./a": "a", "a/../.b": ".b"} {
		if got, ok := Inside("", name); got != want || !ok {
			t.Errorf("%q in the tree: %q, %v", name, got, ok)
		}
	}
	if _, ok := Inside("a", "../../.b"); ok {
		t.Error("a folder beside the tree's is in it")
	}
}

// TestSources: a long source is data, and of many as much is looked at as is bounded. A recipe's notes say so.
func TestSources(t *testing.T) {
	t.Parallel()
	all := tooltest.Tree{"long.py": strings.Repeat("#", maxSource+1)}
	for i := range maxSources/maxSource + 3 {
		all[fmt.Sprintf("s%03d.py", i)] = strings.Repeat("#", maxSource)
	}
	tree, err := Scan(t.Context(), all)
	if err != nil || tree.Notes() != nil {
		t.Fatal(err, tree.Notes())
	}
	looked := 0
	every := func(string) bool { return true }
	if err := tree.Sources(every, func(replay.File) error { looked++; return nil }); err != nil || looked != maxSources/maxSource {
		t.Errorf("%d sources were looked at, %v", looked, err)
	}
	if n := tree.Notes(); len(n) != 1 || !strings.HasPrefix(n[0], `4 sources were not looked at, such as "long.py"`) {
		t.Errorf("notes %q", n)
	}
	few, err := Scan(t.Context(), tooltest.Tree{"a.py": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := few.Sources(every, func(replay.File) error { return nil }); err != nil || few.Notes() != nil {
		t.Errorf("a small tree has notes: %q, %v", few.Notes(), err)
	}
}
