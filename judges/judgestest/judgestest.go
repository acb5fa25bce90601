// Package judgestest is a model for tests that knows the judges: it tells from a request which judge or writer is asked, and answers
// with a reply that is valid for the evidence in it, with the code that the test wants.
//
// It speaks through package modeltest's server. It has no opinion: it never reads what the evidence means, and it is of no use outside of
// tests.
package judgestest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"sluice/judges"
	"sluice/judges/model/modeltest"
)

// Manner is how one question is answered. The zero Manner is a good reply at once, with the first code that keeps and that the evidence
// allows.
type Manner struct {
	Code    string            // of a judge; writers have none
	ByModel map[string]string // codes of single models, by the id that the endpoint knows
	Fields  map[string]any    // replace those of the reply, also those that make it valid

	// Of a conversation, the first reply that a judge gives; what it says when it is asked again is good.
	Malformed bool // the first reply is cut in its middle
	Misquotes bool // the first reply quotes what stands nowhere

	Prose   bool             // words and a fence around the JSON
	Never   bool             // no reply of any conversation can be used
	Instead *modeltest.Reply // is sent in its place: a filter, a failing status
}

// Model answers all judges and writers of the table. The zero Model is obliging in all things.
type Model struct {
	Manners map[string]Manner               // by judge or writer
	Choose  func(q Question) (Manner, bool) // decides before Manners, if it wants to
	Wait    time.Duration                   // before each answer
}

// Reply answers a request, as a modeltest.Script does. What nobody of the table could have asked is refused with a 400 that says why.
func (m Model) Reply(r modeltest.Request) modeltest.Reply {
	reply, err := m.reply(r)
	if err != nil {
		reply = modeltest.Status(400, "invalid_request_error", "judgestest: "+err.Error())
	}
	reply.Wait += m.Wait
	return reply
}

func (m Model) reply(r modeltest.Request) (modeltest.Reply, error) {
	q, err := Read(r)
	if err != nil {
		return modeltest.Reply{}, err
	}
	how := m.manner(q)
	switch {
	case how.Instead != nil:
		return *how.Instead, nil
	case how.Never:
		return modeltest.Text("It depends, and I would rather not say."), nil
	}
	fields, err := q.fields(how)
	if err != nil {
		return modeltest.Reply{}, err
	}
	if _, has := fields["quote"]; has && how.Misquotes && q.Turn == 0 {
		fields["quote"] = "a passage that stands in no piece of evidence"
	}
	text := modeltest.JSON(fields).Text
	if how.Malformed && q.Turn == 0 {
		text = text[:len(text)/2]
	}
	if how.Prose {
		text = "Here is what I found.\n\n```json\n" + text + "\n```\n\nI hope that this helps."
	}
	return modeltest.Text(text), nil
}

func (m Model) manner(q Question) Manner {
	if m.Choose != nil {
		if how, ok := m.Choose(q); ok {
			return how
		}
	}
	return m.Manners[q.Prompt]
}

// fields is the reply that is wanted.
func (q Question) fields(how Manner) (map[string]any, error) {
	out, err := q.filled()
	if err != nil {
		return nil, err
	}
	if judge, ok := judges.ByName(q.Prompt); ok {
		answer, err := q.coded(judge, how)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, answer)
	} else {
		maps.Copy(out, q.text())
	}
	maps.Copy(out, how.Fields)
	return out, nil
}

// coded is the answer with the code that is wanted, or else with the first that keeps and that the evidence allows.
func (q Question) coded(j judges.Judge, how Manner) (map[string]any, error) {
	want := how.Code
	if of := how.ByModel[q.Model]; of != "" {
		want = of
	}
	for _, c := range j.Codes() {
		if c.Name != want && (want != "" || !c.Keeps) {
			continue
		}
		if out := q.answer(c.Name); out["code"] != "" {
			return out, nil
		}
	}
	return nil, fmt.Errorf("judge %s: the evidence allows no reply with the code %q", j.Name(), want)
}

// filled is an object that fits the prompt's schema and says nothing.
func (q Question) filled() (map[string]any, error) {
	var s schema
	if err := json.Unmarshal(q.prompt.Schema, &s); err != nil {
		return nil, fmt.Errorf("prompt %s: its schema: %w", q.Prompt, err)
	}
	out, ok := s.value().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("prompt %s: its schema is no object", q.Prompt)
	}
	if _, has := out["reasoning"]; has {
		out["reasoning"] = reasons
	}
	return out, nil
}

// What is said where anything will do. Neither names a code, nor can it stand in evidence by chance.
const (
	reasons = "All pieces of the material were weighed against each other, and what is quoted below tipped the scales in the end."
	remark  = "This remark was made up for the sake of a trial."
)

// schema is as much of a JSON schema as prompts use.
type schema struct {
	Type       string            `json:"type"`
	Enum       []string          `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	MinItems   int               `json:"minItems"`
	Minimum    int               `json:"minimum"`
}

// value is the least that fits.
func (s schema) value() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			out[name] = p.value()
		}
		return out
	case s.Type == "array":
		out := []any{}
		for range s.MinItems {
			out = append(out, s.Items.value())
		}
		return out
	case s.Type == "boolean":
		return false
	case s.Type == "integer":
		return s.Minimum
	}
	return remark
}

// text is what a writer writes. A repair differs from what it repairs.
func (q Question) text() map[string]any {
	lines := q.Lines("task_text")
	title := "Let the program do what is told below"
	if len(lines) > 0 && len(lines[0]) >= 8 {
		title = cut(lines[0], 120)
	}
	body := "## Wanted\n" + strings.Join(lines, "\n") + "\n\n## How one sees it\nWhat is told above holds for every input for which it makes sense."
	if q.Prompt == judges.RepairStatement {
		body += " Nothing else changes."
	}
	return map[string]any{"title": title, "body": cut(body, 2500)}
}

// cut shortens a text to so many characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
