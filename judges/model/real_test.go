package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/prompts"
)

// realQuestion is short, and its schema bounds the reply.
func realQuestion(text string) model.Request {
	return model.Request{Model: "m", Prompt: "p", Version: 1,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["reasoning","list","code"],"properties":{
			"reasoning":{"type":"string","minLength":3,"maxLength":80},"list":{"type":"array","maxItems":2,"items":{"type":"string","maxLength":20}},
			"code":{"enum":["A","C1"]}}}`),
		Messages: []model.Message{{Role: model.System, Content: "You judge a change. Say why in a sentence, then give the code: A if it is right, C1 if it is wrong."},
			{Role: model.User, Content: text}}}
}

const realCase = "-\tif n > 0 {\n+\tif n >= 0 {\n \t\treturn items[n-1]"

// named reports whether a question that went unanswered says so by one of the package's own errors.
func named(err error) bool {
	return slices.ContainsFunc([]error{model.ErrTooLong, model.ErrFiltered, model.ErrRejected, model.ErrTransient}, func(e error) bool { return errors.Is(err, e) })
}

// TestRealModelReplies asks in every form, in one piece and streamed. A reply is whole or a named failure, its use is counted, and what was
// settled is not asked again.
func TestRealModelReplies(t *testing.T) {
	r := modeltest.NewReal(t)
	for _, form := range []string{"", model.BySchema, model.ByObject, model.ByPrompt} {
		for _, stream := range []bool{false, true} {
			name := map[bool]string{false: "whole", true: "stream"}[stream] + "/" + form
			t.Run(name, func(t *testing.T) {
				config := r.Config(240)
				config.Endpoints[0].Structured, config.Endpoints[0].Stream = form, stream
				c, ledger := newClient(t, config, model.Options{})
				before := r.Requests()
				a, err := c.Ask(t.Context(), realQuestion(realCase), model.Charge{})
				asked := r.Requests() - before
				t.Logf("%v: %+q, %+v", err, a.Text, a.Usage)
				switch {
				case err != nil && !named(err):
					t.Fatalf("a failure without a name: %v", err)
				case errors.Is(err, model.ErrTransient):
					return // nothing was settled
				case a.Usage.Input < 20 || a.Usage.Output < 1 || a.MicroUSD != (a.Usage.Input+2*a.Usage.Output) || ledger.Spent() != a.MicroUSD || asked != 1:
					t.Errorf("%d requests, %+v, paid %d, spent %d", asked, a.Usage, a.MicroUSD, ledger.Spent())
				}
				if form == "" || form == model.BySchema {
					fits(t, err, a.Text)
				}
				b, again := c.Ask(t.Context(), realQuestion(realCase), model.Charge{})
				if d := cmp.Diff(a.Reply, b.Reply); d != "" || !b.Cached || b.MicroUSD != 0 || (err == nil) != (again == nil) || r.Requests() != before+1 {
					t.Errorf("asked again: %+v, %v, %d requests (-first +again):\n%s", b, again, r.Requests()-before, d)
				}
			})
		}
	}
	t.Log(r.Summary())
}

// fits: the server's grammar holds the schema.
func fits(t *testing.T, err error, text string) {
	t.Helper()
	var reply struct {
		Reasoning, Code string
		List            []string
	}
	if err != nil || json.Unmarshal([]byte(text), &reply) != nil || reply.Code != "A" && reply.Code != "C1" || len(reply.List) > 2 ||
		len([]rune(reply.Reasoning)) > 80 || len([]rune(reply.Reasoning)) < 3 {
		t.Errorf("a reply by schema is %q, %v", text, err)
	}
}

// TestRealModelTooLong: a question beyond the context, and a reply beyond its limit.
func TestRealModelTooLong(t *testing.T) {
	r := modeltest.NewReal(t)
	for _, stream := range []bool{false, true} {
		config := r.Config(5)
		config.Endpoints[0].Stream = stream
		c, ledger := newClient(t, config, model.Options{})
		_, err := c.Ask(t.Context(), ask(strings.Repeat("word ", 100_000)), model.Charge{})
		if !errors.Is(err, model.ErrTooLong) || ledger.Spent() != 0 {
			t.Errorf("stream %v: a question that is too long: %v, %d spent", stream, err, ledger.Spent())
		}
		before := r.Requests()
		a, err := c.Ask(t.Context(), ask("Count from one to one hundred: one two three"), model.Charge{})
		if !errors.Is(err, model.ErrTooLong) || a.Usage.Output != 5 || a.Finish != model.Length {
			t.Errorf("stream %v: a reply that is too long: %v, %+v", stream, err, a)
		}
		if b, err := c.Ask(t.Context(), ask("Count from one to one hundred: one two three"), model.Charge{}); !errors.Is(err, model.ErrTooLong) || !b.Cached || r.Requests() != before+1 {
			t.Errorf("stream %v: asked again: %v, %+v", stream, err, b)
		}
	}
}

// TestRealModelOtherName: a server with one model may answer for any name. Then the reply says who answered.
func TestRealModelOtherName(t *testing.T) {
	r := modeltest.NewReal(t)
	config := r.Config(3)
	config.Models[0].ID = "no-such-model"
	c, _ := newClient(t, config, model.Options{})
	a, err := c.Ask(t.Context(), ask("Say yes."), model.Charge{})
	t.Logf("asked for no-such-model: answered by %q, %v", a.Model, err)
	if !errors.Is(err, model.ErrConfig) && (a.Model == "" || a.Usage.Input == 0) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// TestRealModelSilence: a server that thinks longer than it may be silent may have worked: it is paid for.
func TestRealModelSilence(t *testing.T) {
	r := modeltest.NewReal(t)
	config := r.Config(300)
	config.Endpoints[0].Silence, config.Endpoints[0].Tries = 40*time.Millisecond, 1
	c, ledger := newClient(t, config, model.Options{})
	_, err := c.Ask(t.Context(), ask("Tell a long story of a lighthouse."), model.Charge{})
	if !errors.Is(err, model.ErrTransient) || !strings.Contains(err.Error(), "no byte for 40ms") {
		t.Errorf("got %v", err)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].State != model.Uncertain {
		t.Errorf("the ledger has %+v", e)
	}
}

// TestRealModelCancelled: what was not sent is not sent; what was sent is waited for and kept.
func TestRealModelCancelled(t *testing.T) {
	r := modeltest.NewReal(t)
	c, ledger := newClient(t, r.Config(20), model.Options{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Ask(gone, ask("Say yes."), model.Charge{}); !errors.Is(err, context.Canceled) || r.Requests() != 0 {
		t.Errorf("cancelled before: %v, %d requests", err, r.Requests())
	}
	going, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-r.Arrived(); cancel() }()
	a, err := c.Ask(going, ask("Say yes, and then say why."), model.Charge{})
	if err != nil && !named(err) || going.Err() == nil {
		t.Errorf("cancelled while it was under way: %+v, %v", a, err)
	}
	if errors.Is(err, model.ErrTransient) {
		return
	}
	if b, _ := c.Ask(t.Context(), ask("Say yes, and then say why."), model.Charge{}); !b.Cached || r.Requests() != 1 || b.Text != a.Text {
		t.Errorf("asked again: %+v, %d requests; the ledger has %+v", b, r.Requests(), ledger.Entries())
	}
}

// TestRealModelSchemas: llama.cpp takes the schema of every prompt. What it does not take is asked in another form.
func TestRealModelSchemas(t *testing.T) {
	r := modeltest.NewReal(t)
	all, err := prompts.All()
	if err != nil {
		t.Fatal(err)
	}
	type asked struct {
		schema json.RawMessage
		forms  string
	}
	schemas := map[string]asked{
		"of an unknown type": {json.RawMessage(`{"type":"object","properties":{"a":{"type":"wat"}},"required":["a"]}`), "json_schema json_object"},
		"that is too large":  {json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","minLength":100000}},"required":["a"]}`), "json_schema json_object"},
	}
	for _, p := range all {
		if len(p.Schema) > 0 {
			schemas[p.Name] = asked{p.Schema, "json_schema"}
		}
	}
	for name, want := range schemas {
		c, _ := newClient(t, r.Config(2), model.Options{})
		before := len(r.Replies())
		q := ask("Reply.")
		q.Schema = want.schema
		_, err := c.Ask(t.Context(), q, model.Charge{})
		var forms []string
		for _, a := range r.Replies()[before:] {
			forms = append(forms, a.Form)
		}
		if got := strings.Join(forms, " "); got != want.forms || !errors.Is(err, model.ErrTooLong) { // of the reply: it may have two tokens
			t.Errorf("a schema %s: asked with %s, want %s; %v", name, got, want.forms, err)
		}
	}
}
