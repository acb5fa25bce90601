// Package github reads repositories, pull requests, issues and releases from the REST API of GitHub, over a transport that caches,
// records and replays, and with any number of tokens. It tells what the API said, byte for byte, and derives from it what the texts and
// events claim: which issue a change closes, which earlier change introduced a defect, which commit a report names as the first bad one.
//
// It never takes a diff from the web, never trusts a list that moved while it was read, never follows a redirection to another host, and
// never lets a byte of a token into an error, a cache or a recording. It keeps no state but the cache; who resumes a run passes the place.
package github

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// DefaultBaseURL is the public API. GitHub Enterprise has https://HOST/api/v3/.
const DefaultBaseURL = "https://api.github.com/"

// Errors that callers tell apart.
var (
	ErrUnauthorized  = errors.New("no token is accepted")
	ErrNetwork       = errors.New("the API cannot be reached")
	ErrLimited       = errors.New("the API keeps limiting the rate")
	ErrAccepted      = errors.New("the API keeps answering 202 (try later)")
	ErrNotRecorded   = errors.New("not in the recording")
	ErrRedirect      = errors.New("a redirection that is not followed")
	ErrMoving        = errors.New("the list kept changing while it was read")
	ErrUnknownRepo   = errors.New("no such repository")
	ErrBadAnswer     = errors.New("not an answer of the API")
	errBadTokenBytes = errors.New("a token is shorter than any, or has characters that none has")
)

// StatusError is a definite refusal: the same request will get the same answer.
type StatusError struct {
	Method, Path string
	Status       int
	Message      string // the API's, cut
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// Options configure a Client. Clock and Sleep are required: every wait goes through them.
type Options struct {
	BaseURL string // default DefaultBaseURL
	Tokens  []string
	Clock   func() time.Time
	Sleep   func(context.Context, time.Duration) error
	// Transport reaches the network; default: a copy of http.DefaultTransport.
	Transport http.RoundTripper
	Cache     string         // folder; "" for none
	Record    string         // folder, new or empty; the cache is not used then
	Replay    string         // folder; the network and the cache are not used then
	Tries     int            // of a request that fails in passing; default 5
	Silence   time.Duration  // how long a server may say nothing; default 60 s
	Jitter    func() float64 // in [0, 1); default random
	PerPage   int            // default 100, the API's most
	// Waiting is told of each wait before it begins; nil: nobody.
	Waiting func(reason string, d time.Duration)
}

// Counts are what a Client has done so far.
type Counts struct {
	Requests  int64 // answers that came over the wire
	FromCache int64 // of them, answered "not modified": the body is the cache's
	Retries   int64 // requests that were sent again after a failure in passing
	Waits     int64
	Waited    time.Duration
}

// Client reads from one API with one or more tokens. It is safe for concurrent use.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
	pool *pool
	// noEdits: GraphQL was asked once and is not there.
	noEdits atomic.Bool
	count   struct {
		requests, cached, retries, waits, waited atomic.Int64
	}
}

// New checks the options and opens cache, recording or replay.
func New(o Options) (*Client, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	base, err := baseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{o: o, base: base}
	transport, err := c.stack()
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.pool = newPool(c, o.Tokens)
	return c, nil
}

func (o *Options) defaults() error {
	if o.Clock == nil || o.Sleep == nil {
		return errors.New("a clock and a sleeper are required")
	}
	if o.Record != "" && o.Replay != "" {
		return errors.New("recording and replaying exclude each other")
	}
	for _, t := range o.Tokens {
		if !plausibleToken(t) {
			return errBadTokenBytes
		}
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	if o.Tries < 1 {
		o.Tries = 5
	}
	if o.Silence <= 0 {
		o.Silence = time.Minute
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.PerPage < 1 || o.PerPage > 100 {
		o.PerPage = 100
	}
	if o.Waiting == nil {
		o.Waiting = func(string, time.Duration) {}
	}
	return nil
}

func baseURL(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(s, "/") + "/")
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("the base address must be http(s)://HOST/PATH, without user and query")
	}
	return u, nil
}

// stack builds the transport: retry, then cache, recording or replay, then the wire.
func (c *Client) stack() (http.RoundTripper, error) {
	if c.o.Transport == nil {
		c.o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	var rt http.RoundTripper = &wire{next: c.o.Transport, silence: c.o.Silence, scrub: newScrubber(c.o.Tokens), count: &c.count.requests}
	var err error
	switch {
	case c.o.Replay != "":
		rt, err = newReplayer(c.o.Replay, c.base)
	case c.o.Record != "":
		rt, err = newRecorder(c.o.Record, c.base, rt)
	case c.o.Cache != "":
		rt, err = newCache(c.o.Cache, rt, &c.count.cached)
	}
	if err != nil {
		return nil, err
	}
	return &retrier{next: rt, tries: c.o.Tries, sleep: c.wait, count: &c.count.retries}, nil
}

// now is the clock's time; in a replay, where waits take no time, it is ahead by what was waited.
func (c *Client) now() time.Time {
	if c.o.Replay != "" {
		return c.o.Clock().Add(time.Duration(c.count.waited.Load()))
	}
	return c.o.Clock()
}

// wait sleeps, tells of it and counts it. In a replay nobody waits.
func (c *Client) wait(ctx context.Context, reason string, d time.Duration) error {
	c.count.waits.Add(1)
	c.count.waited.Add(int64(d))
	if c.o.Replay != "" {
		return ctx.Err()
	}
	c.o.Waiting(reason, d)
	return c.o.Sleep(ctx, d)
}

// Counts returns what was done so far.
func (c *Client) Counts() Counts {
	return Counts{
		Requests: c.count.requests.Load(), FromCache: c.count.cached.Load(), Retries: c.count.retries.Load(),
		Waits: c.count.waits.Load(), Waited: time.Duration(c.count.waited.Load()),
	}
}

// Host names the API in places that must tell two of them apart, such as marks.
func (c *Client) Host() string { return c.base.Host }

// foreign is Host where that is not GitHub's own: the ids and names of two hosts have nothing to do with each other.
func (c *Client) foreign() string {
	if own := strings.TrimSuffix(strings.TrimPrefix(DefaultBaseURL, "https://"), "/"); c.base.Host != own {
		return c.base.Host
	}
	return ""
}
