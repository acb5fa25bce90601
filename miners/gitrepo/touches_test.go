package gitrepo

import (
	"bufio"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

func TestEachCommitListsWhatCommitsTouch(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, `
commit one "Add\n\nbody"
commit two "Move"
  rm a.txt
branch topic one
commit side "Side"
branch main
merge three topic "Merge"
-- one/a.txt --
a
-- one/odd "name" 日本.txt --
x
-- two/b.txt --
a
-- side/c.txt --
c
`)
	m, err := Open(t.Context(), r.Dir, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	names := map[string]string{}
	for name, id := range r.IDs {
		names[id] = name
	}
	got := map[string][]string{}
	seen := map[string]bool{}
	err = m.EachCommit(t.Context(), []string{r.IDs["three"]}, func(c CommitTouches) error {
		for _, p := range c.Parents {
			if seen[p] {
				t.Errorf("%s comes after its parent", names[c.ID])
			}
		}
		seen[c.ID] = true
		list := []string{c.Subject}
		for _, touch := range c.Touches {
			list = append(list, string(touch.Status)+" "+touch.Path)
			if (touch.ID == "") != (touch.Status == Deleted) {
				t.Errorf("%s: blob %q of %s", names[c.ID], touch.ID, touch.Path)
			}
		}
		got[names[c.ID]] = list
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"one": {"Add", "added a.txt", "added odd \"name\" 日本.txt"}, "two": {"Move", "deleted a.txt", "added b.txt"},
		"side": {"Side", "added c.txt"}, "three": {"Merge", "added c.txt"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := m.EachCommit(t.Context(), []string{"--all"}, nil); err == nil {
		t.Error("an option was taken for a commit")
	}
	tips, err := m.Tips(t.Context())
	if d := cmp.Diff(2, len(tips)); err != nil || d != "" {
		t.Error(tips, err)
	}
}

// Whatever git prints, or a broken pipe leaves of it, ends in commits or in an error.
func FuzzTouches(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add("\x01" + id + "\x00\x001\x002\x00A <a@b>\x00Subject\x00\n:100644 000000 " + id + " " + strings.Repeat("0", 40) + " D\x00path\x00")
	f.Add("\x01" + id + "\x00" + id + "\x00x\x00\x00\x00\x00\x01" + id + "\x00")
	f.Fuzz(func(t *testing.T, text string) {
		_ = parseTouches(bufio.NewReader(strings.NewReader(text)), func(c CommitTouches) error {
			if !objectID.MatchString(c.ID) {
				t.Fatalf("commit %q", c.ID)
			}
			for _, touch := range c.Touches {
				if touch.Path == "" || touch.Status == "" {
					t.Fatalf("touch %+v", touch)
				}
			}
			return nil
		})
	})
}
