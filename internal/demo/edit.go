package demo

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// files is a tree: paths and contents.
type files map[string]string

// edit is what a step does to one file.
type edit struct {
	path   string
	how    string // "", "edit", "append", "delete"
	text   string // the new content, or what is appended
	blocks []block
}

// block replaces one piece of text that occurs once.
type block struct{ old, new string }

var (
	sectionName  = regexp.MustCompile(`^(\S+)(?: \((edit|append|delete)\))?$`)
	blockPattern = regexp.MustCompile(`(?s)<<<<\n(.*?)====\n(.*?)>>>>\n`)
)

// parseEdit reads a section of a step's file.
func parseEdit(f txtar.File) (edit, error) {
	m := sectionName.FindStringSubmatch(f.Name)
	if m == nil {
		return edit{}, fmt.Errorf("want a path and perhaps (edit), (append) or (delete)")
	}
	e := edit{path: m[1], how: m[2], text: string(f.Data)}
	if e.how != "edit" {
		return e, nil
	}
	for _, b := range blockPattern.FindAllStringSubmatch(e.text, -1) {
		e.blocks = append(e.blocks, block{b[1], b[2]})
	}
	if left := blockPattern.ReplaceAllString(e.text, ""); left != "" || len(e.blocks) == 0 {
		return edit{}, fmt.Errorf("want blocks of <<<<, ==== and >>>>, have also %q", left)
	}
	return e, nil
}

// apply returns the tree after the edits; t stays as it is.
func (t files) apply(edits []edit) (files, error) {
	out := maps.Clone(t)
	if out == nil {
		out = files{}
	}
	for _, e := range edits {
		if err := out.applyOne(e); err != nil {
			return nil, fmt.Errorf("editing %s: %w", e.path, err)
		}
	}
	return out, nil
}

func (t files) applyOne(e edit) error {
	old, exists := t[e.path]
	if exists == (e.how == "") {
		return fmt.Errorf("(%s) of a file that exists: %t", e.how, exists)
	}
	switch e.how {
	case "delete":
		delete(t, e.path)
	case "edit":
		for _, b := range e.blocks {
			if n := strings.Count(old, b.old); n != 1 {
				return fmt.Errorf("%q occurs %d times, want once", b.old, n)
			}
			old = strings.Replace(old, b.old, b.new, 1)
		}
		t[e.path] = old
	default:
		t[e.path] = old + e.text
	}
	return nil
}
