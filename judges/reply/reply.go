// Package reply reads what a model answered, strictly: one JSON object that fits the prompt's schema, or an error of one line that
// can be sent back to the model.
//
// It never guesses, never converts one type into another, never fills in what is missing, and never looks for words in prose to
// make a verdict of them.
package reply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a reply. Honest ones are far below.
const (
	MaxBytes  = 128 << 10
	maxDepth  = 16
	maxStarts = 400 // brackets in prose that begin no JSON
)

// Read returns the one object of a reply that fits the schema, in compact form. Code fences and prose around it are passed over.
// Nonce is the mark of the prompt's fences ("": there are none): outside of the object it shows an echo of the prompt.
//
// The error is one line in the second person's terms, the same for the same reply.
func Read(text string, schema *Schema, nonce string) (json.RawMessage, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the reply has %d bytes, the limit is %d", len(text), MaxBytes)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the reply is not UTF-8")
	}
	text, ok := afterThoughts(text)
	if !ok {
		return nil, errors.New("the reply ends among its thoughts, without an answer")
	}
	found, prose, err := scan(text)
	if err != nil {
		return nil, err
	}
	if nonce != "" && strings.Contains(prose, nonce) {
		return nil, errors.New("the reply repeats the fences of the evidence; only the JSON object is wanted")
	}
	return choose(found, schema)
}

// afterThoughts leaves out the block of thoughts that some models begin with: drafts in it are no answers. Not ok: it never ends.
func afterThoughts(text string) (rest string, ok bool) {
	const open, end = "<think>", "</think>"
	i := strings.LastIndex(text, end)
	switch {
	case !strings.HasPrefix(strings.TrimSpace(text), open):
		return text, true
	case i < 0:
		return "", false
	}
	return text[i+len(end):], true
}

// Objects returns the JSON objects that stand in a text, outermost ones only, up to the first broken one.
func Objects(text string) []json.RawMessage {
	found, _, _ := scan(text)
	return found
}

// scan finds the outermost JSON objects, and gives the text around them. Lists are passed over with all they hold. What begins
// like an object and is broken is an error: what stands inside of it was not meant as an answer.
func scan(text string) (found []json.RawMessage, prose string, err error) {
	var around strings.Builder
	starts := 0
	for {
		i := strings.IndexAny(text, "{[")
		if i < 0 {
			around.WriteString(text)
			return found, around.String(), nil
		}
		around.WriteString(text[:i])
		text = text[i:]
		raw, end, err := first(text)
		switch {
		case err == nil:
			if raw[0] == '{' {
				found = append(found, raw)
			}
			text = text[end:]
		case meant(text):
			return found, around.String(), fmt.Errorf("the JSON is broken: %w", err)
		default:
			if starts++; starts > maxStarts {
				return found, around.String(), errors.New("the reply is mostly brackets; only one JSON object is wanted")
			}
			around.WriteByte(text[0])
			text = text[1:]
		}
	}
}

// first reads the JSON value at the beginning of a text.
func first(text string) (raw json.RawMessage, end int, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&raw); err != nil {
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, 0, errors.New("it ends too early")
		case errors.As(err, &syntax):
			return nil, 0, fmt.Errorf("%s, near %q", syntax.Error(), near(text, int(syntax.Offset)))
		}
		return nil, 0, err
	}
	return raw, int(dec.InputOffset()), nil
}

// near is the text just before an offset.
func near(text string, offset int) string {
	end := max(0, min(offset, len(text)))
	from := max(0, end-30)
	return strings.ToValidUTF8(text[from:end], "")
}

// meant reports whether brackets begin what was meant as JSON: an object with a key, or a list of objects.
func meant(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if text[0] == '{' {
		return strings.HasPrefix(rest, `"`)
	}
	return strings.HasPrefix(rest, "{")
}

// choose takes the object that fits. Others are passed over only if they have nothing of a reply: two replies are none.
func choose(found []json.RawMessage, schema *Schema) (json.RawMessage, error) {
	var fits json.RawMessage
	var fault error
	for _, raw := range found {
		if !schema.resembles(raw) {
			continue
		}
		object, err := check(raw, schema)
		switch {
		case err != nil:
			fault = err
		case fits == nil:
			fits = object
		case !bytes.Equal(fits, object):
			return nil, errors.New("the reply holds two different JSON objects; only one is wanted")
		}
	}
	switch {
	case fits != nil && fault != nil:
		return nil, fmt.Errorf("the reply holds two JSON objects, and one of them does not fit: %w", fault)
	case fits != nil:
		return fits, nil
	case fault != nil:
		return nil, fault
	case len(found) > 0:
		return nil, fmt.Errorf("the JSON object has none of the keys that are wanted: %s", quoted(schema.root.keys))
	}
	return nil, errors.New("the reply holds no JSON object")
}

// check validates one object.
func check(raw json.RawMessage, schema *Schema) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := walk(dec, 0); err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil { // a number beyond all ranges
		return nil, errors.New("the JSON holds a number that is out of range")
	}
	if err := schema.validate(value); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("the JSON is broken: %w", err)
	}
	return compact.Bytes(), nil
}

// walk refuses keys that are there twice, of which most readers take the last, and nesting without end.
func walk(dec *json.Decoder, depth int) error {
	t, err := dec.Token()
	if err != nil {
		return fmt.Errorf("the JSON is broken: %w", err)
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if depth >= maxDepth {
		return fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	var keys []string
	for dec.More() {
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return fmt.Errorf("the JSON is broken: %w", err)
			}
			name, _ := key.(string)
			if slices.Contains(keys, name) {
				return fmt.Errorf("the key %q is there twice", clip(name))
			}
			keys = append(keys, name)
		}
		if err := walk(dec, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// clip shortens what goes into an error.
func clip(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return s
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, ", ")
}
