package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

const treeScript = `
commit c "m"
  exec run.sh
  link l a.txt
  gitlink sub 1111111111111111111111111111111111111111
-- c/a.txt --
a
-- c/run.sh --
#!/bin/sh
-- c/dir/sub/b.txt --
b
-- c/dir.txt --
c
`

func TestReadFile(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	m := At(r.Dir)
	t.Cleanup(func() { m.Close() })
	tree, err := m.Tree(t.Context(), r.ID("c"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(r.Git("rev-parse", "main^{tree}")); tree.ID() != want {
		t.Errorf("tree %s, want %s", tree.ID(), want)
	}
	for path, want := range map[string]string{
		"a.txt": "a\n", "run.sh": "#!/bin/sh\n", "l": "a.txt", "dir/sub/b.txt": "b\n", "dir.txt": "c\n", "dir": "", "sub": "", "sub/x": "",
		"nope": "", "a.txt/x": "", "": "", "/a.txt": "", "dir/": "", "dir//sub/b.txt": "", "../a.txt": "", "a.txt\nx": "", "./a.txt": "",
	} {
		for name, read := range map[string]func() ([]byte, error){
			"mirror": func() ([]byte, error) { return m.ReadFile(t.Context(), r.ID("c"), path) },
			"tree":   func() ([]byte, error) { return tree.ReadFile(t.Context(), path) },
		} {
			got, err := read()
			if string(got) != want || want == "" && !errors.Is(err, fs.ErrNotExist) || want != "" && err != nil {
				t.Errorf("%s, %q: %q, %v", name, path, got, err)
			}
		}
	}
}

func TestTreeEach(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	m := At(r.Dir)
	tree, err := m.Tree(t.Context(), r.ID("c"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = tree.Each(t.Context(), func(f File) error {
		got = append(got, fmt.Sprintf("%s %v %q", f.Path, f.Mode, f.Data))
		return nil
	})
	want := []string{
		`a.txt -rw-r--r-- "a\n"`, `dir.txt -rw-r--r-- "c\n"`, `dir/sub/b.txt -rw-r--r-- "b\n"`, `l Lrwxrwxrwx "a.txt"`,
		`run.sh -rwxr-xr-x "#!/bin/sh\n"`,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, files (-want +got):\n%s", err, diff)
	}
	stop := errors.New("enough")
	if err := tree.Each(t.Context(), func(File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
}

// TestTreeSelect: what is not wanted is not read, so its bytes need not be at hand.
func TestTreeSelect(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	tree, err := At(r.Dir).Tree(t.Context(), r.ID("c"))
	if err != nil {
		t.Fatal(err)
	}
	lost := strings.TrimSpace(r.Git("rev-parse", "main:a.txt"))
	if err := os.Remove(filepath.Join(strings.TrimSpace(r.Git("rev-parse", "--absolute-git-dir")), "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	var asked, got []string
	pick := func(f File) bool {
		asked = append(asked, fmt.Sprintf("%s %v %d", f.Path, f.Mode, len(f.Data)))
		return strings.HasPrefix(f.Path, "dir")
	}
	err = tree.Select(t.Context(), pick, func(f File) error {
		got = append(got, fmt.Sprintf("%s %q", f.Path, f.Data))
		return nil
	})
	wantAsked := []string{"a.txt -rw-r--r-- 0", "dir.txt -rw-r--r-- 0", "dir/sub/b.txt -rw-r--r-- 0", "l Lrwxrwxrwx 0", "run.sh -rwxr-xr-x 0"}
	if diff := cmp.Diff([][]string{wantAsked, {`dir.txt "c\n"`, `dir/sub/b.txt "b\n"`}}, [][]string{asked, got}); diff != "" || err != nil {
		t.Errorf("%v, asked and got (-want +got):\n%s", err, diff)
	}
	if err := tree.Each(t.Context(), func(File) error { return nil }); !errors.Is(err, ErrMissingObject) {
		t.Errorf("all of them: %v", err)
	}
}

func TestTreeOfWhatIsNoCommit(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	m := At(r.Dir)
	blob := strings.TrimSpace(r.Git("rev-parse", "main:a.txt"))
	for _, id := range []string{blob, "main", "HEAD", "", "--batch", strings.Repeat("1", 40)} {
		if tree, err := m.Tree(t.Context(), id); err == nil {
			t.Errorf("%q has tree %s", id, tree.ID())
		}
	}
}

func TestReadAtOnce(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("d/f%d", i)] = strings.Repeat(fmt.Sprintln(i), 1+i*200)
	}
	b.Add(gittest.Commit{Name: "c", Message: "m", Files: files})
	dir := filepath.Join(t.TempDir(), "repo")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := At(dir)
	t.Cleanup(func() { m.Close() })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for path, want := range files {
				if got, err := m.ReadFile(t.Context(), ids["c"], path); err != nil || string(got) != want {
					t.Errorf("%s: %d bytes, %v", path, len(got), err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(m.objects.idle); n == 0 || n > maxIdle {
		t.Errorf("%d children are idle", n)
	}
}

func TestPoolSurvives(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	m := At(r.Dir)
	t.Cleanup(func() { m.Close() })
	read := func(ctx context.Context) error {
		data, err := m.ReadFile(ctx, r.ID("c"), "a.txt")
		if err == nil && string(data) != "a\n" {
			err = fmt.Errorf("read %q", data)
		}
		return err
	}
	if err := read(t.Context()); err != nil {
		t.Fatal(err)
	}
	child := m.objects.idle[0]
	if err := syscall.Kill(child.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := read(t.Context()); err != nil {
		t.Errorf("after the child died: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	m.Close()
	if err := read(t.Context()); err != nil {
		t.Errorf("after closing: %v", err)
	}
	// A missing object is an answer, not the death of the child.
	before := m.objects.idle[0]
	if _, err := m.Tree(t.Context(), strings.Repeat("1", 40)); !errors.Is(err, ErrMissingObject) {
		t.Errorf("missing: %v", err)
	}
	if m.objects.idle[0] != before {
		t.Error("the child was replaced after a missing object")
	}
}

// A repository that is gone is an error with git's words, not an endless series of children.
func TestPoolWithoutRepository(t *testing.T) {
	t.Parallel()
	m := At(t.TempDir())
	_, err := m.Tree(t.Context(), strings.Repeat("1", 40))
	if err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("error %v", err)
	}
}
