package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSource(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ path, url, shown, name string }{
		"https://host.example/owner/name.git": {
			url: "https://host.example/owner/name.git", shown: "https://host.example/owner/name.git", name: "owner/name",
		},
		"https://me:secret@host.example/owner/name/": {
			url: "https://me:secret@host.example/owner/name/", shown: "https://me:xxxxx@host.example/owner/name/", name: "owner/name",
		},
		"ssh://git@host.example:22/group/sub/name": {
			url: "ssh://git@host.example:22/group/sub/name", shown: "ssh://git@host.example:22/group/sub/name", name: "sub/name",
		},
		"git@host.example:owner/name.git": {
			url: "git@host.example:owner/name.git", shown: "git@host.example:owner/name.git", name: "owner/name",
		},
		"https://secret@host.example/a/b":         {url: "https://secret@host.example/a/b", shown: "https://xxxxx@host.example/a/b", name: "a/b"},
		"https://host.example/a/b?token=secret":   {url: "https://host.example/a/b?token=secret", shown: "https://host.example/a/b?xxxxx-1359227d", name: "a/b"},
		"https://host.example/a/b?xxxxx-12345678": {url: "https://host.example/a/b?xxxxx-12345678", shown: "https://host.example/a/b?xxxxx-12345678", name: "a/b"},
		"git@host.example:name":                   {url: "git@host.example:name", shown: "git@host.example:name", name: "name"},
		"/srv/git/thing.git":                      {path: "/srv/git/thing.git", shown: "/srv/git/thing.git", name: "thing"},
		"/srv/git/thing/.git":                     {path: "/srv/git/thing/.git", shown: "/srv/git/thing/.git", name: "thing"},
		"file:///srv/git/thing":                   {path: "/srv/git/thing", shown: "/srv/git/thing", name: "thing"},
		"/srv/owner+name/repo":                    {path: "/srv/owner+name/repo", shown: "/srv/owner+name/repo", name: "owner/name"},
		"/srv/libstdc++":                          {path: "/srv/libstdc++", shown: "/srv/libstdc++", name: "libstdc++"},
		"/home/me/src/host.example/own/name":      {path: "/home/me/src/host.example/own/name", shown: "/home/me/src/host.example/own/name", name: "own/name"},
		"/srv/a:b/c":                              {path: "/srv/a:b/c", shown: "/srv/a:b/c", name: "c"},
		"/":                                       {path: "/", shown: "/", name: "repository"},
	} {
		got, err := parseSource(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff([]string{want.path, want.url, want.shown, want.name}, []string{got.path, got.url, got.shown, got.name()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if folder := got.folder(); strings.ContainsAny(folder, "/: \n") || !strings.HasSuffix(folder, ".git") {
			t.Errorf("%s: folder %q", text, folder)
		}
	}
}

// A source that a relative path opened is known by its absolute path later, whatever characters that has.
func TestParseSourceTakesAnyFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b\nc")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := parseSource(dir); err != nil || got.path != dir {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseSourceRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "--upload-pack=touch x", "-x", "ext::sh -c touch% x", "fd::17", "foo+bar::x", "http://", "https://-oProxyCommand=x/y",
		"ftp://host.example/x", "ext://x", "https://host.example/a\nb", "https://host:bad port/x",
	} {
		if got, err := parseSource(text); !errors.Is(err, ErrNotRepository) {
			t.Errorf("%q gives %+v, %v", text, got, err)
		}
	}
}

func TestParseSourceHidesPasswords(t *testing.T) {
	t.Parallel()
	_, err := parseSource("ftp://me:s3cret@host.example/x")
	_, bad := parseSource("https://me:s3cret@host.example:bad/x")
	for _, err := range []error{err, bad} {
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %v", err)
		}
	}
}

func TestFoldersDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, text := range []string{"/a/x", "/b/x", "https://one.example/o/x", "https://two.example/o/x", "git@one.example:o/x"} {
		s, err := parseSource(text)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[s.folder()]; twice {
			t.Errorf("%s and %s share %s", text, other, s.folder())
		}
		seen[s.folder()] = text
	}
}

// TestShown: a secret that an earlier version wrote down is not said again, and the source is still the same one; another query is another source.
func TestShown(t *testing.T) {
	t.Parallel()
	for old, now := range map[string]string{
		"https://secret@host.example/a/b": "https://other@host.example/a/b", "https://host.example/a/b?token=secret": "https://host.example/a/b?token=secret",
		"/srv/owner+name/repo": "/srv/owner+name/repo", "/srv/gone\nfar": "/srv/gone\nfar",
	} {
		s, err := parseSource(now)
		if got := Shown(old); strings.Contains(got, "secret") || err == nil && (got != s.shown || Shown(got) != got) {
			t.Errorf("%q is shown as %q, %q as %q", old, got, now, s.shown)
		}
	}
	if a, b := Shown("https://host.example/git?p=a.git"), Shown("https://host.example/git?p=b.git"); a == b {
		t.Errorf("two repositories are both %q", a)
	}
}
