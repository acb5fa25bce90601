package demo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// parseStep reads a step's file: header lines "key: value", a blank line, the message, then the sections. A section
// is a file's new content, "(edit)", "(append)" or "(delete)"; "@commit message" begins a commit of the branch,
// "@branch name" another branch, and "@sync" merges the main branch into the branch.
func parseStep(id string, text []byte) (Step, error) {
	archive := txtar.Parse(text)
	header, message, ok := strings.Cut(string(archive.Comment), "\n\n")
	if !ok {
		return Step{}, fmt.Errorf("want a header, a blank line and a message")
	}
	s := Step{ID: id, Message: strings.TrimSpace(message)}
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := s.set(key, value); err != nil {
			return Step{}, fmt.Errorf("header %q: %w", key, err)
		}
	}
	for _, f := range archive.Files {
		if err := s.addSection(f); err != nil {
			return Step{}, fmt.Errorf("section %q: %w", f.Name, err)
		}
	}
	return s, nil
}

// set takes one line of the header.
func (s *Step) set(key, value string) (err error) {
	switch key {
	case "landing":
		s.Landing = Landing(value)
	case "number":
		s.Number, err = strconv.Atoi(value)
	case "fork":
		s.Fork = value
	case "branch":
		s.Branch = value
	case "author":
		s.Author = value
	case "date":
		s.Date, err = time.Parse(time.RFC3339, value)
	case "expect":
		words := strings.Fields(value)
		s.Expect.State, s.Expect.Codes = words[0], words[1:]
	case "introducer":
		s.Expect.Introducer = value
	case "method":
		s.Expect.Method = value
	case "narrowed":
		s.Expect.Narrowed = strings.Fields(value)
	case "why":
		s.Expect.Why = value
	default:
		return fmt.Errorf("no such key")
	}
	return err
}

// addSection takes one section; the first edit of a step without "@commit" begins its only commit.
func (s *Step) addSection(f txtar.File) error {
	word, rest, _ := strings.Cut(f.Name, " ")
	switch word {
	case "@commit":
		s.commits = append(s.commits, commit{message: rest})
		return nil
	case "@branch":
		s.commits = append(s.commits, commit{branch: rest, message: "Add " + rest})
		return nil
	case "@sync":
		s.commits = append(s.commits, commit{sync: true})
		return nil
	}
	if len(s.commits) == 0 {
		s.commits = []commit{{message: s.Message}}
	}
	e, err := parseEdit(f)
	if err != nil {
		return err
	}
	last := &s.commits[len(s.commits)-1]
	last.edits = append(last.edits, e)
	return nil
}

// Subject returns the first line of the step's commit on the main branch.
func (s Step) Subject() string {
	title, _, _ := strings.Cut(s.Message, "\n")
	switch {
	case s.Landing == Merge && s.Number != 0:
		return fmt.Sprintf("Merge pull request #%d from %s", s.Number, s.Branch)
	case s.Landing == Squash:
		return fmt.Sprintf("%s (#%d)", title, s.Number)
	}
	return title
}

// fullMessage returns the message of the step's commit on the main branch.
func (s Step) fullMessage() string {
	if s.Landing == Merge && s.Number != 0 {
		return s.Subject() + "\n\n" + s.Message + "\n"
	}
	_, body, _ := strings.Cut(s.Message, "\n")
	return s.Subject() + "\n" + body + "\n"
}
