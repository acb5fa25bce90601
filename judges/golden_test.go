package judges_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
	"sluice/judges/reply"
	"sluice/prompts"
)

// golden compares with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test ./judges -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s, -want +got\n%s", file, diff)
	}
}

// indented is JSON for people.
func indented(t *testing.T, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestGoldenRequests holds the request of each judge and writer, byte for byte.
func TestGoldenRequests(t *testing.T) {
	t.Parallel()
	for _, a := range loadAll(t, true) {
		t.Run(a.prompt.Name, func(t *testing.T) {
			t.Parallel()
			request := model.Request{Prompt: a.prompt.Name, Version: a.prompt.Version, Messages: a.render(t).Messages, Schema: a.prompt.Schema}
			golden(t, filepath.Join("testdata", a.prompt.Name, "request.json"), indented(t, request))
		})
	}
}

// TestEveryPromptHasACase: a prompt without a golden request cannot be added, agents apart, which have a conversation.
func TestEveryPromptHasACase(t *testing.T) {
	t.Parallel()
	ps, err := prompts.All()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, a := range loadAll(t, true) {
		known[a.prompt.Name] = true
		for _, s := range a.prompt.Slots {
			if len(a.given[s.Name]) == 0 {
				t.Errorf("%s: the case has no %s", a.prompt.Name, s.Name)
			}
		}
	}
	for _, p := range ps {
		if !known[p.Name] && !strings.HasPrefix(p.Name, "agent-") {
			t.Errorf("prompt %s has no golden request", p.Name)
		}
	}
}

// TestVersions: a changed text has another version, since stored replies belong to one text.
func TestVersions(t *testing.T) {
	t.Parallel()
	const file = "testdata/versions.json"
	digests := map[string]map[string]string{}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &digests); err != nil {
			t.Fatal(err)
		}
	} else if !*update {
		t.Fatal(err)
	}
	ps, err := prompts.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		version := strconv.Itoa(p.Version)
		if digests[p.Name] == nil {
			digests[p.Name] = map[string]string{}
		}
		switch known, ok := digests[p.Name][version]; {
		case ok && known != p.Digest:
			t.Errorf("prompt %s was changed and is still version %s: raise it", p.Name, version)
		case !ok && !*update:
			t.Errorf("prompt %s, version %s is not noted: run go test ./judges -update", p.Name, version)
		case !ok:
			digests[p.Name][version] = p.Digest
		}
	}
	if *update && !t.Failed() {
		golden(t, file, indented(t, digests))
	}
}

// TestPromptsFit: a question whose slots are all filled beyond their budgets fits into 24,000 tokens with its schema. Code has about
// three bytes to a token; 2.8 leaves a margin. Agents have conversations, and limits of their own.
func TestPromptsFit(t *testing.T) {
	t.Parallel()
	const tokens, bytesPerToken = 24000, 2.8
	for _, a := range loadAll(t, true) {
		for _, s := range a.prompt.Slots {
			units := a.given[s.Name]
			a = a.with(s.Name, strings.Repeat(strings.Join(units, "\n")+"\n\n", 1+2*s.Bytes/len(units[0])))
		}
		size := len(a.prompt.Schema)
		for _, m := range a.render(t).Messages {
			size += len(m.Content)
		}
		if float64(size) > tokens*bytesPerToken || size < a.prompt.Budget*9/10 {
			t.Errorf("prompt %s has %d bytes when it is full, of a budget of %d; the limit is %.0f", a.prompt.Name, size, a.prompt.Budget, tokens*bytesPerToken)
		}
		t.Logf("%s: %d bytes", a.prompt.Name, size)
	}
}

// TestPromptsHoldNoReply: no text shows a reply that could be copied, and each names all keys of its reply.
func TestPromptsHoldNoReply(t *testing.T) {
	t.Parallel()
	for _, a := range loadAll(t, true) {
		p := a.prompt
		if objects := reply.Objects(p.System + "\n" + p.User); len(objects) > 0 {
			t.Errorf("prompt %s holds an object: %s", p.Name, objects[0])
		}
		keys, err := prompts.Properties(properties(t, p.Schema))
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Join(keys, ", ")
		if !strings.Contains(p.System, "the keys "+list+",") && !strings.Contains(p.System, "the keys "+strings.Replace(list, ", ", " and ", 1)+",") {
			t.Errorf("prompt %s does not name its keys in their order: %s", p.Name, list)
		}
	}
}

func properties(t *testing.T, schema json.RawMessage) json.RawMessage {
	t.Helper()
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	return s.Properties
}
