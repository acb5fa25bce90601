package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

const (
	fence      = "+++\n"
	maxFile    = 64 << 10 // bytes; a text longer than this is a mistake
	maxBudget  = 1 << 20  // bytes of evidence
	systemPart = "# System"
	userPart   = "# User"
)

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	slotForm = regexp.MustCompile(`^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$`)
	// holders finds placeholders, and whatever was meant to be one.
	holders = regexp.MustCompile(`\{\{([^{}\n]*)\}\}|\{\{|\}\}`)
)

// header is the front matter: a Prompt with its schema as text.
type header struct {
	Prompt
	Reply string `toml:"schema"`
}

// Parse reads one file. The error is one line: which file, what is wrong, where.
func Parse(name string, file []byte) (Prompt, error) {
	p, err := parse(name, file)
	if err != nil {
		return Prompt{}, fmt.Errorf("prompt %s.md: %w", name, err)
	}
	return p, nil
}

func parse(name string, file []byte) (Prompt, error) {
	if err := checkBytes(file); err != nil {
		return Prompt{}, err
	}
	front, body, err := split(string(file))
	if err != nil {
		return Prompt{}, err
	}
	var h header
	meta, err := toml.Decode(front, &h)
	if err != nil {
		return Prompt{}, fmt.Errorf("front matter: %s", tomlLine(err))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Prompt{}, fmt.Errorf("front matter: unknown key %q", unknown[0].String())
	}
	p := h.Prompt
	sum := sha256.Sum256(file)
	p.Digest = "sha256:" + hex.EncodeToString(sum[:])
	if p.System, p.User, err = parts(body); err != nil {
		return Prompt{}, err
	}
	if err := p.checkHead(name); err != nil {
		return Prompt{}, err
	}
	if err := p.checkSlots(); err != nil {
		return Prompt{}, err
	}
	if err := p.checkHolders(); err != nil {
		return Prompt{}, err
	}
	if p.Schema, err = checkSchema(h.Reply); err != nil {
		return Prompt{}, fmt.Errorf("schema: %w", err)
	}
	return p, nil
}

// checkBytes refuses what nobody sees when reading the file: a prompt is what it looks like.
func checkBytes(file []byte) error {
	if len(file) > maxFile {
		return fmt.Errorf("%d bytes, the limit is %d", len(file), maxFile)
	}
	if !utf8.Valid(file) {
		return errors.New("not UTF-8")
	}
	for i, line := range strings.Split(string(file), "\n") {
		for _, r := range line {
			if !unicode.IsGraphic(r) && r != '\t' || unicode.Is(unicode.Variation_Selector, r) {
				return fmt.Errorf("line %d: invisible character %U", i+1, r)
			}
		}
	}
	return nil
}

// split takes the front matter off.
func split(text string) (front, body string, err error) {
	rest, ok := strings.CutPrefix(text, fence)
	if !ok {
		return "", "", errors.New("does not begin with front matter: a line +++")
	}
	front, body, ok = strings.Cut(rest, "\n"+fence)
	if !ok {
		return "", "", errors.New("the front matter does not end: no second line +++")
	}
	return front, body, nil
}

// parts takes the body apart at its two headings.
func parts(body string) (system, user string, err error) {
	var headings []string
	texts := []string{""}
	for line := range strings.Lines(body) {
		if l := strings.TrimRight(line, " \n"); l == "#" || strings.HasPrefix(l, "# ") {
			headings = append(headings, l)
			texts = append(texts, "")
			continue
		}
		texts[len(texts)-1] += line
	}
	if !slices.Equal(headings, []string{systemPart, userPart}) {
		return "", "", fmt.Errorf("the headings of level 1 are %q, not %q and %q", headings, systemPart, userPart)
	}
	if strings.TrimSpace(texts[0]) != "" {
		return "", "", fmt.Errorf("text before %q", systemPart)
	}
	system, user = strings.TrimSpace(texts[1]), strings.TrimSpace(texts[2])
	if system == "" || user == "" {
		return "", "", errors.New("a part without text")
	}
	return system, user, nil
}

func (p Prompt) checkHead(file string) error {
	switch {
	case p.Name != file:
		return fmt.Errorf("its name is %q, not that of the file", p.Name)
	case !nameForm.MatchString(p.Name):
		return fmt.Errorf("name %q: lower case words with hyphens are wanted", p.Name)
	case p.Version < 1:
		return fmt.Errorf("version %d: 1 or more is wanted", p.Version)
	case strings.TrimSpace(p.Purpose) == "" || strings.Contains(p.Purpose, "\n"):
		return errors.New("purpose: one line is wanted")
	case p.Budget < 0 || p.Budget > maxBudget || p.Budget == 0 && len(p.Slots) > 0:
		return fmt.Errorf("budget %d: 1 to %d bytes are wanted", p.Budget, maxBudget)
	}
	return nil
}

func (p Prompt) checkSlots() error {
	sum := 0
	seen := map[string]bool{}
	for _, s := range p.Slots {
		switch {
		case !slotForm.MatchString(s.Name):
			return fmt.Errorf("slot %q: a name of lower case words with underscores is wanted", s.Name)
		case seen[s.Name]:
			return fmt.Errorf("slot %s: it is there twice", s.Name)
		case strings.TrimSpace(s.Title) == "" || strings.Contains(s.Title, "\n"):
			return fmt.Errorf("slot %s: title: one line is wanted", s.Name)
		case !slices.Contains([]Kind{Text, Diff, List, Code}, s.Kind):
			return fmt.Errorf("slot %s: kind %q: text, diff, list or code is wanted", s.Name, s.Kind)
		case s.Bytes < 1:
			return fmt.Errorf("slot %s: bytes %d: 1 or more are wanted", s.Name, s.Bytes)
		}
		seen[s.Name] = true
		sum += s.Bytes
	}
	if sum > p.Budget {
		return fmt.Errorf("the slots have %d bytes together, the budget only %d", sum, p.Budget)
	}
	return nil
}

// checkHolders wants each slot's placeholder exactly once, in the user's part.
func (p Prompt) checkHolders() error {
	if m := holders.FindString(p.System); m != "" {
		return fmt.Errorf("%s stands in the system part", m)
	}
	count := map[string]int{}
	for _, m := range holders.FindAllStringSubmatch(p.User, -1) {
		if _, ok := p.Slot(m[1]); !ok {
			return fmt.Errorf("placeholder %s: no such slot", m[0])
		}
		count[m[1]]++
	}
	for _, s := range p.Slots {
		if n := count[s.Name]; n != 1 {
			return fmt.Errorf("slot %s: its placeholder occurs %d times, not once", s.Name, n)
		}
	}
	return nil
}

// Fill lays texts into the placeholders of the user's part. What stands in a text is never taken for a placeholder.
func (p Prompt) Fill(texts map[string]string) string {
	return holders.ReplaceAllStringFunc(p.User, func(m string) string { return texts[strings.Trim(m, "{}")] })
}

// tomlLine is a TOML error as one line, with its place. Messages may quote line breaks.
func tomlLine(err error) string {
	var pe toml.ParseError
	if errors.As(err, &pe) {
		return fmt.Sprintf("line %d: %s", pe.Position.Line+1, strings.Join(strings.Fields(pe.Message), " "))
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
