package gharchive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Home is where the archive is.
const Home = "https://data.gharchive.org/{hour}.json.gz"

// Errors of fetching.
var (
	ErrAbsent   = errors.New("there is no such file")         // the server says so; see Hour.WhyAbsent
	ErrRefused  = errors.New("the server refuses")            // for good: another try would not help
	ErrServer   = errors.New("the server did not deliver")    // after all tries
	ErrTemplate = errors.New("not a template of an address")  // without {hour}, or without a host
	errMoved    = errors.New("the file changed in between")   // the part that is there is of another file
	errProgress = errors.New("cut off, but something came")   // go on at once
	errStalled  = errors.New("nothing came for too long")     // the connection is given up
	errTooLarge = errors.New("the file is larger than 2 GiB") // no hour is
)

// Fetcher gets hour files over HTTP. It is safe for concurrent use with different hours.
type Fetcher struct {
	Template string // see Check
	Dir      string // where files are put, and parts of files until they are whole
	Client   *http.Client
	Clock    func() time.Time
	BackOff  func() backoff.BackOff // between tries; default exponential with jitter
	Tries    uint                   // of a request that brings nothing; default 6
	Stall    time.Duration          // how long a connection may bring nothing; default 1 minute
}

// Bounds of a download.
const (
	maxFile     = 2 << 30
	minProgress = 64 << 10 // bytes that make a request one that brought something
	maxCuts     = 500      // of one file
	maxWait     = 15 * time.Minute
)

// Check gives a template its scheme: https when it has none. {hour} stands for 2015-01-01-8, or {year}, {month}, {day} and {h} for its
// parts.
func Check(template string) (string, error) {
	if !strings.Contains(template, "://") {
		template = "https://" + template
	}
	one, two := expand(template, Hour{2015, 1, 1, 8}), expand(template, Hour{2016, 2, 2, 9})
	u, err := url.Parse(one)
	v, verr := url.Parse(two)
	if err != nil || verr != nil || u.Host == "" || u.Host != v.Host || u.Scheme != "https" && u.Scheme != "http" || one == two {
		return "", fmt.Errorf("%w: %s", ErrTemplate, redact(template))
	}
	return template, nil
}

func expand(template string, h Hour) string {
	return strings.NewReplacer("{hour}", h.String(), "{year}", fmt.Sprintf("%04d", h.Year), "{month}", fmt.Sprintf("%02d", h.Month),
		"{day}", fmt.Sprintf("%02d", h.Day), "{h}", strconv.Itoa(h.Hour)).Replace(template)
}

// redact takes out of an address what may be a secret.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Fetched is a file that is there, whole.
type Fetched struct {
	Path string
	ETag string
	Size int64
	New  int64 // bytes that came over the network
}

