package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// The most that is read of an answer. A reply of 100,000 tokens, streamed in pieces of one, has some 30 MB; in one piece it has one.
const (
	maxReply   = 64 << 20
	maxWhole   = 16 << 20 // in one piece
	maxParts   = 1 << 19  // of a piece: an empty choice has two bytes in JSON, and hundreds in memory
	maxProblem = 64 << 10
)

var (
	errSilence  = errors.New("the time-out for silence")
	errTotal    = errors.New("the time-out for the whole request")
	errTooLarge = errors.New("the answer is larger than any reply")
)

// call is one HTTP request. go-openai sends through it: it completes the body, holds the key, watches the clock and remembers how far
// the request came.
type call struct {
	http     *http.Client
	endpoint Endpoint
	key      secret
	params   Parameters
	form     form
	now      func() time.Time

	silence *time.Timer
	plain   []byte // a whole reply where a stream was asked for
	header  http.Header

	mu     sync.Mutex
	state  progress
	cancel context.CancelCauseFunc
	given  error // why the caller gave up
}

type progress int

const (
	unknown    progress = iota // a transport that tells nothing: it may have been sent
	connecting                 // nothing was sent
	sent                       // a connection is there; from now on it may be worked on
)

// timed returns the context of the request. The caller's cancellation counts only until something was sent: what is sent may be paid,
// and its reply is waited for within the time-outs.
func (c *call) timed(ctx context.Context) (work context.Context, stop func()) {
	work, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.silence = time.AfterFunc(c.endpoint.Silence, func() { c.cancel(errSilence) })
	total := time.AfterFunc(c.endpoint.Total, func() { c.cancel(errTotal) })
	free := context.AfterFunc(ctx, func() { c.giveUp(context.Cause(ctx)) })
	work = httptrace.WithClientTrace(work, &httptrace.ClientTrace{
		GetConn: func(string) { c.reached(connecting) },
		GotConn: func(httptrace.GotConnInfo) { c.reached(sent) },
	})
	return work, func() {
		free()
		total.Stop()
		c.silence.Stop()
		c.cancel(nil)
	}
}

func (c *call) reached(p progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = max(c.state, p)
	if c.state == connecting && c.given != nil {
		c.cancel(c.given)
	}
}

func (c *call) giveUp(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given = why
	if c.state == connecting {
		c.cancel(why)
	}
}

// unsent reports whether the server certainly got nothing of the request.
func (c *call) unsent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == connecting
}

// Do sends the request. An answer that is no reply comes back as a fault.
func (c *call) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	if body, err = complete(body, c.params, c.form); err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.ContentLength = int64(len(body))
	c.authorise(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(req.Context(), err)
	}
	if resp.StatusCode < 200 { // 101: the connection is the server's now, and no time-out ends reading from it
		resp.Body.Close()
		return nil, broken("HTTP %d, which nobody asked for", resp.StatusCode)
	}
	c.header = resp.Header
	c.silence.Reset(c.endpoint.Silence)
	resp.Body = &watched{resp.Body, c, maxReply}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // a cut message is still one
		return nil, refused(resp.StatusCode, resp.Header, said, c.now())
	}
	return resp, c.take(req, resp)
}

// take reads a reply that comes in one piece, and refuses one that is no JSON or an error: go-openai would take either for an empty reply.
func (c *call) take(req *http.Request, resp *http.Response) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	streaming := strings.Contains(req.Header.Get("Accept"), "event-stream")
	if streaming && media != "application/json" {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole+1))
	if err == nil && len(body) > maxWhole {
		err = errTooLarge
	}
	if err != nil {
		return c.lost(req.Context(), err)
	}
	if err := c.within(body); err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if streaming {
		c.plain, resp.Body = body, http.NoBody
	}
	return nil
}

// within looks for what is no reply in a body.
func (c *call) within(body []byte) error {
	if !json.Valid(body) {
		return broken("no JSON (%d bytes)", len(body))
	}
	if n := parts(body); n > maxParts {
		return broken("it has %d parts", n)
	}
	var top struct{ Error json.RawMessage }
	if json.Unmarshal(body, &top) == nil && isSaid(top.Error) {
		return refusedWithin(c.header, body, c.now())
	}
	return nil
}

// parts counts the commas of a JSON text outside of its strings: no list in it has more items but one.
func parts(text []byte) (n int) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			inside = !inside
		case inside && text[i] == '\\':
			i++
		case !inside && text[i] == ',':
			n++
		}
	}
	return n
}

// isSaid reports whether a field is there and not null.
func isSaid(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (c *call) authorise(req *http.Request) {
	switch {
	case c.key.value == "":
	case c.endpoint.KeyHeader != "":
		req.Header.Set(c.endpoint.KeyHeader, c.key.value)
	default:
		req.Header.Set("Authorization", "Bearer "+c.key.value)
	}
}

// lost tells why no answer, or half of one, came.
func (c *call) lost(ctx context.Context, err error) *fault {
	f := &fault{kind: ErrTransient, paid: !c.unsent()}
	var bad *tls.CertificateVerificationError
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilence):
		f.text = fmt.Sprintf("no byte for %v", c.endpoint.Silence)
	case errors.Is(cause, errTotal):
		f.text = fmt.Sprintf("no whole reply within %v", c.endpoint.Total)
	case errors.Is(err, errTooLarge):
		f.text = errTooLarge.Error()
	case errors.As(err, &bad):
		f.kind, f.text = ErrConfig, oneLine(bad.Error())
	default:
		f.text = "the connection failed: " + oneLine(err.Error())
	}
	return f
}

// watched bounds a body and notes every byte of it.
type watched struct {
	io.ReadCloser
	call *call
	left int64
}

func (w *watched) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errTooLarge
	}
	n, err := w.ReadCloser.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	if n > 0 {
		w.call.silence.Reset(w.call.endpoint.Silence)
	}
	return n, err
}

// client is go-openai over this call. The key is not given to it.
func (c *call) client() *openai.Client {
	config := openai.DefaultConfig("")
	config.BaseURL = c.endpoint.URL
	config.HTTPClient = c
	config.EmptyMessagesLimit = math.MaxInt32 // comments that keep a stream alive; the body is bounded
	return openai.NewClientWithConfig(config)
}
