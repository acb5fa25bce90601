package judges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice/judges/evidence"
	"sluice/judges/model"
	"sluice/judges/reply"
	"sluice/prompts"
)

// ErrNoVerdict says that a model was asked as often as is allowed and gave nothing that can be used.
var ErrNoVerdict = errors.New("the model gave no valid reply")

const (
	// maxSamples is how many samples of one model a panel may have. Numbers above are those of fresh conversations.
	maxSamples = 1000
	// roundSamples is how far apart the samples of two rounds are, see Bench.Round.
	roundSamples = 10 * maxSamples
	// fresh is how often a conversation that went wrong begins anew, with another number, so that the stored replies of the first
	// do not come back.
	fresh = 1
	// maxReturned is how many bytes of a reply that cannot be used are shown to the model again.
	maxReturned = 4000
)

// talk is a conversation with one model about one case: a question, and what is said again when a reply cannot be used.
type talk struct {
	bench    Bench
	prompt   prompts.Prompt
	rendered evidence.Rendered
	schema   *reply.Schema // nil: free text
	model    string
	sample   int
	// check says why a reply that fits the schema is void all the same.
	check func(fields json.RawMessage) error

	calls    []string
	microUSD int64
}

// run asks until a reply can be used. Errors of the asker pass through; ErrNoVerdict wraps the last reason otherwise.
func (t *talk) run(ctx context.Context) (json.RawMessage, error) {
	var last error
	for n := range fresh + 1 {
		fields, err := t.conversation(ctx, t.sample+n*maxSamples+t.bench.Round*roundSamples)
		var v void
		if !errors.As(err, &v) {
			return fields, err
		}
		last = v.error
	}
	return nil, fmt.Errorf("%w: %w", ErrNoVerdict, last)
}

// errCut says that a reply came and did not end.
var errCut = errors.New("the reply was cut")

// void is the reason why a conversation ended without a reply that can be used.
type void struct{ error }

// conversation asks, and says once what does not fit, and once what does not hold.
func (t *talk) conversation(ctx context.Context, sample int) (json.RawMessage, error) {
	messages := t.rendered.Messages
	misfits, voids := 0, 0
	for {
		text, err := t.ask(ctx, messages, sample)
		if errors.Is(err, errCut) {
			return nil, void{err} // it says nothing; a fresh conversation may be shorter
		}
		if err != nil {
			return nil, err
		}
		fields, fault := t.read(text)
		again := "Your reply cannot be used: " + oneLine(fault) + ". Reply again: the JSON object alone, in the form that was asked for."
		if fault == nil {
			if fault = t.check(fields); fault == nil {
				return fields, nil
			}
			var f flaw
			if errors.As(fault, &f) {
				return nil, fault
			}
			voids++
			again = "Your reply has the right form, but it cannot be used: " + oneLine(fault) +
				". Judge again from the evidence alone, and reply with one JSON object in the same form."
		} else {
			misfits++
		}
		if misfits > 1 || voids > 1 {
			return nil, void{fault}
		}
		messages = append(messages[:len(messages):len(messages)],
			model.Message{Role: model.Assistant, Content: returned(text)}, model.Message{Role: model.User, Content: again})
	}
}

func (t *talk) ask(ctx context.Context, messages []model.Message, sample int) (string, error) {
	a, err := t.bench.Asker.Ask(ctx, model.Request{
		Model: t.model, Prompt: t.prompt.Name, Version: t.prompt.Version, Messages: messages, Schema: t.prompt.Schema, Sample: sample,
	}, t.bench.Charge)
	if err == nil || a.Finish != "" { // a reply that did not end well is paid and kept all the same
		t.calls = append(t.calls, a.Key)
		t.microUSD += a.MicroUSD
	}
	if errors.Is(err, model.ErrTooLong) && a.Finish == model.Length {
		err = fmt.Errorf("%w: %w", errCut, err)
	}
	return a.Text, err
}

// read takes the reply apart; without a schema the whole text is a JSON string.
func (t *talk) read(text string) (json.RawMessage, error) {
	if t.schema != nil {
		return reply.Read(text, t.schema, t.rendered.Nonce)
	}
	if strings.TrimSpace(text) == "" || strings.Contains(text, t.rendered.Nonce) && t.rendered.Nonce != "" {
		return nil, errors.New("the reply is empty or repeats the fences of the evidence")
	}
	return json.Marshal(text)
}

// returned is what a model is shown of its own reply: a repaired reply needs no second copy of the evidence.
func returned(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(nothing)"
	}
	if len(text) <= maxReturned {
		return text
	}
	end := maxReturned
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + " (shortened)"
}

// oneLine is an error as a part of a sentence.
func oneLine(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimRight(strings.Join(strings.Fields(err.Error()), " "), ".")
}
