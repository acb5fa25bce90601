package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Reply is one answer of the server. The zero value is an empty reply. What is not said is as a good server does it.
type Reply struct {
	Text    string
	Finish  string   // "": "stop"; "none": null
	Model   string   // "": the one that was asked for
	Refusal string   // the protocol's field
	Others  []string // texts of further choices
	Tools   bool     // with a call of a tool

	Input, Cached, Output int64 // usage in tokens; 0 and 0: one token for four bytes
	NoUsage               bool

	Status int         // 0: 200
	Error  string      // the body of a failing status, or what is sent instead of a reply
	Header http.Header // further header fields

	Wait  time.Duration // before the first byte
	Pause time.Duration // between the pieces of a stream, or of a body
	Cut   int           // after so many bytes of the body the connection breaks; 0: it does not
	End   int           // after so many bytes of the body it ends as if it were whole; 0: it does not
	Drop  bool          // the connection breaks before any byte
	Hang  bool          // no byte comes until the client goes away
	Whole bool          // in one piece, whatever was asked for
	Alive int           // so many comments of a stream before the first piece
	Llama bool          // as llama.cpp writes it: no usage in pieces, null for the text of the first, figures that no other server has
}

// Text is a reply.
func Text(text string) Reply { return Reply{Text: text} }

// JSON is a reply that holds a value as JSON.
func JSON(v any) Reply {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("modeltest: a reply that is no JSON: %v", err))
	}
	return Reply{Text: string(b)}
}

// Status is a failing answer as OpenAI has it.
func Status(code int, kind, message string) Reply {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": kind}})
	return Reply{Status: code, Error: string(b)}
}

