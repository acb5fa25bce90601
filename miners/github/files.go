package github

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// keptHeaders are the headers of answers that a cache or a recording keeps. Those of requests are never kept.
var keptHeaders = []string{
	"Content-Type", "Etag", "Last-Modified", "Link", "Location", "Retry-After", "X-Ratelimit-Limit", "X-Ratelimit-Remaining",
	"X-Ratelimit-Reset", "X-Ratelimit-Resource", "X-Ratelimit-Used",
}

func kept(h http.Header) map[string]string {
	out := map[string]string{}
	for _, name := range keptHeaders {
		if v := h.Get(name); v != "" {
			out[name] = v
		}
	}
	return out
}

func restored(h map[string]string) http.Header {
	out := http.Header{}
	for _, name := range keptHeaders {
		if v := h[name]; v != "" {
			out.Set(name, v)
		}
	}
	return out
}

// answer makes an answer of what was kept.
func answer(req *http.Request, status int, h http.Header, body []byte) *http.Response {
	return withBody(&http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req,
	}, body)
}

// writeWhole puts a file in its place at once: who is killed leaves the old one or the new one, and at worst a temporary file.
func writeWhole(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// target names what is asked for, without the host, so that it is the same behind another address.
func targetOf(u, base *url.URL) string {
	path := u.EscapedPath()
	if n := len(base.Path) - 1; len(path) >= n && path[:n] == base.Path[:n] {
		path = path[n:]
	}
	if q := u.Query().Encode(); q != "" {
		path += "?" + q
	}
	return path
}
