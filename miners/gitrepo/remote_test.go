package gitrepo

import (
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

// serve offers the repositories below root on this machine's loopback, through git's own CGI program.
func serve(t *testing.T, root string) string {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"},
	})
	t.Cleanup(server.Close)
	return server.URL
}

func TestOpenURL(t *testing.T) {
	t.Setenv("NO_PROXY", "127.0.0.1")
	root := t.TempDir()
	script := `head trunk
commit one "First"
branch trunk
commit two "Second"
branch topic
commit three "Third"
ref refs/pull/4/head three
ref refs/pull/4/merge two
ref refs/notes/x one
tag v1 one
-- two/a --
a
`
	ids, err := gittest.BuildIn(filepath.Join(root, "own", "name.git"), script)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, root) + "/own/name.git"
	dir := t.TempDir()
	m, err := Open(t.Context(), url, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	branch, err := m.DefaultBranch(t.Context())
	if m.Name() != "own/name" || branch != "trunk" || err != nil {
		t.Errorf("name %q, branch %q, %v", m.Name(), branch, err)
	}
	want := "refs/heads/main refs/heads/topic refs/heads/trunk refs/pull/4/head refs/tags/v1"
	names := func() string {
		return strings.Join(strings.Fields(gittest.At(t, m.Dir()).Git("for-each-ref", "--format=%(refname)")), " ")
	}
	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	// The source is rewritten and loses a branch; the mirror follows.
	gittest.At(t, filepath.Join(root, "own", "name.git")).Git("branch", "-q", "-D", "topic")
	again, err := gittest.BuildIn(filepath.Join(root, "own", "name.git"), "head trunk\nbranch trunk\ncommit two \"Rewritten\"\n")
	if err != nil {
		t.Fatal(err)
	}
	m, err = Open(t.Context(), url, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tip, err := m.Tip(t.Context()); err != nil || tip != again["two"] || tip == ids["two"] {
		t.Errorf("Tip = %s, %v", tip, err)
	}
	if got := names(); strings.Contains(got, "topic") {
		t.Errorf("references %s", got)
	}
}

func TestOpenURLErrors(t *testing.T) {
	t.Setenv("NO_PROXY", "127.0.0.1")
	root := t.TempDir()
	if _, err := gittest.BuildIn(filepath.Join(root, "empty.git"), ""); err != nil {
		t.Fatal(err)
	}
	base := serve(t, root)
	for path, want := range map[string]error{"/empty.git": ErrEmpty, "/nothing.git": ErrNotRepository} {
		if _, err := Open(t.Context(), base+path, t.TempDir(), Options{}); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", path, err, want)
		}
	}
}

// TestSecretsOfAddresses: neither we nor git print what of an address may be a token.
func TestSecretsOfAddresses(t *testing.T) {
	t.Setenv("NO_PROXY", "127.0.0.1")
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, u := range []string{"http://me:s3cret@" + host + "/a/b", "http://s3cret@" + host + "/a/b", "http://" + host + "/a/b?token=s3cret"} {
		_, err := Open(t.Context(), u, t.TempDir(), Options{})
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "xxxxx") {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestParseAdvertised(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 40)
	head, offered := parseAdvertised("ref: refs/heads/x\tHEAD\n" + id + "\tHEAD\n" + id + "\trefs/heads/x\n" + id + "\trefs/tags/v^{}\nnoise\n")
	if diff := cmp.Diff(refs{"HEAD": id, "refs/heads/x": id}, offered); diff != "" || head != "refs/heads/x" {
		t.Errorf("HEAD %q, references (-want +got):\n%s", head, diff)
	}
}