// Limited is a 429. after is the value of Retry-After; "": none.
func Limited(after string) Reply {
	r := Status(http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached for requests")
	if after != "" {
		r.Header = http.Header{"Retry-After": {after}}
	}
	return r
}

// Down is a 500.
func Down() Reply {
	return Status(http.StatusInternalServerError, "server_error", "The server had an error while processing your request")
}

// Overloaded is a 529.
func Overloaded() Reply { return Status(529, "overloaded_error", "Overloaded") }

// NoModel is what a server says that does not know the model.
func NoModel() Reply {
	return Status(http.StatusNotFound, "model_not_found", "The model does not exist")
}

// WrongKey is a 401 that quotes what it was given.
func WrongKey(key string) Reply {
	return Status(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+key)
}

// NoFormat refuses a kind of response_format as servers do that do not know it.
func NoFormat(kind string) Reply {
	return Status(http.StatusBadRequest, "invalid_request_error", "response_format of type "+kind+" is not supported")
}

// OnlyFormats answers with the reply when the response_format is one of the kinds ("" is none), and refuses the others.
func OnlyFormats(reply Reply, kinds ...string) Script {
	return func(r Request) Reply {
		for _, k := range kinds {
			if r.Format == k {
				return reply
			}
		}
		return NoFormat(r.Format)
	}
}

// TooLong is how different servers say that the question does not fit.
func TooLong() map[string]Reply {
	bad := func(status int, body string) Reply { return Reply{Status: status, Error: body} }
	return map[string]Reply{
		"OpenAI": bad(400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",`+
			`"type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`),
		"vLLM": bad(400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens `+
			`(4000 in the messages, 1000 in the completion).","type":"BadRequestError","param":null,"code":400}`),
		"llama.cpp": bad(400, `{"error":{"code":400,"message":"request (20024 tokens) exceeds the available context size (16384 tokens), try increasing it",`+
			`"type":"exceed_context_size_error","n_prompt_tokens":20024,"n_ctx":16384}}`),
		"llama.cpp of 2025": bad(400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing it",`+
			`"type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`),
		"Anthropic": bad(400, `{"error":{"code":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum",`+
			`"type":"invalid_request_error"}}`),
		"Google": bad(400, `[{"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",`+
			`"status":"INVALID_ARGUMENT"}}]`),
		"Mistral": bad(400, `{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length",`+
			`"type":"invalid_request_error","param":null,"code":"3051"}`),
		"TGI": bad(422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and "+
			"1000 `max_new_tokens`\",\"error_type\":\"validation\"}"),
		"OpenRouter": bad(400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":`+
			`\"prompt is too long: 9 tokens > 8 maximum\"}}","provider_name":"Some"}}}`),
		"proxy": bad(413, `<html><head><title>413 Request Entity Too Large</title></head></html>`),
	}
}

// BadSchema is how different servers refuse one schema, while they know the form.
func BadSchema() map[string]Reply {
	bad := func(message string) Reply {
		b, _ := json.Marshal(map[string]any{"error": map[string]any{"code": 400, "message": message, "type": "invalid_request_error"}})
		return Reply{Status: http.StatusBadRequest, Error: string(b)}
	}
	return map[string]Reply{
		"OpenAI": bad("Invalid schema for response_format 'x': 'maximum' is not permitted"),
		"llama.cpp, what it does not know": bad("Unable to generate parser for this template. Automatic parser generation failed: " +
			"JSON schema error at #/properties/a: schema must be an object"),
		"llama.cpp, what grows too large": bad("Failed to initialize samplers: failed to parse grammar"),
	}
}

// Blocked is how different servers say that a filter stopped the question.
func Blocked() map[string]Reply {
	return map[string]Reply{
		"finish": {Text: "I", Finish: "content_filter"},
		"Azure": {Status: 400, Error: `{"error":{"message":"The response was filtered due to the prompt triggering the content management policy.",` +
			`"type":null,"param":"prompt","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`},
		"OpenRouter": {Status: 403, Error: `{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["x"]}}}`},
		"refusal":    {Refusal: "I can't help with that."},
	}
}

// usage is what the reply says of its tokens.
func (r Reply) usage(asked Request) map[string]any {
	in, out := r.Input, r.Output
	if in == 0 && out == 0 {
		for _, m := range asked.Messages {
			in += int64(len(m.Content)/4 + 1)
		}
		out = int64(len(r.Text)/4 + 1)
	}
	return map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details": map[string]any{"cached_tokens": r.Cached}}
}

func (r Reply) finish() any {
	switch r.Finish {
	case "":
		return "stop"
	case "none":
		return nil
	}
	return r.Finish
}

func (r Reply) model(asked Request) string {
	if r.Model != "" {
		return r.Model
	}
	return asked.Model
}

var llamaTimings = map[string]any{"cache_n": 21, "prompt_n": 5, "prompt_per_second": 9.548781861897877, "predicted_n": 4, "predicted_per_second": 18.3}

var toolCall = []map[string]any{{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": "shell", "arguments": `{"cmd":"ls"}`}}}

// body is the reply in one piece.
func (r Reply) body(asked Request) []byte {
	if r.Error != "" {
		return []byte(r.Error)
	}
	message := map[string]any{"role": "assistant", "content": r.Text}
	if r.Refusal != "" {
		message["refusal"] = r.Refusal
	}
	if r.Tools {
		message["tool_calls"] = toolCall
	}
	choices := []map[string]any{{"index": 0, "message": message, "finish_reason": r.finish()}}
	for i, text := range r.Others {
		choices = append(choices, map[string]any{"index": i + 1, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}})
	}
	top := map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": r.model(asked), "choices": choices}
	if !r.NoUsage {
		top["usage"] = r.usage(asked)
	}
	if r.Llama {
		top["timings"], top["system_fingerprint"] = llamaTimings, "b0-unknown"
	}
	b, _ := json.Marshal(top)
	return b
}

// pieces are the reply as the events of a stream, the last one "[DONE]".
func (r Reply) pieces(asked Request) []string {
	out := make([]string, 0, r.Alive+8)
	for range r.Alive {
		out = append(out, ": still here\n\n")
	}
	name, _ := json.Marshal(r.model(asked))
	event := func(choices []map[string]any, usage any) {
		c, _ := json.Marshal(choices)
		u, _ := json.Marshal(usage)
		further := `,"usage":` + string(u)
		if r.Llama && usage == nil {
			further = ""
		} else if r.Llama {
			t, _ := json.Marshal(llamaTimings)
			further += `,"timings":` + string(t)
		}
		out = append(out, fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":%s,"choices":%s%s}`+"\n\n", name, c, further))
	}
	choice := func(i int, delta map[string]any, finish any) []map[string]any {
		return []map[string]any{{"index": i, "delta": delta, "finish_reason": finish}}
	}
	first := any("")
	if r.Llama {
		first = nil
	}
	event(choice(0, map[string]any{"role": "assistant", "content": first}, nil), nil)
	for _, word := range strings.SplitAfter(r.Text, " ") {
		event(choice(0, map[string]any{"content": word}, nil), nil)
	}
	if r.Refusal != "" {
		event(choice(0, map[string]any{"refusal": r.Refusal}, nil), nil)
	}
	if r.Tools {
		event(choice(0, map[string]any{"tool_calls": toolCall}, nil), nil)
	}
	for i, text := range r.Others {
		event(choice(i+1, map[string]any{"content": text}, "stop"), nil)
	}
	event(choice(0, map[string]any{}, r.finish()), nil)
	if !r.NoUsage {
		event([]map[string]any{}, r.usage(asked))
	}
	return append(out, "data: [DONE]\n\n")
}
