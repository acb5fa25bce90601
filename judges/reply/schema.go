package reply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"sluice/prompts"
)

// Schema is a prompt's schema made ready. It is safe for concurrent use.
type Schema struct {
	resolved *jsonschema.Resolved
	root     *shape
}

// shape is what a fault is explained by. The library decides whether a reply is valid; its errors name faults in the order of a
// map and hold whole values, so a model could not be asked again with the same words.
type shape struct {
	keys   []string // of an object, in the order of the text
	below  map[string]*shape
	items  *shape
	types  []string
	enum   []any
	minLen *int
	maxLen *int
	minN   *int
	maxN   *int
	min    *float64
	max    *float64
	form   *regexp.Regexp
}

// Compile makes the schema of a prompt ready.
func Compile(raw json.RawMessage) (*Schema, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("reading a reply's schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolving a reply's schema: %w", err)
	}
	root, err := newShape(raw)
	if err != nil {
		return nil, fmt.Errorf("reading a reply's schema: %w", err)
	}
	if len(root.keys) == 0 {
		return nil, errors.New("reading a reply's schema: it is that of no object")
	}
	return &Schema{resolved: resolved, root: root}, nil
}

func newShape(raw json.RawMessage) (*shape, error) {
	var n struct {
		Type       json.RawMessage
		Properties json.RawMessage
		Items      json.RawMessage
		Enum       []any
		MinLength  *int
		MaxLength  *int
		MinItems   *int
		MaxItems   *int
		Minimum    *float64
		Maximum    *float64
		Pattern    string
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, err
	}
	s := &shape{enum: n.Enum, minLen: n.MinLength, maxLen: n.MaxLength, minN: n.MinItems, maxN: n.MaxItems, min: n.Minimum, max: n.Maximum}
	var err error
	if s.types, err = typeNames(n.Type); err != nil {
		return nil, err
	}
	if n.Pattern != "" {
		if s.form, err = regexp.Compile(n.Pattern); err != nil {
			return nil, err
		}
	}
	if n.Items != nil {
		if s.items, err = newShape(n.Items); err != nil {
			return nil, err
		}
	}
	if n.Properties != nil {
		return s, s.addProperties(n.Properties)
	}
	return s, nil
}

func (s *shape) addProperties(raw json.RawMessage) error {
	var err error
	if s.keys, err = prompts.Properties(raw); err != nil {
		return err
	}
	var below map[string]json.RawMessage
	if err := json.Unmarshal(raw, &below); err != nil {
		return err
	}
	s.below = map[string]*shape{}
	for _, k := range s.keys {
		if s.below[k], err = newShape(below[k]); err != nil {
			return err
		}
	}
	return nil
}

