package github

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"
)

// interaction is a request and its answer, in a file of its own: a recording of a long run is written as it goes, and a kill loses nothing
// that was answered. (go-vcr keeps a whole cassette in memory, writes it at the end, and writes the request's headers, with the token,
// unless a hook takes them out.) Of the request only what is named here is kept.
type interaction struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"` // with the query, without host and base
	Request string            `json:"request,omitempty"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"` // instead, when the body is not UTF-8
}

// asked counts how often each thing was asked for: the same question may get several answers in turn.
type asked struct {
	mu sync.Mutex
	n  map[string]int
}

func (a *asked) next(key string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == nil {
		a.n = map[string]int{}
	}
	a.n[key]++
	return a.n[key]
}

func fileOf(dir, key string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%04d.json", sum([]byte(key))[:24], n))
}

// question is what makes two requests the same.
func question(req *http.Request, base *url.URL) (i interaction, key string, err error) {
	i = interaction{Method: req.Method, Path: targetOf(req.URL, base)}
	if req.GetBody != nil {
		r, err := req.GetBody()
		if err != nil {
			return i, "", err
		}
		body, err := io.ReadAll(r)
		if err != nil {
			return i, "", err
		}
		i.Request = string(body)
	}
	return i, i.Method + " " + i.Path + "\n" + i.Request, nil
}

type recorder struct {
	dir   string
	base  *url.URL
	next  http.RoundTripper
	asked asked
}

func newRecorder(dir string, base *url.URL, next http.RoundTripper) (*recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the recording: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("making the recording: %w", err)
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("making the recording: %s is not empty, and two recordings in one folder would be neither", dir)
	}
	return &recorder{dir: dir, base: base, next: next}, nil
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	i, key, err := question(req, r.base)
	if err != nil {
		return nil, err
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := take(resp)
	if err != nil {
		return nil, err
	}
	i.Status, i.Headers = resp.StatusCode, kept(resp.Header)
	if utf8.Valid(body) {
		i.Body = string(body)
	} else {
		i.Bytes = body
	}
	data, err := json.MarshalIndent(i, "", " ")
	if err != nil {
		return nil, fmt.Errorf("recording %s %s: %w", i.Method, i.Path, err)
	}
	if err := writeWhole(fileOf(r.dir, key, r.asked.next(key)), append(data, '\n')); err != nil {
		return nil, fmt.Errorf("recording %s %s: %w", i.Method, i.Path, err)
	}
	return resp, nil
}

type replayer struct {
	dir   string
	base  *url.URL
	asked asked
}

func newReplayer(dir string, base *url.URL) (*replayer, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the recording: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("opening the recording: %s is not a folder", dir)
	}
	return &replayer{dir: dir, base: base}, nil
}

// RoundTrip gives the recorded answers to a question in turn, and the last one for ever. It never reaches the network.
func (r *replayer) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	i, key, err := question(req, r.base)
	if err != nil {
		return nil, err
	}
	var data []byte
	path := ""
	for n := r.asked.next(key); n > 0; n-- {
		path = fileOf(r.dir, key, n)
		if data, err = os.ReadFile(path); err == nil {
			break
		}
	}
	if data == nil {
		return nil, fmt.Errorf("%w: %s %s", ErrNotRecorded, i.Method, i.Path)
	}
	var found interaction
	if err := json.Unmarshal(data, &found); err != nil {
		return nil, fmt.Errorf("reading the recording %s: %w", path, err)
	}
	if found.Method != i.Method || found.Path != i.Path || found.Status < 100 || found.Status > 599 {
		return nil, fmt.Errorf("reading the recording %s: it is not that of %s %s", path, i.Method, i.Path)
	}
	body := []byte(found.Body)
	if found.Bytes != nil {
		body = found.Bytes
	}
	h := restored(found.Headers)
	h.Del("X-Ratelimit-Reset") // a moment of the past, or one that nobody need wait for
	return answer(req, found.Status, h, body), nil
}