// part is what is known of a file that is coming.
type part struct {
	URL      string `json:"url"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	Size     int64  `json:"size"` // of the whole, -1 unknown
}

// validator is what a server can tell a changed file by; "" when there is nothing, or nothing that is good for parts.
func (p part) validator() string {
	if p.ETag != "" {
		if strings.HasPrefix(p.ETag, "W/") {
			return ""
		}
		return p.ETag
	}
	return p.Modified
}

// Fetch gets the file of an hour, or what is missing of it. What came stays, so that the next try, or the next run, goes on from there.
func (f *Fetcher) Fetch(ctx context.Context, h Hour) (Fetched, error) {
	d := &download{f: f, url: expand(f.Template, h), path: filepath.Join(f.Dir, h.String()+".json.gz")}
	if st, err := os.Stat(d.path); err == nil && st.Mode().IsRegular() {
		return Fetched{Path: d.path, Size: st.Size()}, nil // whole: it only gets its name then
	}
	for range maxCuts {
		got, err := backoff.Retry(ctx, func() (Fetched, error) { return d.try(ctx) },
			backoff.WithBackOff(f.backOff()), backoff.WithMaxTries(f.tries()), backoff.WithMaxElapsedTime(0))
		if !errors.Is(err, errProgress) {
			return got, d.explain(ctx, err)
		}
	}
	return Fetched{}, d.explain(ctx, fmt.Errorf("%w: cut off %d times", ErrServer, maxCuts))
}

func (f *Fetcher) backOff() backoff.BackOff {
	if f.BackOff == nil {
		return backoff.NewExponentialBackOff()
	}
	return f.BackOff()
}

func (f *Fetcher) tries() uint {
	if f.Tries == 0 {
		return 6
	}
	return f.Tries
}

func (f *Fetcher) stall() time.Duration {
	if f.Stall == 0 {
		return time.Minute
	}
	return f.Stall
}

// download is one file on its way.
type download struct {
	f         *Fetcher
	url, path string
	came      int64 // in all tries
}

func (d *download) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	var known bool
	for _, e := range []error{ErrAbsent, ErrRefused, ErrServer} {
		known = known || errors.Is(err, e)
	}
	var local *os.PathError
	if !known && !errors.As(err, &local) {
		err = fmt.Errorf("%w: %w", ErrServer, err)
	}
	return fmt.Errorf("fetching %s: %w", redact(d.url), err)
}

// try makes one request.
func (d *download) try(ctx context.Context) (Fetched, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.f.stall(), func() { cancel(errStalled) })
	defer watch.Stop()
	have, known := d.have()
	resp, err := d.request(ctx, have, known)
	if err != nil {
		return Fetched{}, stalled(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	p, from, err := d.judge(resp, have, known)
	if err != nil {
		return Fetched{}, err
	}
	body := io.LimitReader(resp.Body, maxFile+1)
	n, err := d.receive(p, from, &watched{body, watch, d.f.stall()})
	d.came += n
	switch {
	case err != nil && n >= minProgress && ctx.Err() == nil, err != nil && n >= minProgress && errors.Is(context.Cause(ctx), errStalled):
		return Fetched{}, backoff.Permanent(fmt.Errorf("%w: %w", errProgress, err))
	case err != nil:
		return Fetched{}, stalled(ctx, err)
	case from+n > maxFile:
		return Fetched{}, backoff.Permanent(fmt.Errorf("%w: %w", ErrRefused, errTooLarge))
	}
	return d.finish(p, from+n)
}

// stalled says why a request was given up.
func stalled(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	var local *os.PathError
	if errors.As(err, &local) {
		return backoff.Permanent(err) // the disk is full, or the folder is gone
	}
	return err
}

// watched tells the watch that something came.
type watched struct {
	r     io.Reader
	watch *time.Timer
	stall time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.watch.Reset(w.stall)
	}
	return n, err
}

func (d *download) partFile() string { return d.path + ".part" }
func (d *download) noteFile() string { return d.path + ".part.json" }

// have tells how much of which file came in an earlier try or run.
func (d *download) have() (int64, part) {
	var p part
	note, err := os.ReadFile(d.noteFile())
	if err != nil || json.Unmarshal(note, &p) != nil || p.URL != redact(d.url) || p.validator() == "" {
		return 0, part{}
	}
	st, err := os.Stat(d.partFile())
	if err != nil || !st.Mode().IsRegular() || p.Size >= 0 && st.Size() > p.Size {
		return 0, part{}
	}
	return st.Size(), p
}

func (d *download) request(ctx context.Context, have int64, p part) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, backoff.Permanent(fmt.Errorf("%w: %w", ErrTemplate, err))
	}
	req.Header.Set("User-Agent", "sluice")
	req.Header.Set("Accept-Encoding", "identity") // the file is packed, not the transport
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", p.validator())
	}
	resp, err := d.f.Client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which may hold a secret
	}
	return resp, err
}

// judge reads the head of an answer: which file is coming, and from which byte on.
func (d *download) judge(resp *http.Response, have int64, known part) (p part, from int64, err error) {
	p = part{URL: redact(d.url), ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified"), Size: resp.ContentLength}
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return p, 0, nil
	case code == http.StatusPartialContent:
		start, size, ok := contentRange(resp.Header.Get("Content-Range"))
		if !ok || start != have || p.ETag != "" && p.ETag != known.ETag || p.Modified != "" && p.Modified != known.Modified || known.Size >= 0 && size >= 0 && size != known.Size {
			return p, 0, d.restart()
		}
		p.Size = size
		if p.validator() == "" {
			p.ETag, p.Modified = known.ETag, known.Modified
		}
		return p, have, nil
	case code == http.StatusRequestedRangeNotSatisfiable:
		if _, size, ok := contentRange(resp.Header.Get("Content-Range")); ok && size == have && size == known.Size {
			return known, have, nil // it was whole; the body is a page of an error
		}
		return p, 0, d.restart()
	case code == http.StatusNotFound || code == http.StatusGone:
		return p, 0, backoff.Permanent(ErrAbsent)
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code >= 500:
		return p, 0, d.later(resp)
	default:
		return p, 0, backoff.Permanent(fmt.Errorf("%w: %s", ErrRefused, resp.Status))
	}
}

// restart drops what is there; the next try begins anew.
func (d *download) restart() error {
	for _, name := range []string{d.partFile(), d.noteFile()} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return backoff.Permanent(err)
		}
	}
	return errMoved
}

// later says when to try again: when the server says so, in seconds or as a date, but not in hours.
func (d *download) later(resp *http.Response) error {
	err := fmt.Errorf("%w: %s", ErrServer, resp.Status)
	after := resp.Header.Get("Retry-After")
	wait := time.Duration(-1)
	if n, e := strconv.Atoi(after); e == nil {
		wait = time.Duration(min(n, 1<<20)) * time.Second
	} else if t, e := http.ParseTime(after); e == nil {
		wait = t.Sub(d.f.Clock())
	}
	if wait <= 0 {
		return err
	}
	return errors.Join(err, &backoff.RetryAfterError{Duration: min(wait, maxWait)})
}

// contentRange reads "bytes 5-9/10" and "bytes */10"; a size of -1 is unknown.
func contentRange(s string) (start, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	span, total, cut := strings.Cut(s, "/")
	if !ok || !cut {
		return 0, 0, false
	}
	size = -1
	if total != "*" {
		var err error
		if size, err = strconv.ParseInt(total, 10, 64); err != nil || size < 0 {
			return 0, 0, false
		}
	}
	if span == "*" {
		return -1, size, size >= 0
	}
	first, _, dash := strings.Cut(span, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	return start, size, dash && err == nil && start >= 0
}
