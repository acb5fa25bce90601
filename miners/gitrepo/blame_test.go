package gitrepo_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

func toEnd() []gitrepo.Range { return []gitrepo.Range{{First: 1}} }

// reformatted has a bug, a reformatting of everything, a rename with a change, and a line that is the header of nothing.
const reformatted = `
commit bug "m"
commit more "m"
commit format "m"
commit moved "m"
  rm "old name.txt"
-- bug/old name.txt --
func f() {
return 1
}
boundary
-- more/old name.txt --
func f() {
return 1
}
boundary
filename x
-- format/old name.txt --
func f() {
	return 1
}
boundary
filename x
-- moved/new.txt --
func f() {
	return 1
}
boundary
filename x
last
`

func blamed(r *gittest.Repo, lines []gitrepo.BlameLine) []string {
	var all []string
	for _, l := range lines {
		text := fmt.Sprintf("%d %s %s:%d", l.Line, r.Name(l.Commit), l.OrigPath, l.OrigLine)
		if l.Boundary {
			text += " boundary"
		}
		if l.Ignored {
			text += " ignored"
		}
		all = append(all, text)
	}
	return all
}

func TestBlame(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, reformatted)
	m := gitrepo.At(r.Dir)
	t.Cleanup(func() { m.Close() })
	two := []gitrepo.Range{{First: 2, Last: 2}}
	for name, c := range map[string]struct {
		ranges  []gitrepo.Range
		options gitrepo.BlameOptions
		want    []string
	}{
		"everything": {toEnd(), gitrepo.BlameOptions{}, []string{
			"1 bug old name.txt:1 boundary", "2 format old name.txt:2", "3 bug old name.txt:3 boundary", "4 bug old name.txt:4 boundary",
			"5 more old name.txt:5", "6 moved new.txt:6",
		}},
		"nothing":        {nil, gitrepo.BlameOptions{}, nil},
		"ranges":         {[]gitrepo.Range{{First: 6, Last: 6}, {First: 1, Last: 1}}, gitrepo.BlameOptions{}, []string{"1 bug old name.txt:1 boundary", "6 moved new.txt:6"}},
		"overlapping":    {[]gitrepo.Range{{First: 5, Last: 6}, {First: 6}}, gitrepo.BlameOptions{}, []string{"5 more old name.txt:5", "6 moved new.txt:6"}},
		"white space":    {two, gitrepo.BlameOptions{IgnoreSpace: true}, []string{"2 bug old name.txt:2 boundary"}},
		"ignored commit": {two, gitrepo.BlameOptions{IgnoreRevs: []string{r.ID("format")}}, []string{"2 bug old name.txt:2 boundary ignored"}},
		"unknown commits": {two, gitrepo.BlameOptions{IgnoreRevs: []string{strings.Repeat("1", 40), "abc", "--x"}}, []string{
			"2 format old name.txt:2",
		}},
	} {
		got, err := m.Blame(t.Context(), r.ID("moved"), "new.txt", c.ranges, c.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, blamed(r, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// wandering moves a block within its file, and then to another file.
const wandering = `
commit one "m"
commit move "m"
commit copy "m"
-- one/a.txt --
first line of the block, long enough to be told from all other lines
second line of the block, long enough to be told from all other lines
x
y
z
-- one/b.txt --
b
-- move/a.txt --
x
y
z
first line of the block, long enough to be told from all other lines
second line of the block, long enough to be told from all other lines
-- copy/a.txt --
x
y
z
-- copy/b.txt --
b
first line of the block, long enough to be told from all other lines
second line of the block, long enough to be told from all other lines
`

func TestBlameMovesAndCopies(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, wandering)
	m := gitrepo.At(r.Dir)
	t.Cleanup(func() { m.Close() })
	for _, c := range []struct {
		commit, path string
		line         int
		options      gitrepo.BlameOptions
		want         string
	}{
		{"move", "a.txt", 4, gitrepo.BlameOptions{}, "4 move a.txt:4"},
		{"move", "a.txt", 4, gitrepo.BlameOptions{Moves: true}, "4 one a.txt:1 boundary"},
		{"copy", "b.txt", 3, gitrepo.BlameOptions{Moves: true}, "3 copy b.txt:3"},
		{"copy", "b.txt", 3, gitrepo.BlameOptions{Moves: true, Copies: 1}, "3 one a.txt:2 boundary"},
		{"copy", "b.txt", 3, gitrepo.BlameOptions{Copies: 1, IgnoreRevs: []string{r.ID("move")}}, "3 one a.txt:2 boundary"},
		{"move", "a.txt", 5, gitrepo.BlameOptions{IgnoreRevs: []string{r.ID("move")}, Unmarked: true}, "5 one a.txt:2 boundary"},
	} {
		got, err := m.Blame(t.Context(), r.ID(c.commit), c.path, []gitrepo.Range{{First: c.line, Last: c.line}}, c.options)
		if diff := cmp.Diff([]string{c.want}, blamed(r, got)); err != nil || diff != "" {
			t.Errorf("%+v (-want +got):\n%s%v", c.options, diff, err)
		}
	}
}

func TestBlameErrors(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, reformatted)
	m := gitrepo.At(r.Dir)
	t.Cleanup(func() { m.Close() })
	_, err := m.Blame(t.Context(), r.ID("moved"), "nope", toEnd(), gitrepo.BlameOptions{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	_, err = m.Blame(t.Context(), r.ID("moved"), "new.txt", []gitrepo.Range{{First: 70, Last: 80}}, gitrepo.BlameOptions{})
	if err == nil || !strings.Contains(err.Error(), "only 6 lines") {
		t.Errorf("no such line: %v", err)
	}
	if _, err = m.Blame(t.Context(), "--contents=/etc/passwd", "new.txt", toEnd(), gitrepo.BlameOptions{}); err == nil {
		t.Error("an option passes for a commit")
	}
}

func TestBlameOddPaths(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	paths := []string{"日本", "a\"b", "t\tab", "new\nline", "bad\xff", "-L1", " ", ":(top)x"}
	files := map[string]string{}
	for _, path := range paths {
		files[path] = "x\r\nno newline"
	}
	b.Add(gittest.Commit{Name: "c", Message: "summary\xff", Files: files})
	dir := filepath.Join(t.TempDir(), "odd")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := gitrepo.At(dir)
	for _, path := range paths {
		got, err := m.Blame(t.Context(), ids["c"], path, toEnd(), gitrepo.BlameOptions{})
		if err != nil || len(got) != 2 || got[1].OrigPath != path {
			t.Errorf("%q: %+v, %v", path, got, err)
		}
	}
}

// Whatever the history, the answer is that of `git blame --line-porcelain`.
func TestBlameIsGits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		repo := filepath.Join(dir, fmt.Sprint("repo", runs))
		tip := drawHistory(rt, repo)
		got, err := gitrepo.At(repo).Blame(t.Context(), tip, "f", toEnd(), gitrepo.BlameOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		want := linePorcelain(gittest.At(t, repo).Git("blame", "--line-porcelain", tip, "--", "f"))
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("blame (-want +got):\n%s", diff)
		}
	})
}

