package gitrepo_test

import (
	"os"
	"testing"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

// open mirrors a repository that a script makes.
func open(t *testing.T, script string) (*gitrepo.Mirror, *gittest.Repo) {
	t.Helper()
	r := gittest.Build(t, script)
	return mirror(t, r.Dir), r
}

func mirror(t *testing.T, source string) *gitrepo.Mirror {
	t.Helper()
	m, err := gitrepo.Open(t.Context(), source, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// between is a change by the names of its commits.
func between(r *gittest.Repo, base, head string) gitrepo.Change {
	c := gitrepo.Change{Head: r.ID(head)}
	if base != "" {
		c.Base = r.ID(base)
	}
	return c
}

// osTemp is a folder for one draw of a test.
func osTemp(t *testing.T) (string, error) { return os.MkdirTemp(t.TempDir(), "draw") }
