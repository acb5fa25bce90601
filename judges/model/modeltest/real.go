package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/judges/model"
)

// The variables that name a real server for opt-in tests: what an endpoint's url is, and the model there; scripts/test-model.sh sets them.
const (
	RealURL = "SLUICE_MODEL_URL"
	RealID  = "SLUICE_MODEL_ID" // "": gemma-3-270m
)

// Real is a real server behind a proxy that counts what is asked. The proxy changes nothing.
type Real struct {
	URL string // of the proxy
	ID  string // of the model

	mu      sync.Mutex
	n       int
	replies []RealReply
	arrived chan struct{} // gets one for each question, if somebody listens
}

// RealReply is one answer as it came over the wire.
type RealReply struct {
	Status int
	Form   string // response_format of the question; "-": none
	Finish string
	Text   string
	Usage  model.Usage
	// Tokens in a second, where the server says so (llama.cpp does): of reading and of writing.
	Reads, Writes float64
}

// NewReal skips the test unless RealURL is set, and fails it when no server answers there.
func NewReal(t testing.TB) *Real {
	t.Helper()
	address := strings.TrimRight(os.Getenv(RealURL), "/")
	if address == "" {
		t.Skipf("%s names no server; make test-model starts one", RealURL)
	}
	to, err := url.Parse(address)
	if err != nil {
		t.Fatalf("%s: %v", RealURL, err)
	}
	answers(t, address)
	r := &Real{ID: os.Getenv(RealID), arrived: make(chan struct{})}
	if r.ID == "" {
		r.ID = "gemma-3-270m"
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) },
		ModifyResponse: r.listen,
		ErrorLog:       log.New(io.Discard, "", 0), // of clients that went away, which is what they are tested for
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		r.ask(hr)
		proxy.ServeHTTP(w, hr)
	}))
	t.Cleanup(h.Close)
	r.URL = h.URL + to.Path
	return r
}

func answers(t testing.TB, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/models", nil)
	if err != nil {
		t.Fatalf("%s: %v", RealURL, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s is set, but no server answers: %v", RealURL, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s is set, but its server says HTTP %d", RealURL, resp.StatusCode)
	}
}

// Config is a configuration with this server and one model, "m", at 1 dollar for a million tokens of input and 2 for output. It is
// patient: the machine may be busy.
func (r *Real) Config(maxOutput int) model.Config {
	return model.Config{
		Endpoints: []model.Endpoint{{Name: "real", URL: r.URL, Concurrent: 2, Tries: 2, Silence: 10 * time.Minute, Total: 15 * time.Minute}},
		Models:    []model.Spec{{Name: "m", Endpoint: "real", ID: r.ID, MaxOutput: maxOutput, InputUSD: "1", OutputUSD: "2"}},
	}
}

// Requests returns how many questions came.
func (r *Real) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Arrived gives one value for the next question that comes while somebody waits for it.
func (r *Real) Arrived() <-chan struct{} { return r.arrived }

// Replies returns the answers, also those that their client did not wait for, in the order of their ends.
func (r *Real) Replies() []RealReply {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]RealReply{}, r.replies...)
}

// Summary is one line about all answers so far.
func (r *Real) Summary() string {
	var u model.Usage
	var reads, writes, timed float64
	finishes := map[string]int{}
	for _, a := range r.Replies() {
		u.Input, u.Cached, u.Output = u.Input+a.Usage.Input, u.Cached+a.Usage.Cached, u.Output+a.Usage.Output
		finishes[fmt.Sprintf("%d %s", a.Status, a.Finish)]++
		if a.Writes > 0 {
			reads, writes, timed = reads+a.Reads, writes+a.Writes, timed+1
		}
	}
	timed = max(timed, 1)
	return fmt.Sprintf("%d requests, %v, tokens: %d read (%d of them cached), %d written; on average %.0f read and %.0f written in a second",
		r.Requests(), finishes, u.Input, u.Cached, u.Output, reads/timed, writes/timed)
}

// formKey carries the form of a question to its answer.
type formKey struct{}

// ask notes a question.
func (r *Real) ask(hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the proxy meets it again
	}
	hr.Body = io.NopCloser(bytes.NewReader(body))
	form := "-"
	if asked, err := read(body); err == nil && asked.Format != "" {
		form = asked.Format
	}
	*hr = *hr.WithContext(context.WithValue(hr.Context(), formKey{}, form))
	r.mu.Lock()
	r.n++
	r.mu.Unlock()
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

// listen has the answer noted when it has passed.
func (r *Real) listen(resp *http.Response) error {
	form, _ := resp.Request.Context().Value(formKey{}).(string)
	resp.Body = &overheard{ReadCloser: resp.Body, end: func(body []byte) {
		a := parse(body)
		a.Status, a.Form = resp.StatusCode, form
		r.mu.Lock()
		defer r.mu.Unlock()
		r.replies = append(r.replies, a)
	}}
	return nil
}

// overheard keeps what was read of a body, and tells it at the end.
type overheard struct {
	io.ReadCloser
	body bytes.Buffer
	end  func([]byte)
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.body.Write(p[:n])
	if errors.Is(err, io.EOF) || bytes.HasSuffix(bytes.TrimSpace(o.body.Bytes()), []byte("[DONE]")) {
		o.tell() // before the client knows
	}
	return n, err
}

// Close ends the answer also when its client went away.
func (o *overheard) Close() error {
	o.tell()
	return o.ReadCloser.Close()
}

func (o *overheard) tell() {
	if o.end != nil {
		o.end(o.body.Bytes())
		o.end = nil
	}
}

// parse reads an answer in one piece or a stream. What is not there stays empty: this is for reports, and decides nothing.
func parse(body []byte) (a RealReply) {
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: "))
		var piece struct {
			Choices []struct {
				Message, Delta struct{ Content string }
				Finish         string `json:"finish_reason"`
			}
			Usage struct {
				Prompt     int64 `json:"prompt_tokens"`
				Completion int64 `json:"completion_tokens"`
				Details    struct {
					Cached int64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
			Timings struct {
				Prompt    float64 `json:"prompt_per_second"`
				Predicted float64 `json:"predicted_per_second"`
			}
		}
		if json.Unmarshal(line, &piece) != nil {
			continue
		}
		for _, c := range piece.Choices {
			a.Text += c.Message.Content + c.Delta.Content
			if c.Finish != "" {
				a.Finish = c.Finish
			}
		}
		if u := piece.Usage; u.Prompt+u.Completion > 0 {
			a.Usage = model.Usage{Input: u.Prompt, Cached: u.Details.Cached, Output: u.Completion}
		}
		if piece.Timings.Predicted > 0 {
			a.Reads, a.Writes = piece.Timings.Prompt, piece.Timings.Predicted
		}
	}
	return a
}
