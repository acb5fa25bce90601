package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/judges/evidence"
	"sluice/judges/reply"
)

// maxCommand is how long a command may be, in bytes.
const maxCommand = 16 << 10

// action is what a reply wants: one of the two.
type action struct {
	command string
	report  json.RawMessage
}

// What is told to a model whose reply cannot be read. Each is one line.
var (
	errNoBlock  = errors.New("There is no fenced block in the reply: give exactly one, opened by ```sh for a command or ```json for the final report.")
	errBlocks   = errors.New("There is more than one fenced block in the reply: give exactly one, with one command or with the final report.")
	errOpen     = errors.New("The fenced block is not closed: end it with a line of three backticks.")
	errCut      = errors.New("The reply was cut off, since it reached the limit of its length: think in a few sentences, and give one short fenced block.")
	errEmpty    = errors.New("The fenced block is empty.")
	errLong     = fmt.Errorf("The command is longer than %d bytes.", maxCommand)
	errBytes    = errors.New("The command holds a character that no shell should see (a NUL, a carriage return or an invisible one).")
	errLanguage = errors.New("The fenced block is neither ```sh nor ```json.")
)

var (
	thoughts  = regexp.MustCompile(`(?s)^\s*<think(?:ing)?>.*?</think(?:ing)?>`)
	openFence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([A-Za-z0-9_+-]*)[ \t]*$")
	shells    = []string{"", "sh", "bash", "shell", "console"}
)

// block is one fenced block of a reply.
type block struct {
	language, text string
}

// read takes a reply apart. Its error is the line for the model.
func read(text string, schema *reply.Schema) (action, error) {
	text = thoughts.ReplaceAllString(text, "")
	blocks, err := blocksOf(text)
	switch {
	case err != nil:
		return action{}, err
	case len(blocks) > 1:
		return action{}, errBlocks
	case len(blocks) == 0 && strings.HasPrefix(strings.TrimSpace(text), "{"):
		return readReport(text, schema)
	case len(blocks) == 0:
		return action{}, errNoBlock
	}
	b := blocks[0]
	switch {
	case strings.EqualFold(b.language, "json"):
		return readReport(b.text, schema)
	case !slices.Contains(shells, strings.ToLower(b.language)):
		return action{}, errLanguage
	}
	command := strings.TrimSpace(b.text)
	return action{command: command}, checkCommand(command)
}

// checkCommand refuses what would not be the same for a shell as for a reader.
func checkCommand(c string) error {
	switch {
	case c == "":
		return errEmpty
	case len(c) > maxCommand:
		return errLong
	case !utf8.ValidString(c) || evidence.Visible(c) != c:
		return errBytes
	}
	return nil
}

// blocksOf finds the fenced blocks as Markdown has them: a fence is closed by one of its kind that is at least as long.
func blocksOf(text string) ([]block, error) {
	var out []block
	var body []string
	open, language := "", ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		m := openFence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open, language, body = m[1], m[2], nil
		case open == "":
		case m != nil && m[2] == "" && m[1][0] == open[0] && len(m[1]) >= len(open):
			out = append(out, block{language, strings.Join(body, "\n")})
			open = ""
		default:
			body = append(body, line)
		}
	}
	if open != "" {
		return nil, errOpen
	}
	return out, nil
}
