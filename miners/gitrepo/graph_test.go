package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

// A commit graph is written when references changed, and only then.
func TestCommitGraph(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, treeScript)
	dir := t.TempDir()
	refresh := func() string {
		m, err := Open(t.Context(), r.Dir, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(m.Dir(), "objects", "info", "commit-graph")
	}
	graph := refresh()
	first, err := os.ReadFile(graph)
	if err != nil || !strings.Contains(string(first), "BIDX") {
		t.Fatalf("no graph with changed paths: %v", err)
	}
	if err := os.Remove(graph); err != nil {
		t.Fatal(err)
	}
	if refresh(); exists(graph) {
		t.Error("the graph was written again though nothing changed")
	}
	if _, err := gittest.BuildIn(r.Dir, "commit d \"another\"\n"); err != nil {
		t.Fatal(err)
	}
	if refresh(); !exists(graph) {
		t.Error("no graph of the new history")
	}
}

// Not parallel: it sets the environment.
func TestEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.example")
	t.Setenv("GIT_SSL_CAINFO", "/ca.pem")
	t.Setenv("GIT_DIR", "/wrong")
	t.Setenv("SECRET_TOKEN", "canary")
	g := git{dir: "/right", extra: []string{"X=1"}}
	local, network := g.env(), g.overNetwork().env()
	for _, env := range [][]string{local, network} {
		if !slices.Contains(env, "GIT_DIR=/right") || !slices.Contains(env, "X=1") || strings.Contains(strings.Join(env, " "), "canary") {
			t.Errorf("environment %q", env)
		}
	}
	if strings.Contains(strings.Join(local, " "), "proxy.example") {
		t.Errorf("a local command sees the proxy: %q", local)
	}
	for _, want := range []string{"HTTPS_PROXY=http://proxy.example", "GIT_SSL_CAINFO=/ca.pem", "GIT_ALLOW_PROTOCOL=https:http:ssh:git"} {
		if !slices.Contains(network, want) {
			t.Errorf("a fetch does not see %s: %q", want, network)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", maxArgs)
	for name, c := range map[string]struct{ paths, part, rest []string }{
		"nothing":      {nil, nil, nil},
		"all":          {[]string{"a", "b"}, []string{"a", "b"}, nil},
		"one too many": {[]string{"a", huge, "b"}, []string{"a"}, []string{huge, "b"}},
		"huge alone":   {[]string{huge, "b"}, []string{huge}, []string{"b"}},
	} {
		part, rest := cut(c.paths)
		if diff := cmp.Diff([][]string{c.part, c.rest}, [][]string{part, rest}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestQuotePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/a b": "/a b", "/a:b": `"/a:b"`, `/a"b\c`: `"/a\"b\\c"`} {
		if got := quotePath(path); got != want {
			t.Errorf("quotePath(%s) = %s, want %s", path, got, want)
		}
	}
}

// A mirror whose path has a colon, which separates paths elsewhere.
func TestApplyInOddFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a:b")
	ids, err := gittest.BuildIn(dir, "commit a \"m\"\ncommit b \"m\"\n-- a/f --\na\n-- b/f --\nb\n")
	if err != nil {
		t.Fatal(err)
	}
	m := At(dir)
	patch, err := m.Patch(t.Context(), ids["a"], ids["b"], nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.ApplyOnto(t.Context(), ids["a"], patch)
	if err != nil || len(got.Files) != 1 || string(got.Files[0].Data) != "b\n" {
		t.Errorf("applied %+v, %v", got, err)
	}
}
