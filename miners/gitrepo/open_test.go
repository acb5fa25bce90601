package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

const small = `
commit one "First"
commit two "Second"
branch topic one
commit three "Third"
branch main
tag v1 one
ref refs/pull/7/head three
ref refs/pull/7/merge three
ref refs/notes/commits one
ref refs/merge-requests/4/head two
-- one/a.txt --
a
-- two/b.txt --
b
-- three/c.txt --
c
`

func refsOf(t *testing.T, m *gitrepo.Mirror) string {
	t.Helper()
	r := gittest.At(t, m.Dir())
	return r.Git("for-each-ref", "--format=%(refname)")
}

func TestOpenMirrorsReferences(t *testing.T) {
	t.Parallel()
	m, r := open(t, small)
	want := "refs/heads/main\nrefs/heads/topic\nrefs/merge-requests/4/head\nrefs/pull/7/head\nrefs/tags/v1\n"
	if diff := cmp.Diff(want, refsOf(t, m)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	tip, err := m.Tip(t.Context())
	if err != nil || tip != r.ID("two") {
		t.Errorf("Tip = %s, %v", tip, err)
	}
	if m.Name() != "repo" && !strings.HasPrefix(m.Name(), "0") || m.Source() != r.Dir {
		t.Errorf("name %q, source %q", m.Name(), m.Source())
	}
}

// layouts turn a bare repository into what else users point at.
var layouts = map[string]func(t *testing.T, r *gittest.Repo) string{
	"packed, without a configuration": func(t *testing.T, r *gittest.Repo) string {
		r.Git("gc", "-q")
		for _, name := range []string{"config", "description", "hooks", "info"} {
			if err := os.RemoveAll(filepath.Join(r.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return r.Dir
	},
	"work tree": func(t *testing.T, r *gittest.Repo) string {
		dir := filepath.Join(t.TempDir(), "work")
		r.Git("clone", "-q", r.Dir, dir)
		return dir
	},
	"linked work tree": func(t *testing.T, r *gittest.Repo) string {
		dir := filepath.Join(t.TempDir(), "linked")
		r.Git("worktree", "add", "-q", "--force", dir, "main")
		return dir
	},
	"borrowed objects": func(t *testing.T, r *gittest.Repo) string {
		dir := filepath.Join(t.TempDir(), "borrower")
		r.Git("clone", "-q", "--shared", "--bare", r.Dir, dir)
		return dir
	},
	"with a final slash": func(_ *testing.T, r *gittest.Repo) string { return r.Dir + "/" },
	"file URL":           func(_ *testing.T, r *gittest.Repo) string { return "file://" + r.Dir },
}

func TestOpenLayouts(t *testing.T) {
	t.Parallel()
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.Build(t, small)
			m := mirror(t, layout(t, r))
			if got, err := m.DefaultBranch(t.Context()); err != nil || got != "main" {
				t.Errorf("DefaultBranch = %q, %v", got, err)
			}
			got, err := m.ReadFile(t.Context(), r.ID("three"), "c.txt")
			if err != nil || string(got) != "c\n" {
				t.Errorf("ReadFile = %q, %v", got, err)
			}
			own := gittest.At(t, m.Dir())
			if out := own.Git("fsck", "--no-dangling"); out != "" {
				t.Errorf("fsck: %s", out)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	empty := gittest.Build(t, "")
	broken := gittest.Build(t, small)
	tip := broken.ID("two")
	if err := os.Remove(filepath.Join(broken.Dir, "objects", tip[:2], tip[2:])); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		source string
		want   error
	}{
		"no folder":    {"/nonexistent/x", gitrepo.ErrNotRepository},
		"plain folder": {t.TempDir(), gitrepo.ErrNotRepository},
		"empty":        {empty.Dir, gitrepo.ErrEmpty},
		"no tip":       {broken.Dir, gitrepo.ErrMissingObject},
	} {
		dir := t.TempDir()
		_, err := gitrepo.Open(t.Context(), c.source, dir, gitrepo.Options{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*[tf]")); len(left) > 0 { // .git, .half
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestOpenRefreshes(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, small)
	dir := t.TempDir()
	if _, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{}); err != nil {
		t.Fatal(err)
	}
	// History is rewritten, and a branch is gone.
	r.Git("branch", "-D", "-q", "topic")
	ids, err := gittest.BuildIn(r.Dir, "commit one \"Another first\"\n")
	if err != nil {
		t.Fatal(err)
	}
	offline, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	if tip, err := offline.Tip(t.Context()); err != nil || tip != r.ID("two") {
		t.Errorf("offline, Tip = %s, %v", tip, err)
	}
	m, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tip, err := m.Tip(t.Context()); err != nil || tip != ids["one"] {
		t.Errorf("refreshed, Tip = %s, %v", tip, err)
	}
	if refs := refsOf(t, m); strings.Contains(refs, "topic") {
		t.Errorf("references %q", refs)
	}
	// What was mined before can still be read.
	if _, err := m.ReadFile(t.Context(), r.ID("two"), "b.txt"); err != nil {
		t.Error(err)
	}
}

func TestOpenOfflineWithoutMirror(t *testing.T) {
	t.Parallel()
	_, err := gitrepo.Open(t.Context(), "/srv/x", t.TempDir(), gitrepo.Options{Offline: true})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A clone that was killed leaves its folder; the next one starts afresh.
func TestOpenAfterKilledClone(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, small)
	dir := t.TempDir()
	m, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	half := strings.TrimSuffix(m.Dir(), ".git") + ".half"
	if err := os.Rename(m.Dir(), half); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(half, "HEAD")); err != nil {
		t.Fatal(err)
	}
	if _, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{Offline: true}); err == nil {
		t.Error("half a clone counts as a mirror")
	}
	if _, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a clone is still there: %v", err)
	}
}

func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, small)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			m, err := gitrepo.Open(t.Context(), r.Dir, dir, gitrepo.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			if tip, err := m.Tip(t.Context()); err != nil || tip != r.ID("two") {
				t.Errorf("Tip = %s, %v", tip, err)
			}
		})
	}
	wg.Wait()
}

