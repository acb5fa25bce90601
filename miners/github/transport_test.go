package github

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"sluice/miners/github/githubtest"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := githubtest.New()
	defer s.Close()
	numbered(s, "repos/o/r/x", 5)
	for round, want := range []Counts{{Requests: 1}, {Requests: 1, FromCache: 1}} {
		c, _ := client(t, s, func(o *Options) { o.Cache = dir })
		got, err := ids(t, c, "repos/o/r/x")
		if diff := cmp.Diff(upTo(5), got); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		if diff := cmp.Diff(want, c.Counts()); diff != "" {
			t.Errorf("round %d: %s", round, diff)
		}
	}
	numbered(s, "repos/o/r/x", 0)
	s.Add("repos/o/r/x", githubtest.Object{"id": 6})
	c, _ := client(t, s, func(o *Options) { o.Cache = dir })
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 6 {
		t.Errorf("after a change: %v, %v", got, err)
	}
}

// TestCacheOfPages: the links of a page come from the cache, too.
func TestCacheOfPages(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.Cache = t.TempDir(); o.PerPage = 10 })
	numbered(s, "repos/o/r/x", 25)
	got, err := ids(t, c, "repos/o/r/x")
	if diff := cmp.Diff(upTo(25), got); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	// Three pages, and the same again to see that they did not move: for nothing.
	if diff := cmp.Diff(Counts{Requests: 6, FromCache: 3}, c.Counts()); diff != "" {
		t.Error(diff)
	}
}

// TestDamagedCache: whatever is wrong with the cache, the answer is the server's.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := githubtest.New()
	defer s.Close()
	numbered(s, "repos/o/r/x", 5)
	for _, damage := range []string{"", "{", `{"url":1}`, strings.Repeat("x", 1000)} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return os.WriteFile(path, []byte(damage), 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := client(t, s, func(o *Options) { o.Cache = dir })
		if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 5 {
			t.Errorf("damage %.10q: %v, %v", damage, got, err)
		}
		if c, _ = client(t, s, func(o *Options) { o.Cache = dir }); true {
			if _, err := ids(t, c, "repos/o/r/x"); err != nil || c.Counts().FromCache != 1 {
				t.Errorf("after damage %.10q nothing is cached: %v, %+v", damage, err, c.Counts())
			}
		}
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "recording")
	s := githubtest.New()
	numbered(s, "repos/o/r/x", 25)
	s.Fault("page=2", 1, githubtest.Secondary(403, ""))
	s.Fault("page=3", 1, githubtest.Status(502, "oops"))
	s.Fault("page=3", 1, githubtest.Primary(403, time.Now().Add(time.Hour)))
	c, _ := client(t, s, func(o *Options) { o.Record = dir; o.PerPage = 10 })
	want, err := ids(t, c, "repos/o/r/x")
	if err != nil || len(want) != 25 {
		t.Fatal(want, err)
	}
	s.Close()

	refuse := roundTripper(func(*http.Request) (*http.Response, error) {
		t.Error("the network was used")
		return nil, errors.New("no")
	})
	c, ft := client(t, s, func(o *Options) {
		o.BaseURL, o.Replay, o.PerPage, o.Transport = "https://ghe.example/api/v3", dir, 10, refuse
	})
	got, err := ids(t, c, "repos/o/r/x")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if ft.total() != 0 {
		t.Errorf("a replay waited %v", ft.total())
	}
	_, err = c.list(t.Context(), "repos/o/r/y")
	if !errors.Is(err, ErrNotRecorded) || !contains(err.Error(), "GET /repos/o/r/y?page=1&per_page=10") {
		t.Errorf("a miss: %v", err)
	}
	if _, err := New(Options{Clock: ft.now, Sleep: ft.sleep, Record: dir}); err == nil || !contains(err.Error(), "not empty") {
		t.Errorf("a second recording in the folder: %v", err)
	}
	if _, err := New(Options{Clock: ft.now, Sleep: ft.sleep, Replay: dir + "-not"}); err == nil {
		t.Error("a recording that is not there opens")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestDamagedRecording(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "recording")
	s, c, _ := setup(t, func(o *Options) { o.Record = dir })
	numbered(s, "repos/o/r/x", 1)
	if _, err := ids(t, c, "repos/o/r/x"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, damage := range []string{"", "{}", "[", `{"method":"GET","path":"/other","status":200}`} {
		if err := os.WriteFile(files[0], []byte(damage), 0o644); err != nil {
			t.Fatal(err)
		}
		c, _ := client(t, s, func(o *Options) { o.Replay = dir })
		if _, err := ids(t, c, "repos/o/r/x"); err == nil || !contains(err.Error(), files[0]) {
			t.Errorf("%q: %v", damage, err)
		}
	}
}

// canary is no token of anybody.
const canary = "ghp_CanaryCanaryCanaryCanaryCanary012345"

// TestNoTokenAnywhere: no part of the token is in any file or error, also where servers echo it.
func TestNoTokenAnywhere(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache", "record"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), mode)
			s, c, _ := setup(t, func(o *Options) {
				o.Tokens = []string{canary}
				if o.Cache = dir; mode == "record" {
					o.Cache, o.Record = "", dir
				}
			})
			numbered(s, "repos/o/r/x", 3)
			s.Fault("/echo", 1, githubtest.Echo(200))
			s.Fault("/echo", 1, githubtest.Echo(418))
			s.Fault("/echo", 1, githubtest.Echo(403))
			s.Fault("/echo", 1, githubtest.Redirect(301, "https://evil.example/?"+canary))
			s.Fault("/echo", 1, githubtest.Status(404, "cut "+canary[:12]))
			var said []string
			for range 5 {
				if pg, err := c.get(t.Context(), "repos/o/r/echo"); err != nil {
					said = append(said, err.Error())
				} else {
					said = append(said, string(pg.body))
				}
			}
			if _, err := ids(t, c, "repos/o/r/x"); err != nil {
				t.Error(err)
			}
			if text := strings.Join(said, "\n"); contains(text, secretPrefix(canary)) || !contains(text, redacted) {
				t.Errorf("errors and answers:\n%s", text)
			}
			files := everyFile(t, dir)
			if len(files) < 3 || bytes.Contains(files, []byte(secretPrefix(canary))) {
				t.Errorf("%d bytes of files hold the token: %v", len(files), bytes.Contains(files, []byte(secretPrefix(canary))))
			}
			if s.Tokens()[0] != canary {
				t.Error("the token was not used")
			}
		})
	}
}

