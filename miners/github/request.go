package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// maxAccepted is how often a 202 is asked again, with waits of 1, 2, 4 … seconds.
const maxAccepted = 6

// page is an answer of the API.
type page struct {
	body []byte
	next int    // number of the next page; 0 for none
	path string // where it came from in the end, after a redirection
	from string // where it was first asked for, if that was redirected
}

// get reads from a path below the base, with its query. One redirection to the same host is followed: that of a renamed repository.
func (c *Client) get(ctx context.Context, path string) (page, error) {
	pg, to, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil || to == "" {
		return pg, err
	}
	next, err := c.follow(path, to)
	if err != nil {
		return page{}, err
	}
	pg, to, err = c.send(ctx, http.MethodGet, next, nil)
	if err == nil && to != "" {
		err = fmt.Errorf("%w: GET %s leads to a second one", ErrRedirect, path)
	}
	pg.path, pg.from = next, path
	return pg, err
}

// follow turns the place of a redirection into a path below the base. Tokens go to no other host.
func (c *Client) follow(path, to string) (string, error) {
	u, err := c.base.Parse(to)
	if err != nil || u.Host != c.base.Host || u.Scheme != c.base.Scheme || !strings.HasPrefix(u.Path, c.base.Path) {
		return "", fmt.Errorf("%w: GET %s leads out of the API", ErrRedirect, path)
	}
	next := strings.TrimPrefix(u.EscapedPath(), c.base.EscapedPath())
	// The place names the new resource, not always with the query of the old one.
	_, query, _ := strings.Cut(path, "?")
	if u.RawQuery != "" {
		query = u.RawQuery
	}
	if query != "" {
		next += "?" + query
	}
	return next, nil
}

// send asks until there is an answer, a definite refusal, or no patience left. A limit is waited out and the same request is sent again:
// no page is ever passed over. to is the place of a redirection.
func (c *Client) send(ctx context.Context, method, path string, body any) (pg page, to string, err error) {
	resource := resourceOf(method, "/"+path)
	limits, accepted := 0, 0
	for {
		t, err := c.pool.acquire(ctx, resource)
		if err != nil {
			return page{}, "", err
		}
		pg, resp, err := c.once(ctx, t, method, path, body)
		c.pool.saw(t, resource, resp)
		if err == nil {
			c.pool.rested(t)
			return pg, "", nil
		}
		if to, ok := redirection(err); ok {
			return page{}, to, nil
		}
		again, err := c.handle(ctx, refusal{t, resource, err, &limits, &accepted})
		if !again {
			return page{}, "", c.refused(method, path, err)
		}
	}
}

func (c *Client) once(ctx context.Context, t *token, method, path string, body any) (page, *github.Response, error) {
	c.pool.mu.Lock()
	gh := t.gh
	c.pool.mu.Unlock()
	req, err := gh.NewRequest(method, path, body)
	if err != nil {
		return page{}, nil, err
	}
	var buf bytes.Buffer
	resp, err := gh.Do(ctx, req, &buf)
	if err != nil {
		return page{}, resp, err
	}
	if method == http.MethodPost {
		if err := graphqlLimit(buf.Bytes(), resp); err != nil {
			return page{}, resp, err
		}
	}
	return page{body: buf.Bytes(), next: resp.NextPage, path: path}, resp, nil
}

// refusal is what a request met, and how often it met that.
type refusal struct {
	t                *token
	resource         string
	err              error
	limits, accepted *int
}

