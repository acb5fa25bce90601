package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// keywords are what a reply's schema may use: what every endpoint understands, and what package reply explains to a model
// in one line. Examples and defaults are left out on purpose: a model that copies them must not give a valid reply.
var keywords = []string{
	"type", "description", "properties", "required", "additionalProperties", "items", "enum",
	"minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
}

// Properties returns the names of an object's keys in the order of the text, and refuses a key that is there twice.
func Properties(object json.RawMessage) ([]string, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	var out []string
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if slices.Contains(out, key) {
			return nil, fmt.Errorf("key %q is there twice", key)
		}
		out = append(out, key)
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkSchema returns the schema in compact form. No schema is allowed: the reply is free text.
func checkSchema(text string) (json.RawMessage, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	raw := json.RawMessage(compact.Bytes())
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("no JSON schema: %w", err)
	}
	if _, err := s.Resolve(nil); err != nil {
		return nil, fmt.Errorf("no JSON schema: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New("its type is not \"object\"")
	}
	if err := checkNode(raw, ""); err != nil {
		return nil, err
	}
	return raw, checkOrder(raw)
}

// node is what is checked of one schema inside the schema.
type node struct {
	Type       json.RawMessage   `json:"type"`
	Properties json.RawMessage   `json:"properties"`
	Required   []string          `json:"required"`
	Additional json.RawMessage   `json:"additionalProperties"`
	Items      json.RawMessage   `json:"items"`
	Enum       []json.RawMessage `json:"enum"`
}

// checkNode holds the rules for a schema and all below it. At is the path to it for the error.
func checkNode(raw json.RawMessage, at string) error {
	names, err := Properties(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", place(at), err)
	}
	for _, k := range names {
		if !slices.Contains(keywords, k) {
			return fmt.Errorf("%s: keyword %q is not among those allowed", place(at), k)
		}
	}
	var n node
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("%s: %w", place(at), err)
	}
	switch {
	case n.Type == nil && n.Enum == nil:
		return fmt.Errorf("%s: neither type nor enum", place(at))
	case n.Type != nil && !knownType(n.Type):
		return fmt.Errorf("%s: type %s is none of %q, nor a list of the scalar ones", place(at), n.Type, types)
	case string(n.Type) == `"object"`:
		return n.checkObject(at)
	case string(n.Type) == `"array"` && n.Items == nil:
		return fmt.Errorf("%s: an array without items", place(at))
	case n.Items != nil:
		return checkNode(n.Items, at+"/items")
	}
	return nil
}

// types are the names of types; all but the first two are scalar and may stand in a list, such as ["string", "null"].
var types = []string{"object", "array", "string", "boolean", "integer", "number", "null"}

func knownType(raw json.RawMessage) bool {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return slices.Contains(types, one)
	}
	var several []string
	if json.Unmarshal(raw, &several) != nil || len(several) == 0 {
		return false
	}
	return !slices.ContainsFunc(several, func(t string) bool { return !slices.Contains(types[2:], t) })
}

func (n node) checkObject(at string) error {
	if string(n.Additional) != "false" {
		return fmt.Errorf("%s: additionalProperties is not false", place(at))
	}
	names, err := Properties(n.Properties)
	if err != nil {
		return fmt.Errorf("%s/properties: %w", at, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: no properties", place(at))
	}
	if !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(n.Required))) {
		return fmt.Errorf("%s: required is not all its properties", place(at))
	}
	var below map[string]json.RawMessage
	if err := json.Unmarshal(n.Properties, &below); err != nil {
		return fmt.Errorf("%s/properties: %w", at, err)
	}
	for _, name := range names {
		if err := checkNode(below[name], at+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// checkOrder wants reasons before verdicts: a model that has written its verdict can only defend it.
func checkOrder(raw json.RawMessage) error {
	var n node
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	names, err := Properties(n.Properties)
	if err != nil {
		return err
	}
	var below map[string]node
	if err := json.Unmarshal(n.Properties, &below); err != nil {
		return err
	}
	first := below[names[0]]
	if names[0] == "code" || first.Enum != nil || string(first.Type) == `"boolean"` {
		return fmt.Errorf("the first property, %s, is a verdict: reasons come first", names[0])
	}
	reasons, verdict := slices.Index(names, "reasoning"), slices.Index(names, "code")
	if verdict >= 0 && reasons < 0 {
		return errors.New("there is a code and no reasoning")
	}
	if verdict >= 0 && verdict < reasons {
		return errors.New("the code stands before the reasoning")
	}
	return nil
}

func place(at string) string {
	if at == "" {
		return "the reply"
	}
	return at
}
