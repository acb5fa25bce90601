// Package prompts holds every text that sluice sends to a model: one Markdown file each, embedded, with front matter that says what
// the text needs and what the reply must look like.
//
// It checks all of them when they are loaded and renders nothing: evidence is laid into them by package judges/evidence. No text
// of it is taken from a paper or a data set.
package prompts

import "encoding/json"

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