func typeNames(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if bytes.HasPrefix(raw, []byte(`"`)) {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	var out []string
	return out, json.Unmarshal(raw, &out)
}

// Keys returns the names of the reply's keys, in the order of the schema.
func (s *Schema) Keys() []string { return slices.Clone(s.root.keys) }

// Enum returns the values that a key of the reply may have; nil if any string is allowed.
func (s *Schema) Enum(key string) []string {
	below := s.root.below[key]
	if below == nil {
		return nil
	}
	var out []string
	for _, v := range below.enum {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Has reports whether a key of that name is in the reply or anywhere below.
func (s *Schema) Has(key string) bool { return s.root.has(key) }

func (s *shape) has(key string) bool {
	if s == nil {
		return false
	}
	for k, b := range s.below {
		if k == key || b.has(key) {
			return true
		}
	}
	return s.items.has(key)
}

// resembles reports whether an object was meant as a reply: it has one of the keys.
func (s *Schema) resembles(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	for k := range object {
		if s.root.below[k] != nil {
			return true
		}
	}
	return false
}

// validate is nil for what the library takes for valid. Otherwise the first fault is told in the order of the schema.
func (s *Schema) validate(value any) error {
	if s.resolved.Validate(value) == nil {
		return nil
	}
	if fault := s.root.fault(value, ""); fault != "" {
		return errors.New(fault)
	}
	return errors.New("the JSON object does not fit the schema")
}

// fault says what is wrong with a value; "" if nothing is found.
func (s *shape) fault(value any, at string) string {
	if s.enum != nil {
		if !slices.ContainsFunc(s.enum, func(e any) bool { return reflect.DeepEqual(e, value) }) {
			return fmt.Sprintf("%s is %s: one of %s is wanted, spelt exactly so", place(at), show(value), showAll(s.enum))
		}
	}
	if s.types != nil && !slices.ContainsFunc(s.types, func(t string) bool { return isType(value, t) }) {
		return fmt.Sprintf("%s is %s: %s is wanted", place(at), describe(value), strings.Join(s.types, " or "))
	}
	switch v := value.(type) {
	case map[string]any:
		return s.faultObject(v, at)
	case []any:
		return s.faultList(v, at)
	case string:
		return s.faultText(v, at)
	case float64:
		return s.faultNumber(v, at)
	}
	return ""
}

func (s *shape) faultObject(v map[string]any, at string) string {
	for _, k := range s.keys {
		if _, ok := v[k]; !ok {
			return fmt.Sprintf("the key %q is missing%s", k, in(at))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if s.below[k] == nil {
			return fmt.Sprintf("the key %q is not among those that are wanted%s: %s", clip(k), in(at), quoted(s.keys))
		}
	}
	for _, k := range s.keys {
		if f := s.below[k].fault(v[k], strings.TrimPrefix(at+"."+k, ".")); f != "" {
			return f
		}
	}
	return ""
}

func (s *shape) faultList(v []any, at string) string {
	if s.minN != nil && len(v) < *s.minN {
		return fmt.Sprintf("%s has %d items: at least %d are wanted", place(at), len(v), *s.minN)
	}
	if s.maxN != nil && len(v) > *s.maxN {
		return fmt.Sprintf("%s has %d items: at most %d are wanted", place(at), len(v), *s.maxN)
	}
	if s.items == nil {
		return ""
	}
	for i, item := range v {
		if f := s.items.fault(item, fmt.Sprintf("%s[%d]", at, i)); f != "" {
			return f
		}
	}
	return ""
}

func (s *shape) faultText(v, at string) string {
	n := utf8.RuneCountInString(v)
	switch {
	case s.minLen != nil && n < *s.minLen:
		return fmt.Sprintf("%s has %d characters: at least %d are wanted", place(at), n, *s.minLen)
	case s.maxLen != nil && n > *s.maxLen:
		return fmt.Sprintf("%s has %d characters: at most %d are wanted", place(at), n, *s.maxLen)
	case s.form != nil && !s.form.MatchString(v):
		return fmt.Sprintf("%s is %s, which does not match %s", place(at), show(v), s.form)
	}
	return ""
}

func (s *shape) faultNumber(v float64, at string) string {
	switch {
	case s.min != nil && v < *s.min:
		return fmt.Sprintf("%s is %s: at least %s is wanted", place(at), show(v), show(*s.min))
	case s.max != nil && v > *s.max:
		return fmt.Sprintf("%s is %s: at most %s is wanted", place(at), show(v), show(*s.max))
	}
	return ""
}

func isType(value any, name string) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func place(at string) string {
	if at == "" {
		return "the reply"
	}
	return fmt.Sprintf("%q", at)
}

func in(at string) string {
	if at == "" {
		return ""
	}
	return fmt.Sprintf(" in %q", at)
}

// describe names a value's type, and the value if it is short.
func describe(value any) string {
	switch v := value.(type) {
	case string:
		return "the string " + show(v)
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return show(value)
}

func show(value any) string {
	if text, ok := value.(string); ok {
		return fmt.Sprintf("%q", clip(text))
	}
	b, err := json.Marshal(value)
	if err != nil {
		return "a value"
	}
	return clip(string(b))
}

func showAll(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = show(v)
	}
	return strings.Join(out, ", ")
}