// handle decides whether the request is sent again. Before it returns true it has waited, or has made the pool wait.
func (c *Client) handle(ctx context.Context, r refusal) (again bool, err error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var accepted *github.AcceptedError
	if errors.As(r.err, &accepted) {
		if *r.accepted++; *r.accepted >= maxAccepted {
			return false, ErrAccepted
		}
		err := c.wait(ctx, "since the API works on it", time.Second<<(*r.accepted-1))
		return err == nil, err
	}
	limited := c.limited(ctx, r)
	if limited {
		if *r.limits++; *r.limits >= maxLimits {
			return false, ErrLimited
		}
		return true, nil
	}
	var e *github.ErrorResponse
	if errors.As(r.err, &e) && e.Response.StatusCode == http.StatusUnauthorized && r.t.bearer != "" {
		c.pool.bury(r.t)
		return true, nil // another token may do
	}
	return false, r.err
}

// limited tells whether a refusal is a limit, and lets the token rest. The secondary limit comes with 403 or 429, with and without
// Retry-After, and not always in words that go-github knows (hub4j/github-api#1805 and #2009).
func (c *Client) limited(ctx context.Context, r refusal) bool {
	var primary *github.RateLimitError
	if errors.As(r.err, &primary) {
		c.primary(ctx, r, primary)
		return true
	}
	var secondary *github.AbuseRateLimitError
	if errors.As(r.err, &secondary) {
		c.pool.block(r.t, retryAfter(secondary.Response))
		return true
	}
	var e *github.ErrorResponse
	if !errors.As(r.err, &e) {
		return false
	}
	status, h := e.Response.StatusCode, e.Response.Header
	words := strings.ToLower(e.Message)
	switch {
	case status == http.StatusTooManyRequests && h.Get("X-Ratelimit-Remaining") == "0":
		c.spent(r, resetOf(h))
	case status == http.StatusTooManyRequests,
		status == http.StatusForbidden && (h.Get("Retry-After") != "" || strings.Contains(words, "rate limit") || strings.Contains(words, "abuse detection")):
		c.pool.block(r.t, retryAfter(e.Response))
	default:
		return false
	}
	return true
}

// primary handles an exhausted quota. go-github also refuses by itself, with an answer that no server gave, from what it saw last; that may
// be out of date, so the quota is asked for before anybody sleeps (google/go-github#2633).
func (c *Client) primary(ctx context.Context, r refusal, e *github.RateLimitError) {
	if !strings.Contains(e.Message, "not making remote request") {
		c.spent(r, e.Rate.Reset.Time)
		return
	}
	if !c.pool.ask(ctx, r.t) {
		c.spent(r, e.Rate.Reset.Time)
	}
}

// spent notes that the quota is used up. A server that says so and names no moment to come would make a hot loop: that is a penalty too.
func (c *Client) spent(r refusal, reset time.Time) {
	if reset.After(c.now()) && *r.limits < maxLimits/2 {
		c.pool.exhaust(r.t, r.resource, reset)
		return
	}
	c.pool.block(r.t, 0)
}

// retryAfter is what the server asks to wait; 0 when it asks for nothing that can be read. Another header, X-Ratelimit-Reset, is about the
// primary limit and can be an hour ahead: it does not count.
func retryAfter(resp *http.Response) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(resp.Header.Get("Retry-After")), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

func resetOf(h http.Header) time.Time {
	n, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// redirection gives the place that an answer points to.
func redirection(err error) (to string, ok bool) {
	var e *github.ErrorResponse
	if !errors.As(err, &e) {
		return "", false
	}
	switch e.Response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return e.Response.Header.Get("Location"), e.Response.Header.Get("Location") != ""
	}
	return "", false
}

// refused names the request in an error that can be shown.
func (c *Client) refused(method, path string, err error) error {
	var e *github.ErrorResponse
	if errors.As(err, &e) {
		if e.Response.StatusCode == http.StatusUnauthorized {
			return ErrUnauthorized
		}
		return &StatusError{Method: method, Path: "/" + path, Status: e.Response.StatusCode, Message: short(e.Message)}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the rest of it repeats the address
	}
	for _, known := range []error{ErrNetwork, ErrBadAnswer, ErrNotRecorded, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%s /%s: %w", method, path, err)
}

// short makes a server's words fit into an error.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
