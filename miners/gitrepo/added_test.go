package gitrepo_test

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
)

func TestAdded(t *testing.T) {
	t.Parallel()
	m, r := open(t, `
commit one "Start"
commit two "Add" 
commit three "Drop"
  rm docs/changes.md
-- one/CHANGES --
++i;
--i;
@@ x @@
-- one/other.txt --
commit 1111111111111111111111111111111111111111
-- two/CHANGES --
++i;
2222222222222222222222222222222222222222
--i;
@@ x @@
diff --git a/x b/x
-- two/docs/changes.md --
new
-- two/docs/changes-not --
new
-- two/docs/changes "日本".md --
odd
`)
	var got []string
	tip, err := m.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(path string) bool { return !strings.HasSuffix(path, "s-not") }
	err = m.Added(t.Context(), tip, wanted, []string{"**/changes*"}, func(a gitrepo.AddedLines) error {
		got = append(got, fmt.Sprintf("%s %s %v %q", r.Name(a.Commit), a.Path, a.New, a.Lines))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`one CHANGES true ["++i;" "--i;" "@@ x @@"]`,
		`two CHANGES false ["2222222222222222222222222222222222222222" "diff --git a/x b/x"]`,
		`two docs/changes "日本".md true ["odd"]`,
		`two docs/changes.md true ["new"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	m, r := open(t, "commit a \"x\"\ntag v1 a\ntag sub/v2 a\n")
	tags, err := m.Tags(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"v1": r.ID("a"), "sub/v2": r.ID("a")}, tags); diff != "" {
		t.Error(diff)
	}
}

func FuzzAdded(f *testing.F) {
	f.Add(strings.Repeat("a", 40) + "\n\ndiff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+++ b\n")
	f.Fuzz(func(t *testing.T, text string) {
		_ = gitrepo.ParseAdded(bufio.NewReader(strings.NewReader(text)), func(a gitrepo.AddedLines) error {
			if a.Path == "" || len(a.Lines) == 0 {
				t.Errorf("empty: %+v", a)
			}
			return nil
		})
	})
}
