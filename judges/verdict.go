package judges

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sluice/judges/evidence"
	"sluice/judges/reply"
	"sluice/prompts"
)

// Spec is a judge as data.
type Spec struct {
	Name   string // "": that of the prompt
	Prompt string
	// Codes are the answers, as the schema's key "code" lists them. Where votes are equal in number the earlier one counts.
	Codes []Code
	// Decide checks what the schema cannot: quotations against what was sent, fields against each other. It is pure. An error
	// voids the reply, and its text goes back to the model once. Nil: the quotation may stand anywhere.
	Decide func(fields json.RawMessage, seen *evidence.Seen) (Verdict, error)
}

// judge is a Spec that was found to be whole.
type judge struct {
	Spec
	prompt      prompts.Prompt
	schema      *reply.Schema
	conclusions reply.Conclusions
}

// New checks the prompt, its schema and the codes against each other, so that a judge that cannot work is found when it is made.
func New(s Spec) (Judge, error) {
	p, err := prompts.Load(s.Prompt)
	if err != nil {
		return nil, fmt.Errorf("making judge %s: %w", s.Name, err)
	}
	return newJudge(s, p)
}

func newJudge(s Spec, p prompts.Prompt) (Judge, error) {
	if s.Name == "" {
		s.Name = p.Name
	}
	if s.Decide == nil {
		s.Decide = anywhere
	}
	schema, err := reply.Compile(p.Schema)
	if err != nil {
		return nil, fmt.Errorf("making judge %s: %w", s.Name, err)
	}
	if err := checkCodes(s.Codes, schema); err != nil {
		return nil, fmt.Errorf("making judge %s: prompt %s: %w", s.Name, p.Name, err)
	}
	names := make([]string, len(s.Codes))
	for i, c := range s.Codes {
		names[i] = c.Name
	}
	return &judge{Spec: s, prompt: p, schema: schema, conclusions: reply.NewConclusions(names)}, nil
}

// checkCodes compares the table of codes with the schema.
func checkCodes(codes []Code, schema *reply.Schema) error {
	enum := schema.Enum("code")
	switch {
	case len(enum) == 0:
		return errors.New(`its schema has no key "code" with a list of codes`)
	case !slices.Contains(schema.Keys(), "reasoning"):
		return errors.New(`its schema has no key "reasoning"`)
	case !schema.Has("quote"):
		return errors.New(`its schema has no key "quote"`)
	}
	for i, c := range codes {
		switch {
		case !slices.Contains(enum, c.Name):
			return fmt.Errorf("code %q of the judge is not in its schema", c.Name)
		case c.Label == "" || c.Text == "":
			return fmt.Errorf("code %q has no label or no text", c.Name)
		case slices.ContainsFunc(codes[:i], func(o Code) bool { return o.Name == c.Name }):
			return fmt.Errorf("code %q is there twice", c.Name)
		}
	}
	for _, name := range enum {
		if !slices.ContainsFunc(codes, func(c Code) bool { return c.Name == name }) {
			return fmt.Errorf("code %q of its schema is not the judge's", name)
		}
	}
	return nil
}

// Name is how the judge is called in rulings and configuration.
func (j *judge) Name() string { return j.Spec.Name }

// Codes are the judge's answers.
func (j *judge) Codes() []Code { return slices.Clone(j.Spec.Codes) }

// anywhere is the Decide of judges whose quotation may come from any slot.
func anywhere(fields json.RawMessage, seen *evidence.Seen) (Verdict, error) {
	var c base
	if err := json.Unmarshal(fields, &c); err != nil {
		return Verdict{}, fmt.Errorf("reading the reply: %w", err)
	}
	return Verdict{Code: c.Code, Quote: c.Quote}, seen.Quoted(c.Quote)
}

// flaw is an error of a judge's own code: asking the model again would not mend it.
type flaw struct{ error }

// decide makes a verdict of a reply that fits the schema, or says why it is void.
func (j *judge) decide(fields json.RawMessage, seen *evidence.Seen) (Verdict, error) {
	var c base
	if err := json.Unmarshal(fields, &c); err != nil {
		return Verdict{}, flaw{fmt.Errorf("reading the reply: %w", err)}
	}
	if seen.Planted(fields, "code") || seen.Copied(c.Reasoning) {
		return Verdict{}, errors.New("the reply was copied from the evidence; what stands there is no answer, and your own reasons are wanted")
	}
	if said, sentence := j.conclusions.Last(c.Reasoning); said != "" && said != c.Code {
		return Verdict{}, fmt.Errorf("the reasoning concludes %q (%q), the code says %q: judge again so that both agree", said, short(sentence), c.Code)
	}
	v, err := j.Spec.Decide(fields, seen)
	if err != nil {
		return Verdict{}, err
	}
	i := slices.IndexFunc(j.Spec.Codes, func(o Code) bool { return o.Name == v.Code })
	if i < 0 || v.Code != c.Code {
		return Verdict{}, flaw{fmt.Errorf("judge %s decided %q on a reply with the code %q", j.Name(), v.Code, c.Code)}
	}
	if v.Quote == "" {
		v.Quote = c.Quote
	}
	if err := seen.Quoted(v.Quote); err != nil {
		return Verdict{}, err
	}
	v.Keeps, v.Fields = j.Spec.Codes[i].Keeps, fields
	return v, nil
}

func short(s string) string {
	if runes := []rune(s); len(runes) > 120 {
		return string(runes[:120]) + "…"
	}
	return s
}
