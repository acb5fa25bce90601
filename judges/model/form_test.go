package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// judgement is a question with a schema. Its properties are in an order that must be kept: reasons come before the verdict.
func judgement(text string) model.Request {
	return model.Request{Model: "m", Prompt: "szz-attribution", Version: 3,
		Schema: json.RawMessage(`{"type":"object","required":["reasoning","code"],"properties":{"reasoning":{"type":"string"},"code":{"enum":["A","C1"]}},"additionalProperties":false}`),
		Messages: []model.Message{{Role: model.System, Content: "You judge changes. <b> & \u2028"}, {Role: model.User, Content: text},
			{Role: model.Assistant, Content: "{}"}, {Role: model.User, Content: "again"}}}
}

// TestRequestBodies: what leaves is exactly this.
func TestRequestBodies(t *testing.T) {
	t.Parallel()
	free := judgement("x < y && \"z\"\n")
	free.Schema = nil
	for _, tt := range []struct {
		name       string
		request    model.Request
		structured string
		change     func(*model.Endpoint, *model.Spec)
	}{
		{"free", free, "", nil},
		{"schema", judgement("x"), model.BySchema, nil},
		{"object", judgement("x"), model.ByObject, nil},
		{"prompt", judgement("x"), model.ByPrompt, nil},
		{"stream", judgement("x"), model.BySchema, func(e *model.Endpoint, _ *model.Spec) { e.Stream = true }},
		{"extra", judgement("x"), model.BySchema, func(_ *model.Endpoint, s *model.Spec) {
			s.ID, s.NoTemperature, s.Extra = "gpt-5-test", true, map[string]any{"seed": 7, "reasoning_effort": "low"}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.New(t, modeltest.Always(modeltest.Text("{}")))
			config := s.Config("m")
			config.Endpoints[0].Structured = tt.structured
			if tt.change != nil {
				tt.change(&config.Endpoints[0], &config.Models[0])
			}
			c, ledger := newClient(t, config, model.Options{})
			a, err := c.Ask(t.Context(), tt.request, model.Charge{})
			if err != nil {
				t.Fatal(err)
			}
			e, _, err := ledger.Lookup(t.Context(), a.Key)
			if err != nil || e.Structured != tt.structured {
				t.Errorf("the exchange says %q, %v", e.Structured, err)
			}
			golden(t, filepath.Join("testdata", "request-"+tt.name+".json"), append(s.Seen()[0].Body, '\n'))
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestFallsBack: what an endpoint refuses is asked in another form, which is remembered, and is no part of the key.
func TestFallsBack(t *testing.T) {
	t.Parallel()
	good := modeltest.Text(`{"ok":true}`)
	type row struct {
		name   string
		script modeltest.Script
		fixed  string
		forms  string // of the requests for two questions
		err    error
	}
	rows := []row{
		{name: "knows schemas", script: modeltest.Always(good), forms: "json_schema json_schema"},
		{name: "knows objects", script: modeltest.OnlyFormats(good, "json_object"), forms: "json_schema json_object json_object"},
		{name: "knows nothing", script: modeltest.OnlyFormats(good, ""), forms: "json_schema json_object - -"},
		{name: "fixed", script: modeltest.OnlyFormats(good, ""), fixed: model.ByPrompt, forms: "- -"},
		{name: "fixed to what it refuses", script: modeltest.OnlyFormats(good, ""), fixed: model.BySchema, forms: "json_schema json_schema", err: model.ErrRejected},
		{name: "refuses every form", script: modeltest.Always(modeltest.NoFormat("any")), forms: "json_schema json_object - -", err: model.ErrRejected},
	}
	for name, invalid := range modeltest.BadSchema() {
		rows = append(rows, row{name: "refuses one schema as " + name, forms: "json_schema json_object json_schema", script: func(r modeltest.Request) modeltest.Reply {
			if bytes.Contains(r.Schema, []byte("C1")) {
				return invalid
			}
			return good
		}})
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var forms []string
			s := modeltest.New(t, func(r modeltest.Request) modeltest.Reply {
				form := r.Format
				if form == "" {
					form = "-"
				}
				forms = append(forms, form) // one request at a time
				if r.Format != "json_schema" && !strings.Contains(r.Messages[0].Content, `"type":"object"`) {
					t.Error("the schema is not in the text")
				}
				return tt.script(r)
			})
			config := s.Config("m")
			config.Endpoints[0].Structured = tt.fixed
			c, ledger := newClient(t, config, model.Options{})
			second := judgement("two")
			second.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
			for _, r := range []model.Request{judgement("one"), second} {
				if _, err := c.Ask(t.Context(), r, model.Charge{}); !errors.Is(err, tt.err) {
					t.Errorf("got %v, want %v", err, tt.err)
				}
			}
			if got := strings.Join(forms, " "); got != tt.forms {
				t.Errorf("asked with %s, want %s", got, tt.forms)
			}
			for _, e := range ledger.Entries() {
				if e.State == model.Uncertain || e.State == model.Reserved {
					t.Errorf("a refused form is %s", e.State)
				}
			}
		})
	}
}

// TestMaxCompletionTokens: models that reason take the limit under another name.
func TestMaxCompletionTokens(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, func(r modeltest.Request) modeltest.Reply {
		if _, old := r.Fields["max_tokens"]; old {
			return modeltest.Status(400, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		}
		if r.MaxTokens != 1000 {
			t.Errorf("the limit is %d", r.MaxTokens)
		}
		return modeltest.Text("good")
	})
	c, _ := newClient(t, s.Config("m"), model.Options{})
	for _, text := range []string{"one", "two"} {
		if _, err := c.Ask(t.Context(), ask(text), model.Charge{}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Requests() != 3 {
		t.Errorf("%d requests, want 3: what was learned was forgotten", s.Requests())
	}
}

// TestKeys: what decides the answer is in the key, and nothing else.
func TestKeys(t *testing.T) {
	t.Parallel()
	spec := model.Spec{Name: "m", Endpoint: "e", ID: "id", MaxOutput: 10, InputUSD: "1", OutputUSD: "1"}
	key := func(s model.Spec, r model.Request) string {
		t.Helper()
		p, err := s.Parameters()
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Key(p)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(spec, judgement("x"))
	for name, change := range map[string]func(*model.Spec, *model.Request){
		"name":     func(s *model.Spec, r *model.Request) { s.Name, r.Model = "other", "other" },
		"endpoint": func(s *model.Spec, _ *model.Request) { s.Endpoint = "other" },
		"price":    func(s *model.Spec, _ *model.Request) { s.InputUSD = "9" },
	} {
		s, r := spec, judgement("x")
		if change(&s, &r); key(s, r) != base {
			t.Errorf("the %s changes the key", name)
		}
	}
	seen := map[string]string{base: "nothing"}
	for name, change := range map[string]func(*model.Spec, *model.Request){
		"id":             func(s *model.Spec, _ *model.Request) { s.ID = "other" },
		"temperature":    func(s *model.Spec, _ *model.Request) { s.Temperature = 1 },
		"no temperature": func(s *model.Spec, _ *model.Request) { s.NoTemperature = true },
		"max_output":     func(s *model.Spec, _ *model.Request) { s.MaxOutput = 11 },
		"extra":          func(s *model.Spec, _ *model.Request) { s.Extra = map[string]any{"seed": 1} },
		"prompt":         func(_ *model.Spec, r *model.Request) { r.Prompt = "other" },
		"version":        func(_ *model.Spec, r *model.Request) { r.Version++ },
		"message":        func(_ *model.Spec, r *model.Request) { r.Messages[1].Content = "y" },
		"role":           func(_ *model.Spec, r *model.Request) { r.Messages[1].Role = model.System },
		"schema":         func(_ *model.Spec, r *model.Request) { r.Schema = nil },
		"sample":         func(_ *model.Spec, r *model.Request) { r.Sample = 1 },
	} {
		s, r := spec, judgement("x")
		change(&s, &r)
		k := key(s, r)
		if other, double := seen[k]; double {
			t.Errorf("changing %s gives the same key as changing %s", name, other)
		}
		seen[k] = name
	}
}
