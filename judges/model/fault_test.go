package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// canary is a key that must show nowhere.
const canary = "sk-canary-0123456789abcdefXYZ"

// row is something that the server does with the first request of a question. The second gets a good answer.
type row struct {
	name   string
	reply  modeltest.Reply
	err    error         // nil: the question is answered all the same
	states string        // of the reservations
	wait   time.Duration // before the second request, at least
	quiet  time.Duration // the endpoint's time-out for silence; 0: long
	total  time.Duration // the same for the whole
	only   string        // "stream" or "whole"; "": both
}

const (
	again     = "released settled"  // refused at once, then answered
	paidTwice = "uncertain settled" // perhaps worked on, then answered
)

func rows() []row {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	out := []row{
		{name: "nothing", reply: modeltest.Text("a good answer"), states: "settled"},
		{name: "429", reply: modeltest.Limited(""), states: again},
		{name: "429 with seconds", reply: modeltest.Limited("7"), states: again, wait: 7 * time.Second},
		{name: "429 with a date", reply: modeltest.Limited(now.Add(90 * time.Second).Format(http.TimeFormat)), states: again, wait: 90 * time.Second},
		{name: "429 with a day", reply: modeltest.Limited("86400"), states: again, wait: 2 * time.Minute},
		{name: "429 with nonsense", reply: modeltest.Limited("soon"), states: again},
		{name: "429 in the past", reply: modeltest.Limited(now.Add(-time.Hour).Format(http.TimeFormat)), states: again},
		{name: "no money left", reply: modeltest.Status(429, "insufficient_quota", "You exceeded your current quota"), err: model.ErrConfig, states: "released"},
		{name: "402", reply: modeltest.Status(402, "", "Payment required"), err: model.ErrConfig, states: "released"},
		{name: "500", reply: modeltest.Down(), states: again},
		{name: "500 without a body", reply: modeltest.Reply{Status: 500, Error: " "}, states: again},
		{name: "502 in HTML", reply: modeltest.Reply{Status: 502, Error: "<html><body>Bad Gateway</body></html>"}, states: again},
		{name: "503", reply: modeltest.Status(503, "", "Loading model"), states: again},
		{name: "529", reply: modeltest.Overloaded(), states: again},
		{name: "504", reply: modeltest.Status(504, "", "upstream timed out"), states: paidTwice},
		{name: "501", reply: modeltest.Status(501, "", "not implemented"), err: model.ErrRejected, states: "released"},
		{name: "400", reply: modeltest.Status(400, "invalid_request_error", "stop is too long"), err: model.ErrRejected, states: "released"},
		{name: "401", reply: modeltest.WrongKey(canary), err: model.ErrConfig, states: "released"},
		{name: "403", reply: modeltest.Status(403, "permission_error", "Your country is not supported"), err: model.ErrConfig, states: "released"},
		{name: "404", reply: modeltest.NoModel(), err: model.ErrConfig, states: "released"},
		{name: "400 about the model", reply: modeltest.Status(400, "", "x/y is not a valid model ID"), err: model.ErrConfig, states: "released"},
		{name: "max_tokens too large", reply: modeltest.Status(400, "invalid_value", "max_tokens is too large: 5000. This model supports at most 4096 "+
			"completion tokens"), err: model.ErrConfig, states: "released"},
		{name: "no temperature", reply: modeltest.Status(400, "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model."),
			err: model.ErrConfig, states: "released"},
		{name: "422", reply: modeltest.Reply{Status: 422, Error: `{"detail":[{"loc":["body"],"msg":"field required","input":"maximum context length"}]}`},
			err: model.ErrRejected, states: "released"},
		{name: "redirect", reply: modeltest.Reply{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/" + canary}}}, err: model.ErrConfig,
			states: "released"},
		{name: "connection dropped", reply: modeltest.Reply{Drop: true}, states: paidTwice},
		{name: "connection cut", reply: modeltest.Reply{Text: "half an answer", Cut: 60}, states: paidTwice},
		{name: "connection cut after the text", reply: modeltest.Reply{Text: "half", Cut: 400}, states: paidTwice, only: "stream"},
		{name: "half a body", reply: modeltest.Reply{Text: "half an answer", End: 60}, states: paidTwice},
		{name: "stream without an end", reply: modeltest.Reply{Text: "half", End: 400}, states: paidTwice, only: "stream"},
		{name: "malformed JSON", reply: modeltest.Reply{Error: `{"choices":[{"message":{"content":"x"}`}, states: paidTwice},
		{name: "wrong types", reply: modeltest.Reply{Error: `{"choices":{"message":1}}`}, states: paidTwice},
		{name: "JSON of another kind", reply: modeltest.Reply{Error: `[1,2]`}, states: paidTwice},
		{name: "null", reply: modeltest.Reply{Error: `null`}, states: paidTwice},
		{name: "HTML with 200", reply: modeltest.Reply{Status: 200, Error: "<html>please log in</html>"}, states: paidTwice},
		{name: "no choices", reply: modeltest.Reply{Error: `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}`}, states: paidTwice},
		{name: "an error with 200", reply: modeltest.Reply{Error: `{"error":{"code":502,"message":"Provider disconnected"}}`}, states: paidTwice},
		{name: "an error with 200 and no code", reply: modeltest.Reply{Error: `{"error":{"message":"oops"}}`}, states: paidTwice},
		{name: "a filter with 200", reply: modeltest.Reply{Error: `{"error":{"code":"content_filter","message":"no"}}`}, err: model.ErrFiltered, states: "uncertain"},
		{name: "empty", reply: modeltest.Reply{}, states: paidTwice},
		{name: "blank", reply: modeltest.Text(" \n\t"), states: paidTwice},
		{name: "no finish_reason", reply: modeltest.Reply{Text: "x", Finish: "none"}, states: paidTwice},
		{name: "unknown finish_reason", reply: modeltest.Reply{Text: "x", Finish: "error"}, states: paidTwice},
		{name: "tool call", reply: modeltest.Reply{Tools: true, Finish: "tool_calls"}, states: paidTwice},
		{name: "tool call beside text", reply: modeltest.Reply{Text: "x", Tools: true}, states: paidTwice},
		{name: "limit of output", reply: modeltest.Reply{Text: "x", Finish: "length"}, err: model.ErrTooLong, states: "settled"},
		{name: "limit of output before any text", reply: modeltest.Reply{Finish: "length"}, err: model.ErrTooLong, states: "settled"},
		{name: "other choices", reply: modeltest.Reply{Text: "a good answer", Others: []string{"another"}}, states: "settled"},
		{name: "whole reply to a stream", reply: modeltest.Reply{Text: "a good answer", Whole: true}, states: "settled"},
		{name: "as llama.cpp writes it", reply: modeltest.Reply{Text: "a good answer", Llama: true}, states: "settled"},
		{name: "kept alive", reply: modeltest.Reply{Text: "a good answer", Alive: 2000}, states: "settled"},
		{name: "silence", reply: modeltest.Reply{Hang: true}, states: paidTwice, quiet: 500 * time.Millisecond},
		{name: "silence in the middle", reply: modeltest.Reply{Text: "a b", Pause: time.Minute}, states: paidTwice, quiet: 500 * time.Millisecond},
		{name: "slow tokens", reply: modeltest.Reply{Text: "a good answer", Alive: 20, Pause: 60 * time.Millisecond}, states: "settled",
			quiet: time.Second, only: "stream"},
		{name: "too slow tokens", reply: modeltest.Reply{Text: "a good answer", Alive: 1000, Pause: 10 * time.Millisecond}, states: paidTwice,
			quiet: 10 * time.Second, total: 500 * time.Millisecond, only: "stream"},
	}
	for _, name := range slices.Sorted(maps.Keys(modeltest.TooLong())) {
		out = append(out, row{name: "too long as " + name + " says it", reply: modeltest.TooLong()[name], err: model.ErrTooLong, states: "released"})
	}
	for _, name := range slices.Sorted(maps.Keys(modeltest.Blocked())) {
		r := row{name: "filter as " + name + " says it", reply: modeltest.Blocked()[name], err: model.ErrFiltered, states: "released"}
		if r.reply.Status == 0 {
			r.states = "settled"
		}
		out = append(out, r)
	}
	return out
}

// echo puts the key into all that the server says.
func echo(r modeltest.Reply) modeltest.Reply {
	r.Error = strings.Replace(r.Error, `"message":"`, `"message":"`+canary+" "+canary[:12]+"***"+canary[20:]+" ", 1)
	r.Error = strings.Replace(r.Error, `body>`, `body>`+canary, 1)
	if strings.TrimSpace(r.Text) != "" {
		r.Text += " " + canary
		r.Model = canary
	}
	if r.Finish == "error" {
		r.Finish += canary
	}
	return r
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range rows() {
		for _, mode := range []string{"whole", "stream"} {
			if tt.only != "" && tt.only != mode {
				continue
			}
			t.Run(mode+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				tt.run(t, mode == "stream")
			})
		}
	}
}

