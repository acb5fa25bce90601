package judges

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/judges/evidence"
	"sluice/judges/reply"
	"sluice/prompts"
)

// Writer asks one model for a text in the form of a prompt's schema, with the same strictness as a judge and no vote.
type Writer struct {
	prompt prompts.Prompt
	schema *reply.Schema
	check  func(fields json.RawMessage, seen *evidence.Seen) error
}

// Written is what a writer got.
type Written struct {
	Prompt   string          `json:"prompt"`
	Version  int             `json:"version"`
	Model    string          `json:"model"`
	Fields   json.RawMessage `json:"fields"` // the reply; a JSON string when the prompt has no schema
	Calls    []string        `json:"calls"`  // keys of its questions in the ledger, repairs included
	MicroUSD int64           `json:"-"`      // as a Vote has it
}

// NewWriter makes a writer of a prompt. Check says what the schema cannot; it is pure, its error voids the reply, and the text
// of the error goes back to the model once. Nil: whatever fits is taken.
func NewWriter(prompt string, check func(fields json.RawMessage, seen *evidence.Seen) error) (*Writer, error) {
	p, err := prompts.Load(prompt)
	if err != nil {
		return nil, fmt.Errorf("making a writer: %w", err)
	}
	return newWriter(p, check)
}

func newWriter(p prompts.Prompt, check func(fields json.RawMessage, seen *evidence.Seen) error) (*Writer, error) {
	w := &Writer{prompt: p, check: check}
	if check == nil {
		w.check = func(json.RawMessage, *evidence.Seen) error { return nil }
	}
	if len(p.Schema) == 0 {
		return w, nil
	}
	var err error
	if w.schema, err = reply.Compile(p.Schema); err != nil {
		return nil, fmt.Errorf("making a writer of prompt %s: %w", p.Name, err)
	}
	return w, nil
}

// Write asks a model. Sample tells questions with the same words apart. Errors are those of Judge.Rule; what was paid and asked is in
// the result all the same.
func (w *Writer) Write(ctx context.Context, b Bench, c Case, model string, sample int) (Written, error) {
	out := Written{Prompt: w.prompt.Name, Version: w.prompt.Version, Model: model, Calls: []string{}}
	rendered, err := evidence.Render(w.prompt, c)
	if err != nil {
		return out, fmt.Errorf("writing: %w", err)
	}
	t := talk{bench: b, prompt: w.prompt, rendered: rendered, schema: w.schema, model: model, sample: sample}
	t.check = func(fields json.RawMessage) error { return w.check(fields, rendered.Seen) }
	out.Fields, err = t.run(ctx)
	out.Calls = append(out.Calls, t.calls...)
	out.MicroUSD = t.microUSD
	if err != nil {
		return out, fmt.Errorf("writing with prompt %s, model %s: %w", w.prompt.Name, model, err)
	}
	return out, nil
}
