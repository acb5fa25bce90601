// Package modeltest is a server that speaks OpenAI's protocol after a script, with all that goes wrong between a client and a model, and
// the conformance suite of ledgers.
//
//	s := modeltest.New(t, modeltest.PerQuestion(modeltest.Limited("1"), modeltest.JSON(map[string]any{"code": "A"})))
//	c, err := model.New(s.Config("m"), model.Options{Ledger: model.NewMemory(0), Sleep: …})
//	… c.Ask(…) is limited once, then answered; s.Requests() is 2, s.Seen() has one body that came twice.
//
// It is for tests. It holds no model: it says what the script says, and counts what it was asked.
package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/judges/model"
)

// Request is what the server was asked.
type Request struct {
	Seen // digest and times of this body

	N           int // 1 for the first request to the server
	Model       string
	Messages    []model.Message
	Stream      bool
	Format      string          // "json_schema", "json_object" or ""
	Schema      json.RawMessage // of json_schema
	MaxTokens   int             // max_tokens or max_completion_tokens
	Temperature *float64        // nil: not sent
	Fields      map[string]json.RawMessage
	Header      http.Header
}

// User is the text of the last message of the user.
func (r Request) User() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == model.User {
			return m.Content
		}
	}
	return ""
}

// Has reports whether any message holds the text.
func (r Request) Has(text string) bool {
	return slices.ContainsFunc(r.Messages, func(m model.Message) bool { return strings.Contains(m.Content, text) })
}

// Seen is a body that the server got, and how often. In a Request it counts up to this one.
type Seen struct {
	Digest string // SHA-256 of the body
	Body   []byte
	Times  int
}

// Script says what the server answers. It may be called from several requests at once.
type Script func(r Request) Reply

// Always answers everything in the same way.
func Always(r Reply) Script { return func(Request) Reply { return r } }

// Sequence answers the first request with the first reply, and so on; the last one goes on for ever.
func Sequence(replies ...Reply) Script {
	return func(r Request) Reply { return replies[min(r.N, len(replies))-1] }
}

// PerQuestion answers the first request of a body with the first reply, and so on; the last one goes on for ever.
func PerQuestion(replies ...Reply) Script {
	return func(r Request) Reply { return replies[min(r.Times, len(replies))-1] }
}

// Server answers after its script.
type Server struct {
	URL string // what an endpoint's url is

	script Script
	close  chan struct{}

	mu    sync.Mutex
	n     int
	seen  map[string]*Seen
	order []string
	now   int
	most  int
}

// New starts a server on the loopback interface; it stops with the test.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s, stop := Start(script)
	t.Cleanup(stop)
	return s
}

// Start is New for programs that are no tests of one process. The caller stops it.
func Start(script Script) (s *Server, stop func()) {
	s = &Server{script: script, close: make(chan struct{}), seen: map[string]*Seen{}}
	h := httptest.NewServer(s)
	s.URL = h.URL + "/v1"
	return s, func() {
		close(s.close)
		h.CloseClientConnections()
		h.Close()
	}
}

// Seen returns what was asked, each body once, in the order of the first time.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Seen
	for _, d := range s.order {
		out = append(out, *s.seen[d])
	}
	return out
}

// Requests returns how many requests came.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// AtOnce returns how many requests were under way at once, at most.
func (s *Server) AtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Endpoint is a configured endpoint for this server, named "test".
func (s *Server) Endpoint() model.Endpoint {
	return model.Endpoint{Name: "test", URL: s.URL, Concurrent: 16}
}

// Config is a configuration with this server and models that cost 1 dollar for a million tokens of input, 0.1 for cached ones and 2 for
// output.
func (s *Server) Config(models ...string) model.Config {
	c := model.Config{Endpoints: []model.Endpoint{s.Endpoint()}}
	for _, m := range models {
		c.Models = append(c.Models, model.Spec{Name: m, Endpoint: "test", Context: 32000, MaxOutput: 1000, InputUSD: "1", CachedUSD: "0.1", OutputUSD: "2"})
	}
	return c
}

// ServeHTTP knows one path.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if hr.Method != http.MethodPost || hr.URL.Path != "/v1/chat/completions" {
		http.Error(w, `{"error":{"message":"Invalid URL","type":"invalid_request_error"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the client went away
	}
	r, err := read(body)
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, err.Error()), http.StatusBadRequest)
		return
	}
	r.Header = hr.Header
	s.count(&r)
	defer s.leave()
	s.script(r).write(writer{w, hr, r, s.close})
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

func (s *Server) count(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.now++
	s.most = max(s.most, s.now)
	seen := s.seen[r.Digest]
	if seen == nil {
		seen = &Seen{Digest: r.Digest, Body: r.Body}
		s.seen[r.Digest] = seen
		s.order = append(s.order, r.Digest)
	}
	seen.Times++
	r.N, r.Times = s.n, seen.Times
}

// read parses a request as a server would.
func read(body []byte) (Request, error) {
	sum := sha256.Sum256(body)
	r := Request{Seen: Seen{Digest: hex.EncodeToString(sum[:]), Body: body}}
	var b struct {
		Model               string          `json:"model"`
		Messages            []model.Message `json:"messages"`
		Stream              bool            `json:"stream"`
		MaxTokens           int             `json:"max_tokens"`
		MaxCompletionTokens int             `json:"max_completion_tokens"`
		Temperature         *float64        `json:"temperature"`
		ResponseFormat      struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return r, fmt.Errorf("reading a request: %w", err)
	}
	if err := json.Unmarshal(body, &r.Fields); err != nil {
		return r, fmt.Errorf("reading a request: %w", err)
	}
	r.Model, r.Messages, r.Stream, r.Temperature = b.Model, b.Messages, b.Stream, b.Temperature
	r.MaxTokens = max(b.MaxTokens, b.MaxCompletionTokens)
	r.Format, r.Schema = b.ResponseFormat.Type, b.ResponseFormat.JSONSchema.Schema
	return r, nil
}