func (tt row) run(t *testing.T, stream bool) {
	good := echo(modeltest.Text("a good answer"))
	s := modeltest.New(t, modeltest.PerQuestion(echo(tt.reply), good))
	config := s.Config("m")
	e := &config.Endpoints[0]
	e.Stream, e.KeyEnv, e.Silence, e.Total = stream, "CANARY", tt.quiet, tt.total
	var slept []time.Duration
	var log bytes.Buffer
	c, ledger := newClient(t, config, model.Options{
		Sleep:  quick(&slept),
		Clock:  func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Getenv: func(string) string { return canary + "\n" },
		Log:    slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	a, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
	if !errors.Is(err, tt.err) || tt.err != nil && err == nil {
		t.Fatalf("got the error %v, want %v", err, tt.err)
	}
	if tt.err == nil && a.Text != "a good answer [key]" {
		t.Errorf("the answer is %q", a.Text)
	}
	var states []string
	for _, e := range ledger.Entries() {
		states = append(states, string(e.State))
	}
	if got := strings.Join(states, " "); got != tt.states || s.Requests() != len(states) {
		t.Errorf("reservations: %s, want %s; %d requests", got, tt.states, s.Requests())
	}
	if len(slept) != len(states)-1 || len(slept) > 0 && (slept[0] < tt.wait || slept[0] > tt.wait+3*time.Second) {
		t.Errorf("waited %v, want %v and a little", slept, tt.wait)
	}
	if len(tt.reply.Others) > 0 && !strings.Contains(log.String(), "several choices") {
		t.Errorf("the log does not say that choices differ: %s", log.String())
	}
	x, _, lerr := ledger.Lookup(t.Context(), a.Key)
	if lerr != nil {
		t.Fatal(lerr)
	}
	kept, jerr := json.Marshal([]any{ledger.Entries(), x, a})
	if jerr != nil {
		t.Fatal(jerr)
	}
	for where, text := range map[string]string{"error": fmt.Sprint(err), "log": log.String(), "ledger": string(kept), "client": fmt.Sprintf("%+v %#v", c, c)} {
		for i := 0; i+6 <= len(canary); i++ {
			if strings.Contains(text, canary[i:i+6]) {
				t.Errorf("the %s shows %q of the key: %s", where, canary[i:i+6], text)
				break
			}
		}
	}
	if got := s.Seen()[0]; bytes.Contains(got.Body, []byte(canary)) {
		t.Error("the key is in the body of the request")
	}
	// What was settled is never asked again, however it ended.
	if strings.HasSuffix(tt.states, "settled") {
		before := s.Requests()
		b, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
		if !errors.Is(err, tt.err) || !b.Cached || b.MicroUSD != 0 || s.Requests() != before {
			t.Errorf("asked again: %+v, %v, %d more requests", b, err, s.Requests()-before)
		}
		if diff := cmp.Diff(a.Reply, b.Reply); diff != "" {
			t.Errorf("asked again (-first +again):\n%s", diff)
		}
	}
}

// TestGivesUp: a server that never gets well is asked as often as configured, and no more.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Down()))
	config := s.Config("m")
	config.Endpoints[0].Tries = 3
	var slept []time.Duration
	c, ledger := newClient(t, config, model.Options{Sleep: quick(&slept)})
	_, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
	if !errors.Is(err, model.ErrTransient) || s.Requests() != 3 || len(slept) != 2 || slept[1] < 900*time.Millisecond {
		t.Errorf("%v, %d requests, waited %v", err, s.Requests(), slept)
	}
	want := "asking m (prompt p, version 1): the model did not answer: HTTP 500 server_error: The server had an error while processing your request"
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v, want\n%s", err, want)
	}
	if ledger.Spent() != 0 {
		t.Errorf("%d spent for nothing", ledger.Spent())
	}
}

// TestNobodyThere: what never left costs nothing.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	s, stop := modeltest.Start(modeltest.Always(modeltest.Text("x")))
	stop()
	c, ledger := newClient(t, s.Config("m"), model.Options{})
	_, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
	if !errors.Is(err, model.ErrTransient) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
	entries := ledger.Entries()
	if len(entries) != 5 || ledger.Spent() != 0 {
		t.Errorf("%d reservations, %d spent", len(entries), ledger.Spent())
	}
}
