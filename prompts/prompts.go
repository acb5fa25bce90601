// Package prompts holds every text that sluice sends to a model: one Markdown file each, embedded, with front matter that says what
// the text needs and what the reply must look like.
//
// It checks all of them when they are loaded and renders nothing: evidence is laid into them by package judges/evidence. No text
// of it is taken from a paper or a data set.
package prompts

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Kind says how a piece of evidence may be cut when it is too long.
type Kind string

// The kinds of slots.
const (
	Text Kind = "text" // prose: whole paragraphs are left out at the end
	Diff Kind = "diff" // a patch in git's format: whole hunks are left out
	List Kind = "list" // units (comments, changes, outcomes): whole units are left out
	Code Kind = "code" // source or logs: cut in the middle, at lines
)

// Slot is a place for one piece of evidence.
type Slot struct {
	Name     string `toml:"name"`  // "fix_patch": the placeholder is {{fix_patch}}
	Title    string `toml:"title"` // how the text calls it
	Kind     Kind   `toml:"kind"`
	Bytes    int    `toml:"bytes"` // its share of the budget
	Optional bool   `toml:"optional"`
}

// Prompt is one file.
type Prompt struct {
	Name    string `toml:"name"`
	Version int    `toml:"version"` // raised with every change of the text
	Purpose string `toml:"purpose"` // one line for people
	Budget  int    `toml:"budget"`  // bytes of all evidence together
	Mask    bool   `toml:"mask"`    // numbers of changes and issues, and commit ids, are replaced in all evidence
	Slots   []Slot `toml:"slot"`
	// Schema is the reply's JSON schema, its properties in the order in which they are to be written: reasons before verdicts.
	Schema json.RawMessage `toml:"-"`
	System string          `toml:"-"`
	User   string          `toml:"-"` // with placeholders
	Digest string          `toml:"-"` // of the file
}

// The embedded files.
//
//go:embed *.md
var files embed.FS

// all reads the embedded prompts once.
var all = sync.OnceValues(func() ([]Prompt, error) { return readFolder(files) })

// All returns every prompt in the order of their names. The error names the first file that breaks a rule.
func All() ([]Prompt, error) { return all() }

// Load returns the prompt of that name.
func Load(name string) (Prompt, error) {
	ps, err := all()
	if err != nil {
		return Prompt{}, err
	}
	for _, p := range ps {
		if p.Name == name {
			return p, nil
		}
	}
	return Prompt{}, fmt.Errorf("no prompt is named %q", name)
}

// Slot returns the slot of that name.
func (p Prompt) Slot(name string) (Slot, bool) {
	for _, s := range p.Slots {
		if s.Name == name {
			return s, true
		}
	}
	return Slot{}, false
}

// readFolder reads all Markdown files at the top of a folder, in the order of their names.
func readFolder(folder fs.FS) ([]Prompt, error) {
	names, err := fs.Glob(folder, "*.md")
	if err != nil {
		return nil, fmt.Errorf("listing prompts: %w", err)
	}
	var out []Prompt
	for _, name := range names {
		b, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("reading prompt %s: %w", name, err)
		}
		p, err := Parse(strings.TrimSuffix(path.Base(name), ".md"), b)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
