package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func blobPath(t testing.TB, s *Store, digest string) string {
	t.Helper()
	path, err := s.blobs.path(digest)
	ok(t, err)
	return path
}

func TestBlobRoundTrip(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	rapid.Check(t, func(rt *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(rt, "data")
		d, err := s.Put(t.Context(), data)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := s.Get(t.Context(), d)
		if err != nil || !bytes.Equal(got, data) {
			rt.Fatalf("got %v, %v", got, err)
		}
	})
}

func TestBlobPlaceAndBytes(t *testing.T) {
	t.Parallel()
	const digest = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello", by sha256sum
	a, _ := fresh(t)
	b, _ := fresh(t)
	put(t, b, strings.Repeat("something before", 1000)) // must not show in what follows
	same(t, "digest", put(t, a, "hello"), digest)
	put(t, b, "hello")
	path := filepath.Join("blobs", "2c", digest[len("sha256:2c"):]+".zst")
	x, err := os.ReadFile(filepath.Join(a.dir, path))
	ok(t, err)
	y, err := os.ReadFile(filepath.Join(b.dir, path))
	ok(t, err)
	if !bytes.Equal(x, y) {
		t.Errorf("same bytes, other files: %x and %x", x, y)
	}
	temps, err := os.ReadDir(filepath.Join(a.dir, "blobs", "tmp"))
	ok(t, err)
	same(t, "temporary files", len(temps), 0)
}

func TestPutAgainWritesNothing(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	d := put(t, s, "hello")
	before, err := os.Stat(blobPath(t, s, d))
	ok(t, err)
	s.blobs.create = func() (*os.File, error) { return nil, errors.New("a temporary file was asked for") }
	same(t, "digest", put(t, s, "hello"), d)
	after, err := os.Stat(blobPath(t, s, d))
	ok(t, err)
	if !os.SameFile(before, after) {
		t.Error("another file")
	}
}

func TestGetVerifies(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	write := func(digest string, b []byte) { ok(t, os.WriteFile(blobPath(t, s, digest), b, 0o644)) }
	read := func(digest string) []byte {
		b, err := os.ReadFile(blobPath(t, s, digest))
		ok(t, err)
		return b
	}
	other := put(t, s, "other")
	for _, tc := range []struct {
		name string
		harm func(digest string)
		want error
	}{
		{"gone", func(d string) { ok(t, os.Remove(blobPath(t, s, d))) }, ErrMissing},
		{"empty", func(d string) { write(d, nil) }, ErrCorrupt},
		{"cut", func(d string) { write(d, read(d)[:10]) }, ErrCorrupt},
		{"not compressed", func(d string) { write(d, []byte("cut")) }, ErrCorrupt},
		{"other content", func(d string) { write(d, read(other)) }, ErrCorrupt},
		{"more behind it", func(d string) { write(d, append(read(d), read(other)...)) }, ErrCorrupt},
		{"a bit flipped", func(d string) { b := read(d); b[len(b)/2] ^= 1; write(d, b) }, ErrCorrupt},
	} {
		d := put(t, s, "the content of "+tc.name)
		tc.harm(d)
		got, err := s.Get(t.Context(), d)
		if !errors.Is(err, tc.want) || got != nil || !strings.Contains(err.Error(), d) {
			t.Errorf("%s: got %q, %v", tc.name, got, err)
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	d := put(t, s, "hello")
	for digest, want := range map[string]bool{d: true, Digest([]byte("x")): false} {
		got, err := s.Has(t.Context(), digest)
		ok(t, err)
		same(t, digest, got, want)
	}
}

func TestDigestsThatAreNone(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	d := put(t, s, "hello")
	for _, bad := range []string{"", "sha256:", strings.TrimPrefix(d, "sha256:"), strings.ToUpper(d), d + "0", d[:len(d)-1],
		"sha256:" + strings.Repeat("../", 21) + "a", "sha1:" + d[7:]} {
		if _, err := s.Get(t.Context(), bad); err == nil {
			t.Errorf("got %q", bad)
		}
		if _, err := s.Has(t.Context(), bad); err == nil {
			t.Errorf("has %q", bad)
		}
	}
}

func TestBlobsStopWithTheContext(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	d := put(t, s, "hello")
	ctx, cancel := cancelled(t)
	defer cancel()
	if _, err := s.Put(ctx, []byte("x")); !errors.Is(err, ctx.Err()) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Get(ctx, d); !errors.Is(err, ctx.Err()) {
		t.Errorf("get: %v", err)
	}
}

// /dev/full is a disk without space. The file is reached through a link, since a failed Put removes its temporary file.
func TestPutWithoutSpace(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	link := filepath.Join(s.dir, "blobs", "tmp", "full")
	ok(t, os.Symlink("/dev/full", link))
	create := s.blobs.create
	s.blobs.create = func() (*os.File, error) { return os.OpenFile(link, os.O_WRONLY, 0) }
	_, err := s.Put(t.Context(), []byte("hello"))
	if !errors.Is(err, ErrNoSpace) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want ErrNoSpace in one line", err)
	}
	if _, err := os.Lstat(link); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the temporary file was left")
	}
	if _, err := s.Get(t.Context(), Digest([]byte("hello"))); !errors.Is(err, ErrMissing) {
		t.Errorf("half a blob: %v", err)
	}
	s.blobs.create = create
	put(t, s, "hello")
}

// SQLite says the same of a database that may not grow.
func TestCommitWithoutSpace(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	add(t, s, "is-1")
	lease(t, s, "is-1", "me")
	_, err := s.exec(t.Context(), `PRAGMA max_page_count = 1`) // SQLite takes the present size instead
	ok(t, err)
	a := attempt(t, s, "is-1", "k1", "pass", "")
	a.Reason = strings.Repeat("long", 10_000)
	_, err = s.Commit(t.Context(), a, place(a))
	if !errors.Is(err, ErrNoSpace) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want ErrNoSpace in one line", err)
	}
	_, err = s.exec(t.Context(), `PRAGMA max_page_count = 1000000`)
	ok(t, err)
	commit(t, s, a)
	clean(t, s)
}
