package evidence

import (
	"regexp"
	"strings"
)

// space is the name space of some models' calls.
const space = "ant" + "ml"

// The names in brackets, spelt as tokenizers know them, by which chat formats of published model families tell turns apart.
var (
	angleNames = wordSet(`s bos eos pad unk mask sop eop eoh eoa eod bos_token eos_token pad_token start_of_turn end_of_turn start_of_image
		end_of_image image_soft_token end_of_utterance start_of_role end_of_role end_of_text system assistant think thinking
		reasoning tool_call tool_calls tool_response tool_responses tools function_call function_calls function_results`)
	squareNames = wordSet(`INST SYSTEM_PROMPT AVAILABLE_TOOLS TOOL_CALLS TOOL_RESULTS TOOL_CONTENT IMG IMG_BREAK IMG_END PREFIX MIDDLE SUFFIX
		gMASK sMASK MASK SEP CLS PAD UNK BOS EOS BOS_TOKEN EOS_TOKEN THINK ARGS CALL_ID`)
	// numbered are names of which there are many.
	numbered = regexp.MustCompile(`^(?:unused_?\d+|reserved_?\d+|extra_id_\d+|fim[_-][a-z]+|0x[0-9A-F]{2}|[A-Z]{3}_TOKEN|` + space + `:[a-z_]{1,40})$`)
	// barred are names between bars, plain or of full width: most of the marks in use.
	barred  = regexp.MustCompile(`^<[|\x{FF5C}](?:[^|\x{FF5C}<>\s]|[^|\x{FF5C}<>\s][^|\x{FF5C}<>\n]{0,60}[^|\x{FF5C}<>\s])[|\x{FF5C}]>`)
	doubled = []string{"<<SYS>>", "<</SYS>>"}
)

// breaker goes into a mark after its first character.
const breaker = "⟨⟩"

// longestMark is more bytes than any mark has.
const longestMark = 256

// Break puts an empty pair ⟨⟩ into control marks of chat formats, so that no tokenizer takes them for what they are.
func Break(text string) string {
	for { // a mark may hold another
		broken := breakOnce(text)
		if broken == text {
			return text
		}
		text = broken
	}
}

func breakOnce(text string) string {
	var out strings.Builder
	from := 0
	for i := 0; ; {
		n := strings.IndexAny(text[i:], "<[")
		if n < 0 {
			break
		}
		i += n
		size := markSize(text[i:])
		if size > 0 {
			out.WriteString(text[from : i+1])
			out.WriteString(breaker)
			from = i + 1
		}
		i += max(1, size)
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// markSize gives the length of the mark that text begins with, 0 without. Whoever gets one past the tokenizer as what it is
// speaks with another's voice. Brackets abound in code, so that few of them come as far as an expression.
func markSize(text string) int {
	text = text[:min(len(text), longestMark)]
	switch {
	case len(text) < 3:
		return 0
	case text[0] == '[':
		return named(text, ']', squareNames)
	case text[1] == '|' || text[1] == 0xEF:
		return len(barred.FindString(text))
	case text[1] == '<':
		for _, d := range doubled {
			if len(text) >= len(d) && strings.EqualFold(text[:len(d)], d) {
				return len(d)
			}
		}
		return 0
	}
	return named(text, '>', angleNames)
}

// named gives the length of <name> or </name>, if the name is one of those.
func named(text string, closing byte, names map[string]bool) int {
	start := 1
	if text[1] == '/' {
		start = 2
	}
	end := start
	for end < len(text) && (isWord(text[end]) || text[end] == ':' || text[end] == '-') {
		end++
	}
	if end == len(text) || end == start || text[end] != closing {
		return 0
	}
	name := text[start:end]
	if !names[name] && (closing == ']' || !numbered.MatchString(name)) {
		return 0
	}
	return end + 1
}
