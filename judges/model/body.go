package model

import (
	"encoding/json"
	"fmt"
	"regexp"

	openai "github.com/sashabaranov/go-openai"
)

// form is how a question is put, within what the endpoint understands.
type form struct {
	structured string // "", BySchema, ByObject or ByPrompt
	limit      string // the field that limits the reply
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// schemaIntroduction precedes the schema where it stands in the text.
const schemaIntroduction = "\n\nReply with one JSON object and nothing else: no text before or after it, no Markdown fence. It must be valid under " +
	"this JSON schema:\n"

// protocol makes the request in the protocol's words.
func (r Request) protocol(p Parameters, f form, stream bool) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: p.ID, Stream: stream}
	if stream {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	messages := r.Messages
	switch f.structured {
	case BySchema:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: schemaName(r.Prompt), Schema: r.Schema, Strict: true},
		}
	case ByObject:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
		messages = withSchema(messages, r.Schema)
	case ByPrompt:
		messages = withSchema(messages, r.Schema)
	}
	for _, m := range messages {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	return out
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// schemaName is a name that the protocol allows: at most 64 of a few characters.
func schemaName(prompt string) string {
	name := notInName.ReplaceAllString(prompt, "_")
	if name == "" {
		return "reply"
	}
	return name[:min(len(name), 64)]
}

// withSchema adds the schema to the system message, or makes one.
func withSchema(messages []Message, schema json.RawMessage) []Message {
	text := schemaIntroduction + string(schema)
	if len(messages) > 0 && messages[0].Role == System {
		first := Message{Role: System, Content: messages[0].Content + text}
		return append([]Message{first}, messages[1:]...)
	}
	return append([]Message{{Role: System, Content: text[2:]}}, messages...)
}

// complete gives the body its last fields: the limit, the temperature (also when it is 0, which go-openai leaves out and servers take for
// 1) and the configured ones. A null takes a field out. The order of the fields is always the same.
func complete(body []byte, p Parameters, f form) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("completing a request: %w", err)
	}
	extra := map[string]json.RawMessage{}
	if p.Extra != "" {
		if err := json.Unmarshal([]byte(p.Extra), &extra); err != nil {
			return nil, fmt.Errorf("completing a request with the model's extra fields: %w", err)
		}
	}
	fields[f.limit] = fmt.Appendf(nil, "%d", p.MaxOutput)
	var err error
	if fields["temperature"], err = json.Marshal(p.Temperature); err != nil {
		return nil, fmt.Errorf("completing a request: %w", err)
	}
	for name, value := range extra {
		if fields[name] = value; string(value) == "null" {
			delete(fields, name)
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("completing a request: %w", err)
	}
	return out, nil
}
