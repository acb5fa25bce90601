package gitrepo_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

func TestCommit(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, `
commit root "m" date=2020-02-03T04:05:06Z author="Ann Other <a@example.org>"
branch side
commit other "m"
branch main
merge both side "m" date=2021-01-01T00:00:00Z
-- root/a --
-- other/b --
`)
	m := gitrepo.At(r.Dir)
	t.Cleanup(func() { m.Close() })
	root := gitrepo.Commit{ID: r.ID("root"), Authored: time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)}
	root.Committed = root.Authored
	both := gitrepo.Commit{
		ID: r.ID("both"), Parents: []string{r.ID("root"), r.ID("other")}, Authored: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	both.Committed = both.Authored
	for id, want := range map[string]gitrepo.Commit{
		r.ID("root"): root, r.ID("root")[:9]: root, strings.ToUpper(r.ID("root")): root, r.ID("both"): both,
	} {
		got, err := m.Commit(t.Context(), id)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", id, diff, err)
		}
	}
	if root.FirstParent() != "" || both.FirstParent() != r.ID("root") {
		t.Errorf("first parents: %q, %q", root.FirstParent(), both.FirstParent())
	}
	tree := strings.TrimSpace(r.Git("rev-parse", r.ID("root")+"^{tree}"))
	for _, id := range []string{strings.Repeat("0", 40), tree} {
		if _, err := m.Commit(t.Context(), id); !errors.Is(err, gitrepo.ErrMissingObject) {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, id := range []string{"", "main", "ab\ncd", "--batch"} {
		if _, err := m.Commit(t.Context(), id); err == nil || errors.Is(err, gitrepo.ErrMissingObject) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree x\nparent " + strings.Repeat("a", 40) + "\nauthor A <a> 1 +0000\ncommitter > 9e9\n\nm"))
	f.Add([]byte("author"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := gitrepo.ParseCommit(data)
		if c.Authored.Year() < 1970 || c.Committed.Location() != time.UTC {
			t.Errorf("%+v", c)
		}
	})
}