// drawHistory commits to two branches and merges them, also with conflicts, whose resolution is drawn too.
func drawHistory(rt *rapid.T, dir string) (tip string) {
	b := gittest.NewBuilder()
	line := rapid.StringMatching(`[a-d]|\t|boundary`)
	content := func() string { return strings.Join(rapid.SliceOfN(line, 1, 12).Draw(rt, "lines"), "\n") + "\n" }
	b.Add(gittest.Commit{Name: "root", Message: "m", Files: map[string]string{"f": content()}})
	b.Branch("side", "")
	b.Add(gittest.Commit{Name: "side", Message: "m", Files: map[string]string{"f": content()}})
	steps := rapid.IntRange(1, 6).Draw(rt, "steps")
	for i := range steps {
		b.Branch(rapid.SampledFrom([]string{"main", "side"}).Draw(rt, "branch"), "")
		c := gittest.Commit{Name: fmt.Sprint(i), Message: "m", Files: map[string]string{"f": content()}}
		if rapid.Bool().Draw(rt, "merge") {
			b.Branch("main", "")
			b.Merge(c, "side")
			continue
		}
		b.Add(c)
	}
	b.Branch("main", "")
	b.Merge(gittest.Commit{Name: "tip", Message: "m", Files: map[string]string{"f": content()}}, "side")
	ids, err := b.BuildIn(dir)
	if err != nil {
		rt.Fatal(err)
	}
	return ids["tip"]
}

// linePorcelain reads the long form, in which every line says everything.
func linePorcelain(text string) []gitrepo.BlameLine {
	var all []gitrepo.BlameLine
	var now gitrepo.BlameLine
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "filename "); ok {
			now.OrigPath = name
		}
		now.Boundary = now.Boundary || line == "boundary"
		if strings.HasPrefix(line, "\t") {
			all = append(all, now)
			now = gitrepo.BlameLine{}
		} else if now.Commit == "" {
			fmt.Sscan(line, &now.Commit, &now.OrigLine, &now.Line)
		}
	}
	return all
}