func TestOpenCancelled(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, small)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gitrepo.Open(ctx, r.Dir, t.TempDir(), gitrepo.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	both := "head gone\ncommit a \"m\"\nbranch master\n"
	for name, c := range map[string]struct {
		script, branch string
		prepare        func(r *gittest.Repo)
		want           string
		says           []string
	}{
		"HEAD":               {script: small + "\n", want: "main"},
		"asked for":          {script: small, branch: "topic", want: "topic"},
		"asked for, unknown": {script: small, branch: "tropic", says: []string{"tropic", "main, topic"}},
		"dangling, one usual": {
			script: "head gone\nbranch trunk\ncommit a \"m\"\nbranch other\n", want: "trunk",
		},
		"dangling, two usual":  {script: both, says: []string{"--branch", "main, master"}},
		"dangling, none usual": {script: "head gone\nbranch x\ncommit a \"m\"\n", says: []string{"--branch", "x"}},
		"detached": {
			script: both, says: []string{"--branch"},
			prepare: func(r *gittest.Repo) { r.Git("update-ref", "--no-deref", "HEAD", r.ID("a")) },
		},
		"origin's HEAD": {
			script: both + "ref refs/remotes/origin/work a\n", want: "work",
			prepare: func(r *gittest.Repo) { r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/work") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.Build(t, c.script)
			if c.prepare != nil {
				c.prepare(r)
			}
			m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{Branch: c.branch})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.DefaultBranch(t.Context())
			if got != c.want || (err != nil) != (c.says != nil) {
				t.Errorf("DefaultBranch = %q, %v", got, err)
			}
			for _, words := range c.says {
				if !errors.Is(err, gitrepo.ErrNoDefaultBranch) || !strings.Contains(fmt.Sprint(err), words) {
					t.Errorf("error %v, want %q in it", err, words)
				}
			}
		})
	}
}

func TestIsAncestor(t *testing.T) {
	t.Parallel()
	m, r := open(t, small)
	for _, c := range []struct {
		a, b string
		want bool
	}{{"one", "two", true}, {"two", "one", false}, {"two", "three", false}, {"two", "two", true}} {
		got, err := m.IsAncestor(t.Context(), r.ID(c.a), r.ID(c.b))
		if err != nil || got != c.want {
			t.Errorf("IsAncestor(%s, %s) = %v, %v", c.a, c.b, got, err)
		}
	}
	if _, err := m.IsAncestor(t.Context(), "--octopus", r.ID("one")); err == nil {
		t.Error("an option passes for a commit")
	}
	if _, err := m.IsAncestor(t.Context(), strings.Repeat("1", 40), r.ID("one")); !errors.Is(err, gitrepo.ErrMissingObject) {
		t.Errorf("unknown commit: %v", err)
	}
}
