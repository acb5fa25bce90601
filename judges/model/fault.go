package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// fault is why one HTTP request brought no reply.
type fault struct {
	kind error  // one of the package's errors
	text string // one line for people, without a piece of the key
	// paid: the model may have worked on it, and it may be billed.
	paid bool
	// wait is what the server asks for before the next try; 0: nothing.
	wait time.Duration
	// refuses is what of the request's form the endpoint does not know, though it may answer the question in another form.
	refuses refusal
	form    form // in which it was asked
}

type refusal int

const (
	refusesNothing   refusal = iota
	refusesFormat            // response_format of this kind
	refusesSchema            // this very schema
	refusesMaxTokens         // max_tokens; it wants max_completion_tokens
)

func (f *fault) Error() string { return f.kind.Error() + ": " + f.text }
func (f *fault) Unwrap() error { return f.kind }

// broken is a reply out of protocol: it was paid, and another may be better.
func broken(format string, args ...any) *fault {
	return &fault{kind: ErrTransient, text: "a broken reply: " + fmt.Sprintf(format, args...), paid: true}
}

// problem is what an error body says, whichever vendor wrote it.
type problem struct {
	code, typ, param, message string
}

func (p problem) String() string {
	name := p.code
	if name == "" {
		name = p.typ
	}
	if name == "" {
		return oneLine(p.message)
	}
	return oneLine(name + ": " + p.message)
}

// oneLine makes text of a server fit for a log.
func oneLine(text string) string {
	const most = 300
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// parseProblem reads the shapes of OpenAI, Google (in a list), Mistral and vLLM (on the top level), FastAPI ("detail") and OpenRouter (what
// the provider said, inside). Text that is none of them is the message.
func parseProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return problem{message: string(body)}
	}
	if inner, ok := top["error"]; ok {
		var fields map[string]json.RawMessage
		if json.Unmarshal(inner, &fields) != nil {
			return problem{message: text(inner)}
		}
		top = fields
	}
	p := problem{code: text(top["code"]), typ: text(top["type"]), param: text(top["param"]), message: text(top["message"])}
	if p.typ == "" {
		p.typ = text(top["status"])
	}
	if p.message == "" {
		p.message = detail(top["detail"])
	}
	var meta struct{ Raw json.RawMessage }
	if json.Unmarshal(top["metadata"], &meta) == nil && len(meta.Raw) > 0 {
		raw := text(meta.Raw)
		if inner := parseProblem([]byte(raw)); inner.message != raw {
			raw = inner.code + " " + inner.message
		}
		p.message += ": " + raw
	}
	return p
}

// text is a JSON string's text, any other value as it is written, and nothing for null.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// detail reads FastAPI's list of faults without the input that it repeats.
func detail(raw json.RawMessage) string {
	var list []struct{ Msg string }
	if json.Unmarshal(raw, &list) != nil {
		return text(raw)
	}
	var out []string
	for _, d := range list {
		out = append(out, d.Msg)
	}
	return strings.Join(out, "; ")
}

// What vendors call it, in small letters, in the code or in the message.
var (
	saysTooLong = regexp.MustCompile(`context_length|context length|context_size|context size|context window|exceed_context|` +
		`prompt is too long|input is too long|input token count|too many (input )?tokens|too large for model|reduce the length|` +
		"`inputs` tokens|string_above_max_length|range of input length|max_prompt_tokens")
	saysFiltered = regexp.MustCompile(`content_filter|content filter|content management policy|content_policy|content policy|` +
		`responsible_ai|moderation|flagged|data_inspection_failed|usage polic|safety (system|filter|reason|polic)`)
	saysNoModel = regexp.MustCompile(`model_not_found|invalid_model|unknown model|no such model|not a valid model|` +
		`model\b.{0,80}(does not exist|not found|is not available|is not supported)`)
	saysNoMoney       = regexp.MustCompile(`insufficient_quota|billing|insufficient (credit|balance|funds)|credit balance|exceeded your current quota`)
	saysFormat        = regexp.MustCompile(`response_format|response format|json_schema|json_object|structured output|guided|grammar`)
	saysInvalidSchema = regexp.MustCompile(`invalid schema|unsupported schema|schema is invalid|json schema (error|conversion failed)|parse grammar|parsing grammar`)
	saysUnsupported   = regexp.MustCompile(`unsupported[_ ](parameter|value)|extra inputs are not permitted`)
	saysMaxTokens     = regexp.MustCompile(`max_completion_tokens`)
	saysMaxTooLarge   = regexp.MustCompile(`max_(completion_)?tokens.{0,80}too large|at most \d+ completion tokens`)
)

