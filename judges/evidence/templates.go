package evidence

import (
	"regexp"
	"strings"
)

// templateNames are the names in angle brackets by which chat formats of published model families tell turns apart.
const templateNames = `s|bos|eos|pad|unk|mask|sop|eop|eoh|eoa|eod|bos_token|eos_token|pad_token|start_of_turn|end_of_turn|start_of_image|` +
	`end_of_image|image_soft_token|end_of_utterance|start_of_role|end_of_role|end_of_text|turn|system|user|assistant|human|bot|think|thinking|` +
	`reasoning|tool_call|tool_calls|tool_response|tool_responses|tools|function_call|function_calls|function_results|unused_?\d+|reserved_?\d+|` +
	`extra_id_\d+|fim[_-][a-z]+|0x[0-9a-f]{2}|[a-z]{2,6}:[a-z_]{1,40}`

// bracketNames are those in square brackets.
const bracketNames = `INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|` +
	`gMASK|sMASK|MASK|SEP|CLS|PAD|UNK|BOS|EOS|THINK|ARGS|CALL_ID`

// templates are the control marks of chat formats. Whoever gets one past the tokenizer as what it is speaks with another's
// voice. Names between bars, plain or of full width, are most of them. Each alternative begins with < or [ and ends with > or ].
var templates = regexp.MustCompile(`(?i)^(?:<[|\x{FF5C}](?:[^|\x{FF5C}<>\s]|[^|\x{FF5C}<>\s][^|\x{FF5C}<>\n]{0,60}[^|\x{FF5C}<>\s])[|\x{FF5C}]>|</?(?:` + templateNames + `)>|<</?SYS>>|\[/?(?:` +
	bracketNames + `)\])`)

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

// markSize gives the length of the mark that text begins with, 0 without. Brackets abound in code: most are told from marks by
// what follows the next few bytes, without an expression.
func markSize(text string) int {
	text = text[:min(len(text), longestMark)]
	end := strings.IndexAny(text[1:], ">]\n (){};,\"'=")
	switch {
	case end < 0:
		return 0
	case text[1] != '|' && text[1] != 0xEF && text[end+1] != '>' && text[end+1] != ']': // names have no blanks, unless between bars
		return 0
	}
	return len(templates.FindString(text))
}
