package gitrepo

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

func TestBlobAndMessages(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, "commit c \"Subject\\n\\nbody\\n\\nmore\"\n-- c/f --\ntext\n")
	m := At(r.Dir)
	t.Cleanup(func() { m.Close() })
	blob := strings.TrimSpace(r.Git("rev-parse", "main:f"))
	if got, err := m.Blob(t.Context(), blob); err != nil || string(got) != "text\n" {
		t.Errorf("Blob = %q, %v", got, err)
	}
	if got, err := m.Blob(t.Context(), strings.Repeat("0", 40)); err != nil || got != nil {
		t.Errorf("Blob of nothing = %q, %v", got, err)
	}
	if _, err := m.Blob(t.Context(), "HEAD:f"); err == nil {
		t.Error("an expression passes for an id")
	}
	if _, err := m.Blob(t.Context(), someID); !errors.Is(err, ErrMissingObject) {
		t.Errorf("missing blob: %v", err)
	}
	got, err := m.Messages(t.Context(), []string{r.ID("c")})
	if diff := cmp.Diff(map[string]string{r.ID("c"): "Subject\n\nbody\n\nmore"}, got); diff != "" || err != nil {
		t.Errorf("%v, messages (-want +got):\n%s", err, diff)
	}
	if _, err := m.Messages(t.Context(), []string{someID}); !errors.Is(err, ErrMissingObject) {
		t.Errorf("message of nothing: %v", err)
	}
}

func TestTreeFile(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	m := At(r.Dir)
	t.Cleanup(func() { m.Close() })
	tree, err := m.Tree(t.Context(), r.ID("c"))
	if err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{"run.sh": 0o755, "dir/sub/b.txt": 0o644, "l": fs.ModeSymlink | 0o777} {
		if got, err := tree.File(t.Context(), path); err != nil || got.Mode != mode || got.Path != path || len(got.Data) == 0 {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	for path, want := range map[string]error{"dir": ErrNotFile, "sub": ErrNotFile, "nope": fs.ErrNotExist, "a.txt/x": fs.ErrNotExist} {
		if _, err := tree.File(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}