// refused tells what an answer with a failing status means.
func refused(status int, h http.Header, body []byte, now time.Time) *fault {
	p := parseProblem(body)
	said := strings.ToLower(p.code + " " + p.typ + " " + p.param + " " + p.message)
	f := &fault{text: fmt.Sprintf("HTTP %d %s", status, p)}
	switch {
	case status < 400:
		f.kind, f.text = ErrConfig, fmt.Sprintf("HTTP %d: the endpoint is elsewhere (%s); correct its url", status, oneLine(h.Get("Location")))
	case status == http.StatusTooManyRequests && saysNoMoney.MatchString(said), status == http.StatusPaymentRequired:
		f.kind = ErrConfig
	case passing(status):
		f.kind, f.wait = ErrTransient, retryAfter(h, now)
		// A gateway that gave up waiting does not know what the model did.
		f.paid = status == http.StatusGatewayTimeout || status == statusTimeoutBehind
	case status == http.StatusRequestEntityTooLarge:
		f.kind = ErrTooLong
	case status == http.StatusUnauthorized:
		f.kind = ErrConfig
	case saysFiltered.MatchString(said):
		f.kind = ErrFiltered
	case status == http.StatusForbidden, status == http.StatusNotFound:
		f.kind = ErrConfig
	default:
		f.kind, f.refuses = badRequest(said)
	}
	return f
}

// badRequest tells apart what a 400 or 422 means.
func badRequest(said string) (error, refusal) {
	switch {
	case saysInvalidSchema.MatchString(said):
		return ErrRejected, refusesSchema
	case saysFormat.MatchString(said):
		return ErrRejected, refusesFormat
	case saysMaxTokens.MatchString(said) && saysUnsupported.MatchString(said):
		return ErrRejected, refusesMaxTokens
	case saysTooLong.MatchString(said):
		return ErrTooLong, refusesNothing
	case saysNoModel.MatchString(said), saysMaxTooLarge.MatchString(said), saysNoMoney.MatchString(said):
		return ErrConfig, refusesNothing
	case saysUnsupported.MatchString(said):
		return ErrConfig, refusesNothing // a setting of the model: every question would meet it
	}
	return ErrRejected, refusesNothing
}

// refusedWithin is an error in the body of an answer that said 200, or in the middle of a stream: work had begun.
func refusedWithin(h http.Header, body []byte, now time.Time) *fault {
	p := parseProblem(body)
	if status, err := strconv.Atoi(p.code); err == nil && status >= 400 && status < 600 {
		f := refused(status, h, body, now)
		f.paid = true
		return f
	}
	said := strings.ToLower(p.code + " " + p.typ + " " + p.message)
	f := &fault{kind: ErrTransient, text: "an error within the reply: " + p.String(), paid: true}
	switch {
	case saysFiltered.MatchString(said):
		f.kind = ErrFiltered
	case saysTooLong.MatchString(said):
		f.kind = ErrTooLong
	}
	return f
}

// Status codes that net/http does not name.
const (
	statusTimeoutBehind = 524 // Cloudflare: the server behind took too long
	statusOverloaded    = 529 // the whole service is overloaded
)

// passing reports whether another try may meet a better answer.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// retryAfter reads how long the server wants to be left alone: in milliseconds, in seconds or until a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func seconds(s float64) time.Duration {
	const day = 24 * 60 * 60
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, day) * float64(time.Second))
}
