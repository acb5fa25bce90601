package model

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// said is a transport that answers everything with these bytes.
type said struct {
	status int
	media  string
	body   []byte
}

func (s said) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{"Content-Type": {s.media}}, Body: io.NopCloser(bytes.NewReader(s.body)), Request: req}, nil
}

// FuzzReply: whatever a server says, the question is answered with a text that ended well, or there is an error with a name; what was
// reserved is closed, and a priced question that was worked on is never free.
func FuzzReply(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"hello"}]},"finish_reason":"length"}],"usage":{"prompt_tokens":-3,"completion_tokens":9223372036854775807}}`,
		`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x"}]},"finish_reason":"tool_calls"}]}`,
		`{"error":{"message":"slow down","code":429}}`, `{"error":"prompt is too long"}`, `[{"error":{"code":400,"message":"context window"}}]`,
		`{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}`, `null`, `[]`, `{`, ``,
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"error\":{\"message\":\"overloaded\"}}\n\n", ": ping\n\ndata: {\"choices\":[{\"index\":7,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n",
		"event: error\ndata: {\"message\":\"x\"}\n\n", "data: {\"usage\":{\"prompt_tokens\":1}}\n\n", "data: [DONE]\n\n",
	} {
		f.Add(200, false, []byte(body))
		f.Add(200, true, []byte(body))
		f.Add(400, false, []byte(body))
	}
	known := []error{ErrTransient, ErrTooLong, ErrFiltered, ErrRejected, ErrConfig}
	f.Fuzz(func(t *testing.T, status int, stream bool, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		media := "application/json"
		if stream {
			media = "text/event-stream"
		}
		ledger := NewMemory(0)
		c, err := New(Config{Endpoints: []Endpoint{{Name: "e", URL: "http://model.test/v1", Stream: stream, Tries: 2}},
			Models: []Spec{{Name: "m", Endpoint: "e", MaxOutput: 50, InputUSD: "1", OutputUSD: "1"}}},
			Options{Ledger: ledger, HTTP: &http.Client{Transport: said{status, media, body}}, Sleep: func(context.Context, time.Duration) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Ask(t.Context(), Request{Model: "m", Prompt: "p", Messages: []Message{{Role: User, Content: "why?"}}, Schema: []byte(`{"type":"object"}`)}, Charge{})
		if err != nil && !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
			t.Fatalf("an error without a name: %v", err)
		}
		if err == nil && (strings.TrimSpace(a.Text) == "" || a.Finish != Stop || a.MicroUSD <= 0 || !utf8.ValidString(a.Text) || status >= 300) {
			t.Fatalf("HTTP %d: answered with %+v", status, a)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\n\r\x1b") || len(err.Error()) > 1000) {
			t.Fatalf("no line for people: %q", err)
		}
		for _, e := range ledger.Entries() {
			if e.State == Reserved || e.Spent < 0 || e.State == Settled && e.Spent == 0 {
				t.Fatalf("left in the ledger: %+v", e)
			}
		}
	})
}

// FuzzRetryAfter: no header makes a wait negative or endless.
func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{"", "7", "-1", "1e99", "NaN", "Inf", "0.5", "Fri, 02 Jan 2026 03:04:05 GMT", "Fri, 02 Jan 1000000 03:04:05 GMT", "soon"} {
		f.Add(v, true)
		f.Add(v, false)
	}
	now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, v string, ms bool) {
		h := http.Header{}
		if ms {
			h.Set("Retry-After-Ms", v)
		} else {
			h.Set("Retry-After", v)
		}
		if d := min(retryAfter(h, now), mostWait); d < 0 || d > mostWait {
			t.Fatalf("%q: %v", v, d)
		}
	})
}

// FuzzScrub: after scrubbing no piece of the key is left, and a text without any is as it was.
func FuzzScrub(f *testing.F) {
	f.Add("sk-abcdefgh12345", "Incorrect API key provided: sk-abcde***12345.")
	f.Add("sk-abcdefgh12345", "sk-abcdefgh12345sk-abcdefgh12345")
	f.Add("aaaaaaaaaa", "aaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, key, text string) {
		if len(key) < placeholder || strings.Contains(redacted, key) || strings.ContainsAny(key, "[]") {
			return
		}
		s := secret{key}
		got := s.scrub(text)
		clean := true
		for i := 0; i+fragment <= len(key); i++ {
			clean = clean && !strings.Contains(text, key[i:i+fragment])
			for piece := range strings.SplitSeq(got, redacted) {
				if strings.Contains(piece, key[i:i+fragment]) {
					t.Fatalf("%q is left in %q", key[i:i+fragment], got)
				}
			}
		}
		if clean && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// TestTooLarge: an answer without an end is cut off.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := &call{endpoint: Endpoint{Silence: time.Hour}, silence: time.AfterFunc(time.Hour, func() {})}
	w := &watched{io.NopCloser(strings.NewReader(strings.Repeat("x", 1000))), c, 100}
	b, err := io.ReadAll(w)
	if len(b) != 100 || !errors.Is(err, errTooLarge) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if f := c.lost(t.Context(), err); !errors.Is(f, ErrTransient) || !f.paid {
		t.Errorf("%v, paid %v", f, f.paid)
	}
}

// TestParts: only commas between values count.
func TestParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{``: 0, `[1,2,{"a":3,"b":4}]`: 3, `["a,b\",c","\\",","]`: 2, `"`: 0, `"\`: 0} {
		if got := parts([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
