package gharchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"
)

// archive is a server of one file. script says what becomes of the requests, one after the other; the last entry goes on.
type archive struct {
	t      *testing.T
	mu     sync.Mutex
	data   []byte
	etag   string
	script []func(a *archive, w http.ResponseWriter, r *http.Request)
	log    []string // "GET range" of each request
}

func (a *archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := min(len(a.log), len(a.script)-1)
	a.log = append(a.log, strings.TrimSpace(r.Method+" "+r.Header.Get("Range")))
	if r.URL.Path != "/2015-01-01-8.json.gz" || r.Header.Get("Accept-Encoding") != "identity" {
		a.t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
	}
	a.script[n](a, w, r)
}

// whole serves what is asked for, ranges too.
func whole(a *archive, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", a.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.data))
}

// noRanges ignores ranges.
func noRanges(a *archive, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("ETag", a.etag)
	_, _ = w.Write(a.data)
}

// cutAfter breaks the connection after some bytes of what was asked for.
func cutAfter(n int) func(a *archive, w http.ResponseWriter, r *http.Request) {
	return func(a *archive, w http.ResponseWriter, r *http.Request) {
		from := 0
		if s, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && r.Header.Get("If-Range") == a.etag {
			from, _ = strconv.Atoi(strings.TrimSuffix(s, "-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(a.data)-1, len(a.data)))
		}
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Content-Length", strconv.Itoa(len(a.data)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(a.data[from:min(from+n, len(a.data))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// stalls sends some bytes and then nothing.
func stalls(n int) func(a *archive, w http.ResponseWriter, r *http.Request) {
	return func(a *archive, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Content-Length", strconv.Itoa(len(a.data)))
		_, _ = w.Write(a.data[:n])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// slow sends everything, with pauses.
func slow(a *archive, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", strconv.Itoa(len(a.data)))
	for part := range slices.Chunk(a.data, 15) {
		_, _ = w.Write(part)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(20 * time.Millisecond)
	}
}

func status(code int, header ...string) func(a *archive, w http.ResponseWriter, r *http.Request) {
	return func(_ *archive, w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>"))
	}
}

// replaced is another file under the same name from now on.
func replaced(next func(a *archive, w http.ResponseWriter, r *http.Request)) func(a *archive, w http.ResponseWriter, r *http.Request) {
	return func(a *archive, w http.ResponseWriter, r *http.Request) {
		if a.etag != `"two"` {
			a.etag, a.data = `"two"`, bytes.Repeat([]byte("new "), 60_000)
		}
		next(a, w, r)
	}
}

func fetcher(t *testing.T, h http.Handler) *Fetcher {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &Fetcher{
		Template: srv.URL + "/{hour}.json.gz", Dir: filepath.Join(t.TempDir(), "d"), Client: srv.Client(), Clock: time.Now,
		BackOff: func() backoff.BackOff { return &backoff.ZeroBackOff{} },
	}
}

type script = []func(a *archive, w http.ResponseWriter, r *http.Request)

func TestFetch(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789abcde\x00"), 15_000) // 240,000 bytes
	for _, tt := range []struct {
		name   string
		script script
		log    []string
		err    error
	}{
		{"at once", script{whole}, []string{"GET"}, nil},
		{"cut", script{cutAfter(100_000), whole}, []string{"GET", "GET bytes=100000-"}, nil},
		{"cut often", script{cutAfter(70_000), cutAfter(70_000), cutAfter(70_000), cutAfter(70_000)}, []string{"GET", "GET bytes=70000-", "GET bytes=140000-", "GET bytes=210000-"}, nil},
		{"cut, without ranges", script{cutAfter(100_000), noRanges}, []string{"GET", "GET bytes=100000-"}, nil},
		{"always cut before anything comes", script{cutAfter(10)}, []string{"GET", "GET bytes=10-", "GET bytes=20-", "GET bytes=30-", "GET bytes=40-", "GET bytes=50-"}, ErrServer},
		{"stalled", script{stalls(100_000), whole}, []string{"GET", "GET bytes=100000-"}, nil},
		{"replaced in between", script{cutAfter(100_000), replaced(whole)}, []string{"GET", "GET bytes=100000-"}, nil},
		{
			"replaced, and the server does not mind", script{cutAfter(100_000), replaced(func(a *archive, w http.ResponseWriter, r *http.Request) {
				r.Header.Del("If-Range")
				whole(a, w, r)
			})},
			[]string{"GET", "GET bytes=100000-", "GET"}, nil,
		},
		{
			"a range that was not asked for", script{cutAfter(100_000), status(http.StatusPartialContent, "Content-Range", "bytes 5-9/240000"), whole},
			[]string{"GET", "GET bytes=100000-", "GET"}, nil,
		},
		{"unsatisfiable", script{cutAfter(100_000), status(http.StatusRequestedRangeNotSatisfiable, "Content-Range", "bytes */7"), whole}, []string{"GET", "GET bytes=100000-", "GET"}, nil},
		{"busy", script{status(503), status(502), status(429, "Retry-After", "0"), status(500), whole}, []string{"GET", "GET", "GET", "GET", "GET"}, nil},
		{"Retry-After", script{status(429, "Retry-After", "1"), whole}, []string{"GET", "GET"}, nil},
		{"Retry-After as a date", script{status(503, "Retry-After", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)), whole}, []string{"GET", "GET"}, nil},
		{"always busy", script{status(503)}, []string{"GET", "GET", "GET", "GET", "GET", "GET"}, ErrServer},
		{"absent", script{status(404)}, []string{"GET"}, ErrAbsent},
		{"forbidden", script{status(403)}, []string{"GET"}, ErrRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &archive{t: t, data: data, etag: `"one"`, script: tt.script}
			f := fetcher(t, a)
			if tt.name == "stalled" { // only here: a busy machine brings nothing for long, too
				f.Stall = 300 * time.Millisecond
			}
			got, err := f.Fetch(t.Context(), Hour{2015, 1, 1, 8})
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.log, a.log); diff != "" {
				t.Error(diff)
			}
			if tt.err != nil {
				return
			}
			file, err := os.ReadFile(got.Path)
			if err != nil || !bytes.Equal(file, a.data) || got.Size != int64(len(a.data)) || got.ETag != a.etag {
				t.Errorf("%d bytes of %d, %+v, %v", len(file), len(a.data), got, err)
			}
			left, _ := os.ReadDir(f.Dir)
			if len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestFetchSlowBodies(t *testing.T) {
	t.Parallel()
	a := &archive{t: t, data: bytes.Repeat([]byte("0123456789abcde"), 30), script: script{slow}}
	f := fetcher(t, a)
	f.Stall = 300 * time.Millisecond
	got, err := f.Fetch(t.Context(), Hour{2015, 1, 1, 8})
	if err != nil || got.Size != 30*15 {
		t.Errorf("longer than a stall in all, but never without bytes for so long: %+v, %v", got, err)
	}
}

// TestFetchGoesOn: another run, with another fetcher, goes on with the part.
func TestFetchGoesOn(t *testing.T) {
	t.Parallel()
	a := &archive{t: t, data: bytes.Repeat([]byte("x"), 240_000), etag: `"one"`, script: script{stalls(100_000), whole}}
	f := fetcher(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if st, err := os.Stat(filepath.Join(f.Dir, "2015-01-01-8.json.gz.part")); err == nil && st.Size() == 100_000 {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := f.Fetch(ctx, Hour{2015, 1, 1, 8}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again := *f
	got, err := again.Fetch(t.Context(), Hour{2015, 1, 1, 8})
	if err != nil || got.New != 140_000 || a.log[1] != "GET bytes=100000-" {
		t.Errorf("%+v, %v, %v", got, err, a.log)
	}
}

func TestFetchTellsNoSecrets(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(srv.Close)
	const canary = "c4n4ry"
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, template := range []string{"http://u:" + canary + "@" + host + "/{hour}?token=" + canary, "http://u:" + canary + "@127.0.0.1:1/{hour}?token=" + canary} {
		f := fetcher(t, http.NotFoundHandler())
		f.Template = template
		_, err := f.Fetch(t.Context(), Hour{2015, 1, 1, 8})
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%v", err)
		}
		notes, _ := filepath.Glob(filepath.Join(f.Dir, "*.json"))
		for _, n := range notes {
			if b, _ := os.ReadFile(n); bytes.Contains(b, []byte(canary)) {
				t.Errorf("%s", b)
			}
		}
	}
	if _, err := Check("ftp://" + canary + "@x/{hour}"); err == nil || strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		Home: "https://data.gharchive.org/2015-01-01-8.json.gz", "archive.example/{year}/{month}/{day}/{h}.gz": "https://archive.example/2015/01/01/8.gz",
		"http://127.0.0.1:1/{year}-{month}-{day}-{h}.json.gz": "http://127.0.0.1:1/2015-01-01-8.json.gz", "https://archive.example/": "", "{hour}": "", "file:///x/{hour}": "",
	} {
		checked, err := Check(template)
		if (err == nil) != (want != "") || err == nil && expand(checked, Hour{2015, 1, 1, 8}) != want {
			t.Errorf("%s: %s, %v", template, checked, err)
		}
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	a := &archive{t: t, data: []byte("0123"), etag: `"one"`, script: script{whole}}
	f := fetcher(t, a)
	for _, tt := range []struct {
		etag string
		size int64
		want bool
	}{{`"one"`, 4, false}, {`"two"`, 4, true}, {`"one"`, 5, true}, {"", 4, false}} {
		if got, err := f.Changed(t.Context(), Hour{2015, 1, 1, 8}, tt.etag, tt.size); err != nil || got != tt.want {
			t.Errorf("%+v: %v %v", tt, got, err)
		}
	}
}
