package github

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// cache asks whether what it has still holds, and keeps what is new. It never answers without the server's word: who may not read
// something with today's token does not get it from the cache. Bodies are kept by their digest, compressed; the entries name them.
type cache struct {
	dir    string
	next   http.RoundTripper
	served *atomic.Int64
	enc    *zstd.Encoder
	dec    *zstd.Decoder
}

// entry is what is kept of an answer. It names neither token nor user.
type entry struct {
	URL     string            `json:"url"`
	Accept  string            `json:"accept"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"` // SHA-256 of its bytes
}

func newCache(dir string, next http.RoundTripper, served *atomic.Int64) (*cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody+1))
	if err != nil {
		return nil, err
	}
	return &cache{dir: dir, next: next, served: served, enc: enc, dec: dec}, nil
}

func (c *cache) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return c.next.RoundTrip(req)
	}
	path := c.entryPath(req)
	e, body, known := c.load(path, req)
	if known {
		req = req.Clone(req.Context())
		if tag := e.Headers["Etag"]; tag != "" {
			req.Header.Set("If-None-Match", tag)
		} else {
			req.Header.Set("If-Modified-Since", e.Headers["Last-Modified"])
		}
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotModified && known {
		c.served.Add(1)
		return e.answer(req, resp.Header, body), nil
	}
	return resp, c.keep(path, req, resp)
}

// answer is the kept one with the server's word about limits, marked for go-github as coming from a cache.
func (e entry) answer(req *http.Request, now http.Header, body []byte) *http.Response {
	h := restored(e.Headers)
	for name, v := range kept(now) {
		if len(name) > 11 && name[:11] == "X-Ratelimit" {
			h.Set(name, v)
		}
	}
	h.Set("X-From-Cache", "1")
	return answer(req, http.StatusOK, h, body)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func (c *cache) entryPath(req *http.Request) string {
	name := sum([]byte(req.URL.String() + "\x00" + req.Header.Get("Accept")))
	return filepath.Join(c.dir, "entries", name[:2], name[2:]+".json")
}

func (c *cache) bodyPath(digest string) string {
	return filepath.Join(c.dir, "bodies", digest[:2], digest[2:]+".zst")
}

// load returns what is kept, if it is whole. A damaged entry is as good as none.
func (c *cache) load(path string, req *http.Request) (e entry, body []byte, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &e) != nil || len(e.Body) != 2*sha256.Size {
		return e, nil, false
	}
	if _, err := hex.DecodeString(e.Body); err != nil || e.URL != req.URL.String() || e.Accept != req.Header.Get("Accept") {
		return e, nil, false
	}
	frame, err := os.ReadFile(c.bodyPath(e.Body))
	if err != nil {
		return e, nil, false
	}
	body, err = c.dec.DecodeAll(frame, nil)
	return e, body, err == nil && sum(body) == e.Body && (e.Headers["Etag"] != "" || e.Headers["Last-Modified"] != "")
}

// keep writes the body first: an entry never names a body that is not there.
func (c *cache) keep(path string, req *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Etag") == "" && resp.Header.Get("Last-Modified") == "" {
		return nil
	}
	body, err := take(resp)
	if err != nil {
		return err
	}
	e := entry{URL: req.URL.String(), Accept: req.Header.Get("Accept"), Headers: kept(resp.Header), Body: sum(body)}
	for name := range e.Headers {
		if len(name) > 11 && name[:11] == "X-Ratelimit" {
			delete(e.Headers, name)
		}
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	at := c.bodyPath(e.Body)
	if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) || c.damaged(at, e.Body) {
		if err := writeWhole(at, c.enc.EncodeAll(body, nil)); err != nil {
			return fmt.Errorf("writing to the cache: %w", err)
		}
	}
	if err := writeWhole(path, data); err != nil {
		return fmt.Errorf("writing to the cache: %w", err)
	}
	return nil
}

func (c *cache) damaged(path, digest string) bool {
	frame, err := os.ReadFile(path)
	if err != nil {
		return true
	}
	body, err := c.dec.DecodeAll(frame, nil)
	return err != nil || sum(body) != digest
}
