package history

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/replay"
)

func open(t *testing.T, script string) (*History, *gittest.Repo) {
	t.Helper()
	r := gittest.Build(t, script)
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return New(m, ""), r
}

func TestSplitFiles(t *testing.T) {
	t.Parallel()
	texts := func(paths ...string) (out []pipeline.Text) {
		for _, p := range paths {
			out = append(out, pipeline.Text(p))
		}
		return out
	}
	for name, tt := range map[string]struct {
		files []gitrepo.FileChange
		want  Split
	}{
		"nothing": {nil, Split{}},
		"every kind": {
			[]gitrepo.FileChange{
				{Status: gitrepo.Modified, Path: "a.go", Added: 1}, {Status: gitrepo.Added, Path: "a_test.go", Added: 9},
				{Status: gitrepo.Modified, Path: "README.md"}, {Status: gitrepo.Modified, Path: "go.mod"},
				{Status: gitrepo.Modified, Path: "x.pb.go", Added: 500}, {Status: gitrepo.Modified, Path: "logo.bin", Added: -1},
			},
			Split{Source: texts("a.go"), Test: texts("a_test.go"), Docs: texts("README.md"), Config: texts("go.mod"),
				Generated: texts("x.pb.go"), Other: texts("logo.bin"), Language: "Go", Files: 6},
		},
		"a deleted test is gone": {
			[]gitrepo.FileChange{{Status: gitrepo.Deleted, Path: "a_test.go"}, {Status: gitrepo.Deleted, Path: "a.go"}},
			Split{Source: texts("a.go"), Gone: texts("a_test.go"), Language: "Go", Files: 2},
		},
		"renames leave their old path": {
			[]gitrepo.FileChange{
				{Status: gitrepo.Renamed, OldPath: "old_test.go", Path: "new_test.go"}, {Status: gitrepo.Renamed, OldPath: "old.go", Path: "new.go"},
			},
			Split{Source: texts("new.go"), Test: texts("new_test.go"), Gone: texts("old_test.go"), From: texts("old.go"), Language: "Go", Files: 2},
		},
		"most changed lines name the language": {
			[]gitrepo.FileChange{{Status: gitrepo.Modified, Path: "a.go", Added: 1}, {Status: gitrepo.Modified, Path: "b.py", Added: 1, Deleted: 1}},
			Split{Source: texts("a.go", "b.py"), Language: "Python", Files: 2},
		},
		"a tie goes by name": {
			[]gitrepo.FileChange{{Status: gitrepo.Modified, Path: "b.py"}, {Status: gitrepo.Modified, Path: "a.go"}},
			Split{Source: texts("b.py", "a.go"), Language: "Go", Files: 2},
		},
	} {
		if diff := cmp.Diff(tt.want, SplitFiles(tt.files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

const past = `
commit one "Begin"
commit two "Change"
  rm gone_test.go
  exec run_test.sh
  link testdata/link target
  gitlink testdata/sub 1111111111111111111111111111111111111111
-- one/gone_test.go --
package a
-- one/a.go --
package a
-- two/a_test.go --
package a
-- two/run_test.sh --
#!/bin/sh
`

func TestOverlay(t *testing.T) {
	t.Parallel()
	h, r := open(t, past)
	s := Split{Gone: []pipeline.Text{[]byte("gone_test.go")}}
	for _, p := range []string{"a_test.go", "run_test.sh", "testdata/link", "testdata/sub"} {
		s.Test = append(s.Test, pipeline.Text(p))
	}
	got, err := h.Overlay(t.Context(), r.ID("two"), s)
	if err != nil {
		t.Fatal(err)
	}
	want := replay.Overlay{Remove: []string{"gone_test.go"}, Files: []replay.File{
		{Path: "a_test.go", Mode: 0o644, Data: []byte("package a\n")},
		{Path: "run_test.sh", Mode: 0o755, Data: []byte("#!/bin/sh\n")},
		{Path: "testdata/link", Mode: fs.ModeSymlink | 0o777, Data: []byte("target")},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("overlay without the submodule (-want +got):\n%s", diff)
	}
	s.Test = append(s.Test, pipeline.Text("nowhere_test.go"))
	if _, err := h.Overlay(t.Context(), r.ID("two"), s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	h, r := open(t, past)
	tree, err := h.Tree(t.Context(), r.ID("one"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := tree.Each(t.Context(), func(f replay.File) error { got[f.Path] = string(f.Data); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.go": "package a\n", "gone_test.go": "package a\n"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if b, err := tree.ReadFile(t.Context(), "a.go"); err != nil || string(b) != "package a\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := tree.ReadFile(t.Context(), "b.go"); !errors.Is(err, fs.ErrNotExist) || pipeline.IsPermanent(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	end := errors.New("enough")
	if err := tree.Each(t.Context(), func(replay.File) error { return end }); !errors.Is(err, end) {
		t.Errorf("the caller's error: %v", err)
	}
}

func TestMissingObjectIsPermanent(t *testing.T) {
	t.Parallel()
	h, r := open(t, past)
	nowhere := strings.Repeat("1", 40)
	lost := gitrepo.Change{Base: r.ID("one"), Head: nowhere}
	for name, f := range map[string]func() error{
		"tree":    func() error { _, err := h.Tree(t.Context(), nowhere); return err },
		"overlay": func() error { _, err := h.Overlay(t.Context(), nowhere, Split{}); return err },
		"files":   func() error { _, err := h.Files(t.Context(), lost); return err },
		"patch":   func() error { _, err := h.Patch(t.Context(), r.ID("one"), nowhere, []string{"a.go"}); return err },
	} {
		if err := f(); !errors.Is(err, gitrepo.ErrMissingObject) || !pipeline.IsPermanent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := h.Patch(t.Context(), r.ID("one"), nowhere, nil); p != nil || err != nil {
		t.Errorf("no paths make an empty patch, not %q, %v", p, err)
	}
}

func TestChangesAndFiles(t *testing.T) {
	t.Parallel()
	h, r := open(t, past)
	changes, idx, err := h.Changes(t.Context())
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	if c, ok := idx.ByCommit(r.ID("two")); !ok || c.Title != "Change" || c.Position != 1 {
		t.Errorf("%+v, %t", c, ok)
	}
	one, err := h.Files(t.Context(), changes[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Preload(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	all, err := h.Files(t.Context(), changes[1])
	if diff := cmp.Diff(one, all); diff != "" || err != nil {
		t.Errorf("read alone and read with others (-alone +together): %v\n%s", err, diff)
	}
}
