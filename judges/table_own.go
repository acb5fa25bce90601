package judges

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"sluice/judges/evidence"
	"sluice/prompts"
)

// minReasoning is the least that counts as reasons, in characters. It is also the least of which a copy can be told for sure.
const minReasoning = 40

// ownWords refuses a reply that was taken over from the evidence or from the prompt: whoever repeats what stands there has not
// judged. A planted reply must hold reasons of some length to be valid, and those reasons then stand in the evidence.
func ownWords(prompt string, fields json.RawMessage, reasoning string, seen *evidence.Seen) error {
	if n := utf8.RuneCountInString(fold(reasoning)); n < minReasoning {
		return fmt.Errorf("reasoning has %d characters: give the reasons in sentences of your own", n)
	}
	p, err := prompts.Load(prompt)
	if err != nil {
		return err
	}
	if seen.Copied(reasoning) || seen.Copied(rawReasoning(fields)) || planted(p, reasoning, seen) {
		return errors.New("reasoning stands word for word in the evidence, where it is no judgement: judge by yourself, in your own words")
	}
	if strings.Contains(promptText(prompt), fold(reasoning)) {
		return errors.New("reasoning repeats the instructions: judge the evidence, in your own words")
	}
	return nil
}

// rawReasoning is the reasoning as it is written in the reply, with its escapes.
func rawReasoning(fields json.RawMessage) string {
	var raw struct {
		Reasoning json.RawMessage `json:"reasoning"`
	}
	if json.Unmarshal(fields, &raw) != nil {
		return ""
	}
	return strings.Trim(string(raw.Reasoning), `"`)
}

var reasoningForm = regexp.MustCompile(`"reasoning"\s*:\s*("(?:[^"\\]|\\.)*")`)

// minEncoded is the least that could hold a reply in base64, in characters.
const minEncoded = 120

// encoded lists the long runs of characters of base64, over line breaks and in the usual alphabet. It looks for what ends a run from the end of the shortest one backwards, so
// that it reads few characters of other text; an expression costs more than all else that is done to a case.
func encoded(text string) []string {
	var out []string
	for start := 0; start+minEncoded <= len(text); {
		end := start + minEncoded
		last := end - 1
		for last >= start && inBase64(text[last]) {
			last--
		}
		if last >= start {
			start = last + 1
			continue
		}
		for end < len(text) && inBase64(text[end]) {
			end++
		}
		if run := oneAlphabet.Replace(text[start:end]); len(run) >= minEncoded {
			out = append(out, run)
		}
		start = end
	}
	return out
}

// oneAlphabet turns the alphabet for addresses into the usual one.
var oneAlphabet = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "")

func inBase64(b byte) bool {
	return b == '\n' || b == '\r' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '/' || b == '_' || b == '-'
}

// planted reports whether a reply in the evidence has this reasoning, whatever its escapes: a model may have read it rather than
// copied it.
func planted(p prompts.Prompt, reasoning string, seen *evidence.Seen) bool {
	want := fold(reasoning)
	for _, s := range p.Slots {
		for _, unit := range seen.Given(s.Name) {
			for _, text := range views(unit) {
				for _, m := range reasoningForm.FindAllStringSubmatch(text, -1) {
					var said string
					if json.Unmarshal([]byte(m[1]), &said) == nil && fold(said) == want {
						return true
					}
				}
			}
		}
	}
	return false
}

// views are a piece of evidence as it is, without one layer of escapes, and what it holds in base64. A piece that can hold no reply
// has none.
func views(unit string) []string {
	var out []string
	if strings.Contains(unit, `"reasoning"`) {
		out = append(out, unit)
	}
	if strings.Contains(unit, `\u`) || strings.Contains(unit, `\"`) {
		out = append(out, unescape(unit))
	}
	for _, run := range encoded(unit) {
		b, err := base64.RawStdEncoding.DecodeString(run[:len(run)/4*4])
		if err == nil && strings.Contains(string(b), `"reasoning"`) {
			out = append(out, string(b))
		}
	}
	return out
}

var escapeForm = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|["\\/nrt])`)

// unescape resolves the escapes of JSON strings wherever they stand.
func unescape(text string) string {
	return escapeForm.ReplaceAllStringFunc(text, func(m string) string {
		var s string
		if json.Unmarshal([]byte(`"`+m+`"`), &s) != nil {
			return m
		}
		return s
	})
}

// promptTexts keeps the folded text of each prompt, its schema's descriptions included.
var promptTexts sync.Map

func promptText(name string) string {
	if text, ok := promptTexts.Load(name); ok {
		return text.(string)
	}
	p, err := prompts.Load(name)
	if err != nil {
		return ""
	}
	text := fold(p.System + "\n" + p.User + "\n" + string(p.Schema))
	promptTexts.Store(name, text)
	return text
}
