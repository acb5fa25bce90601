package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// How a reply ended. Stop is the only good end; the other two are the model's last word on the question all the same, and are kept.
const (
	Stop     = "stop"
	Length   = "length"
	Filtered = "content_filter"
)

// heard is what came of a request, before it is a reply.
type heard struct {
	model   string
	text    string
	refusal string
	finish  string
	tools   bool
	usage   Usage
	others  []string // texts of further choices
}

// ask sends the request and listens until the reply is whole.
func (c *call) ask(ctx context.Context, req openai.ChatCompletionRequest) (heard, error) {
	if !req.Stream {
		resp, err := c.client().CreateChatCompletion(ctx, req)
		if err != nil {
			return heard{}, c.explain(ctx, err)
		}
		return whole(resp), nil
	}
	stream, err := c.client().CreateChatCompletionStream(ctx, req)
	if err != nil {
		return heard{}, c.explain(ctx, err)
	}
	defer stream.Close()
	return c.listen(ctx, stream)
}

// explain makes a fault of what go-openai says.
func (c *call) explain(ctx context.Context, err error) error {
	var f *fault
	var api *openai.APIError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &api):
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"code": api.Code, "type": api.Type, "message": api.Message}})
		return refusedWithin(c.header, body, c.now())
	case syntax(err):
		return broken("%s", oneLine(err.Error()))
	case errors.Is(err, openai.ErrChatCompletionInvalidModel):
		return &fault{kind: ErrConfig, text: "go-openai knows this model as one that does not chat"}
	}
	return c.lost(ctx, err)
}

// syntax reports whether JSON was not what the protocol says.
func syntax(err error) bool {
	var s *json.SyntaxError
	var t *json.UnmarshalTypeError
	return errors.As(err, &s) || errors.As(err, &t)
}

// whole reads a reply that came in one piece.
func whole(resp openai.ChatCompletionResponse) heard {
	h := heard{model: resp.Model, usage: usage(&resp.Usage)}
	for i, c := range resp.Choices {
		text := c.Message.Content
		for _, part := range c.Message.MultiContent {
			text += part.Text
		}
		if i > 0 {
			h.others = append(h.others, text)
			continue
		}
		h.text, h.refusal, h.finish = text, c.Message.Refusal, string(c.FinishReason)
		h.tools = len(c.Message.ToolCalls) > 0 || c.Message.FunctionCall != nil
	}
	return h
}

func usage(u *openai.Usage) Usage {
	out := Usage{Input: int64(max(u.PromptTokens, 0)), Output: int64(max(u.CompletionTokens, 0))}
	if u.PromptTokensDetails != nil {
		out.Cached = int64(min(max(u.PromptTokensDetails.CachedTokens, 0), max(u.PromptTokens, 0)))
	}
	return out
}

// listen puts the pieces of a stream together.
func (c *call) listen(ctx context.Context, stream *openai.ChatCompletionStream) (heard, error) {
	var h heard
	texts := map[int]*strings.Builder{}
	for {
		raw, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) || err != nil && h.finish != "" {
			break // what ended is whole, though the server forgets to say that nothing follows
		}
		if err != nil {
			return h, c.explain(ctx, err)
		}
		if n := parts(raw); n > maxParts {
			return h, broken("a piece of it has %d parts", n)
		}
		var piece struct {
			openai.ChatCompletionStreamResponse
			Error json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(raw, &piece); err != nil {
			return h, c.explain(ctx, err)
		}
		if isSaid(piece.Error) {
			return h, refusedWithin(c.header, raw, c.now())
		}
		h.add(piece.ChatCompletionStreamResponse, texts)
	}
	if c.plain != nil {
		var resp openai.ChatCompletionResponse
		if err := json.Unmarshal(c.plain, &resp); err != nil {
			return h, c.explain(ctx, err)
		}
		return whole(resp), nil
	}
	for i, t := range texts {
		if i == 0 {
			h.text = t.String()
		} else {
			h.others = append(h.others, t.String())
		}
	}
	return h, nil
}

// maxChoices bounds the further choices that are compared.
const maxChoices = 16

func (h *heard) add(piece openai.ChatCompletionStreamResponse, texts map[int]*strings.Builder) {
	if piece.Model != "" {
		h.model = piece.Model
	}
	if piece.Usage != nil {
		h.usage = usage(piece.Usage)
	}
	for _, c := range piece.Choices {
		t := texts[c.Index]
		if t == nil {
			if len(texts) == maxChoices && c.Index != 0 {
				continue
			}
			t = &strings.Builder{}
			texts[c.Index] = t
		}
		t.WriteString(c.Delta.Content)
		if c.Index != 0 {
			continue
		}
		h.refusal += c.Delta.Refusal
		h.tools = h.tools || len(c.Delta.ToolCalls) > 0 || c.Delta.FunctionCall != nil
		if c.FinishReason != "" && c.FinishReason != openai.FinishReasonNull {
			h.finish = string(c.FinishReason)
		}
	}
}

// reply judges what was heard: a reply that ended by itself, by the limit or by a filter; anything else is broken.
func (h heard) reply(key secret) (Reply, error) {
	r := Reply{Text: key.hide(h.text), Model: key.hide(h.model), Usage: h.usage}
	switch strings.ToLower(h.finish) {
	case "stop", "eos", "end_turn", "stop_sequence":
		r.Finish = Stop
	case "length", "max_tokens":
		r.Finish = Length
	case "content_filter", "safety", "refusal":
		r.Finish = Filtered
	case "tool_calls", "function_call":
		return r, broken("it calls tools, and none were offered")
	case "":
		return r, broken("it does not end (%d bytes of text came)", len(h.text))
	default:
		return r, broken("it ended with %q", oneLine(h.finish))
	}
	if r.Finish != Stop {
		return r, nil
	}
	switch {
	case h.refusal != "":
		r.Finish = Filtered
		if r.Text == "" {
			r.Text = key.hide(h.refusal)
		}
	case h.tools:
		return r, broken("it calls tools, and none were offered")
	case strings.TrimSpace(r.Text) == "":
		return r, broken("it is empty")
	}
	return r, nil
}

// end is the error that a kept reply stands for; nil for one that ended well.
func (r Reply) end() error {
	switch r.Finish {
	case Stop:
		return nil
	case Length:
		return &fault{kind: ErrTooLong, text: "the reply did not fit into max_output"}
	case Filtered:
		return &fault{kind: ErrFiltered, text: "the reply ended with " + Filtered}
	}
	return &fault{kind: ErrTransient, text: "the stored reply ended with " + oneLine(r.Finish)}
}
