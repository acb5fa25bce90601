package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// maxBody bounds an answer, in bytes. The largest page of real pull requests has a few MB.
const maxBody = 64 << 20

var (
	errSilence = errors.New("the server said nothing for too long")
	errSlow    = errors.New("the answer came too slowly")
	errCut     = errors.New("the answer was cut")
)

// slowest is how many times the longest silence a whole answer may take.
const slowest = 10

// wire sends a request and reads its answer as a whole: what comes out of it has all its bytes, is JSON where it claims success, and
// holds no token.
type wire struct {
	next    http.RoundTripper
	silence time.Duration
	scrub   scrubber
	count   *atomic.Int64
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	alarm := time.AfterFunc(w.silence, func() { cancel(errSilence) })
	defer alarm.Stop()
	end := time.AfterFunc(slowest*w.silence, func() { cancel(errSlow) })
	defer end.Stop()
	w.count.Add(1)
	resp, err := w.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, w.explain(req, ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(io.LimitReader(&heard{resp.Body, alarm, w.silence}, maxBody+1))
	switch {
	case err != nil:
		return nil, w.explain(req, ctx, err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("%w: %s %s: more than %d bytes", ErrBadAnswer, req.Method, req.URL.Path, maxBody)
	case resp.ContentLength >= 0 && int64(len(body)) < resp.ContentLength:
		return nil, w.explain(req, ctx, errCut)
	}
	if err := checkJSON(req, resp, body); err != nil {
		return nil, err
	}
	w.scrub.header(resp.Header)
	return withBody(resp, w.scrub.bytes(body)), nil
}

// heard puts the alarm off whenever the server says something.
type heard struct {
	r       io.Reader
	alarm   *time.Timer
	silence time.Duration
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if n > 0 {
		h.alarm.Reset(h.silence)
	}
	return n, err
}

// explain names the request and says what ended it. The text of the transport's error is scrubbed: a proxy may echo the request.
func (w *wire) explain(req *http.Request, ctx context.Context, err error) error {
	if req.Context().Err() != nil {
		return req.Context().Err()
	}
	if cause := context.Cause(ctx); errors.Is(cause, errSilence) || errors.Is(cause, errSlow) {
		err = cause
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return fmt.Errorf("%w: %s %s: %s", ErrNetwork, req.Method, req.URL.Path, w.scrub.bytes([]byte(err.Error())))
}

// checkJSON refuses answers that claim success and are a page of something else, or half of one.
func checkJSON(req *http.Request, resp *http.Response, body []byte) error {
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && kind != "application/vnd.github+json" {
		return fmt.Errorf("%w: %s %s: its type is %.40q, not JSON", ErrBadAnswer, req.Method, req.URL.Path, kind)
	}
	if !json.Valid(body) {
		return fmt.Errorf("%w: %s %s: invalid JSON", ErrBadAnswer, req.Method, req.URL.Path)
	}
	return nil
}

// withBody gives an answer a body that is in memory.
func withBody(resp *http.Response, body []byte) *http.Response {
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.TransferEncoding = nil
	if resp.Header.Get("Content-Length") != "" {
		resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return resp
}

// take reads a body that is in memory and leaves it readable.
func take(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}