// everyFile returns the contents of all files, unpacked.
func everyFile(t *testing.T, dir string) (all []byte) {
	t.Helper()
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if plain, bad := dec.DecodeAll(data, nil); bad == nil {
			data = plain
		}
		all = append(append(all, path...), data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestUnreachable: no server at all is told from a server that refuses.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, func(o *Options) { o.Tries = 3; o.Tokens = []string{canary} })
	s.Close()
	_, err := c.Repository(t.Context(), "o/r")
	if !errors.Is(err, ErrNetwork) || c.Counts().Retries != 2 || ft.total() == 0 || contains(err.Error(), canary[:4]) {
		t.Errorf("%v after %+v", err, c.Counts())
	}
}

func TestTokenSources(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GITHUB_TOKEN": "b", "GH_TOKEN": "c"}
	if diff := cmp.Diff([]string{"b"}, EnvTokens(func(k string) string { return env[k] })); diff != "" {
		t.Error(diff)
	}
	env["SLUICE_GITHUB_TOKENS"] = " y,x\nx "
	if diff := cmp.Diff([]string{"x", "y"}, EnvTokens(func(k string) string { return env[k] })); diff != "" {
		t.Error(diff)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	for text, want := range map[string]string{
		"# mine\n" + canary + "\n\n": "", "": "holds none", "# only\n": "holds none", canary + "\x07\n": "characters that none has", "short\n": "shorter than any",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := FileTokens(file)
		if want == "" && (err != nil || len(got) != 1) || want != "" && (err == nil || !contains(err.Error(), want) || contains(err.Error(), "Canary")) {
			t.Errorf("%q: %d tokens, %v", text, len(got), err)
		}
	}
	if _, err := New(Options{Clock: time.Now, Sleep: newTime().sleep, Tokens: []string{"abcdef\nb"}}); !errors.Is(err, errBadTokenBytes) {
		t.Error(err)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://ghe.example/api/v3": "https://ghe.example/api/v3/", "http://127.0.0.1:1/": "http://127.0.0.1:1/",
		"ftp://x/": "", "https://user:pass@x/": "", "x": "", "https://x/?a=b": "", "http://[::1": "",
	} {
		u, err := baseURL(in)
		if want == "" && err == nil || want != "" && (err != nil || u.String() != want) {
			t.Errorf("%q: %v, %v", in, u, err)
		}
		if err != nil && contains(err.Error(), "pass") {
			t.Error(err)
		}
	}
}

// FuzzRecording: whatever is in a recording, what comes out is an answer to the question or an error.
func FuzzRecording(f *testing.F) {
	f.Add([]byte(`{"method":"GET","path":"/repos/o/r","status":200,"headers":{"Etag":"x"},"body":"{}"}`))
	f.Add([]byte(`{"method":"GET","path":"/repos/o/r","status":99,"bytes":"AA=="}`))
	base, err := baseURL(DefaultBaseURL)
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := http.NewRequest(http.MethodGet, DefaultBaseURL+"repos/o/r", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, key, err := question(req, base)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fileOf(dir, key, 1), data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := newReplayer(dir, base)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.RoundTrip(req)
		if err == nil && (resp.StatusCode < 100 || resp.StatusCode > 599 || resp.Body == nil) || err != nil && resp != nil {
			t.Errorf("%+v, %v", resp, err)
		}
	})
}

func FuzzScrub(f *testing.F) {
	f.Add("x " + canary + " y")
	f.Add(canary[:8] + canary[:8] + canary)
	s := newScrubber([]string{canary, "abc"})
	f.Fuzz(func(t *testing.T, text string) {
		out := s.bytes([]byte(text))
		if bytes.Contains(out, []byte(secretPrefix(canary))) || bytes.Contains(out, []byte("abc")) {
			t.Errorf("%q", out)
		}
	})
}

// TestScrubKinds: the kind of a token is a word like others, and stays in what people write.
func TestScrubKinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ token, in, want string }{
		{"github_pat_11ABCDEFG", "github_pages, github_pat_22XYZ", "github_pages, github_pat_22XYZ"},
		{"github_pat_11ABCDEFG", "see github_pat_11AB.", "see REDACTED."},
		{"ghp_CanaryCanary", "ghp_Canary ghp_Other", "REDACTED ghp_Other"},
		{"0123456789abcdef", "01234567 0123456", "REDACTED 0123456"},
	} {
		if got := string(newScrubber([]string{tt.token}).bytes([]byte(tt.in))); got != tt.want {
			t.Errorf("%s in %q: got %q, want %q", tt.token, tt.in, got, tt.want)
		}
	}
}
