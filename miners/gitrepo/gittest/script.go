package gittest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// script reads a script into the builder.
func (b *Builder) script(text string) error {
	archive := txtar.Parse([]byte(text))
	var p parser
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.line(line); err != nil {
			return fmt.Errorf("reading %q: %w", line, err)
		}
	}
	for _, f := range archive.Files {
		name, path, ok := strings.Cut(f.Name, "/")
		c := p.commit(name)
		if !ok || c == nil {
			return fmt.Errorf("reading file %q: want commit/path", f.Name)
		}
		if err := c.write(path, string(f.Data)); err != nil {
			return err
		}
	}
	for _, step := range p.steps {
		step(b)
	}
	return b.err
}

// parser turns lines into steps that run once the files of the archive are known too.
type parser struct {
	steps   []func(*Builder)
	commits []*Commit
}

// counts are the least and the most words after a directive.
var counts = map[string][2]int{
	"branch": {1, 2}, "orphan": {1, 1}, "commit": {2, 5}, "merge": {3, 6}, "rm": {1, 1}, "exec": {1, 1}, "link": {2, 2},
	"gitlink": {2, 2}, "tag": {2, 2}, "ref": {2, 2}, "head": {1, 1},
}

func (p *parser) line(line string) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	word, args := words[0], words[1:]
	if n, known := counts[word]; !known || len(args) < n[0] || len(args) > n[1] {
		return fmt.Errorf("unknown directive, or too few or too many words")
	}
	args = append(args, "") // for what may be left out
	switch word {
	case "branch":
		p.then(func(b *Builder) { b.Branch(args[0], args[1]) })
	case "orphan":
		p.then(func(b *Builder) { b.Orphan(args[0]) })
	case "tag":
		p.then(func(b *Builder) { b.Ref("refs/tags/"+args[0], args[1]) })
	case "ref":
		p.then(func(b *Builder) { b.Ref(args[0], args[1]) })
	case "head":
		p.then(func(b *Builder) { b.Head(args[0]) })
	case "commit", "merge":
		return p.add(word, args[:len(args)-1])
	default:
		return p.change(word, args)
	}
	return nil
}

func (p *parser) then(step func(*Builder)) { p.steps = append(p.steps, step) }

func (p *parser) add(word string, args []string) error {
	c := &Commit{Name: args[0], Message: args[1]}
	options := args[2:]
	var others []string
	if word == "merge" {
		others, c.Message, options = strings.Split(args[1], ","), args[2], args[3:]
	}
	for _, option := range options {
		if err := c.option(option); err != nil {
			return err
		}
	}
	p.commits = append(p.commits, c)
	p.then(func(b *Builder) {
		if others != nil {
			b.Merge(*c, others...)
			return
		}
		b.Add(*c)
	})
	return nil
}

func (c *Commit) option(option string) error {
	key, value, _ := strings.Cut(option, "=")
	var err error
	switch key {
	case "parent":
		c.Parents = strings.Split(value, ",")
	case "author":
		c.Author = value
	case "date":
		c.Date, err = time.Parse(time.RFC3339, value)
	default:
		err = fmt.Errorf("unknown option %q", option)
	}
	return err
}

func (p *parser) change(word string, args []string) error {
	if len(p.commits) == 0 {
		return fmt.Errorf("no commit above")
	}
	c := p.commits[len(p.commits)-1]
	switch word {
	case "rm":
		c.Remove = append(c.Remove, args[0])
	case "exec":
		c.mode(args[0], "100755")
	case "link":
		c.mode(args[0], "120000")
		return c.write(args[0], args[1])
	case "gitlink":
		c.mode(args[0], "160000")
		return c.write(args[0], args[1])
	}
	return nil
}

func (p *parser) commit(name string) *Commit {
	for _, c := range p.commits {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (c *Commit) mode(path, mode string) {
	if c.Modes == nil {
		c.Modes = map[string]string{}
	}
	c.Modes[path] = mode
}

func (c *Commit) write(path, data string) error {
	if c.Files == nil {
		c.Files = map[string]string{}
	}
	if _, twice := c.Files[path]; twice {
		return fmt.Errorf("commit %q writes %q twice", c.Name, path)
	}
	c.Files[path] = data
	return nil
}

// split cuts a line into words; a word, or what follows its "=", may be a Go string literal.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		end := strings.IndexAny(line, " \t\"`")
		if end < 0 {
			return append(words, line), nil
		}
		word := line[:end]
		line = line[end:]
		if line[0] == '"' || line[0] == '`' {
			literal, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("reading a string: %w", err)
			}
			text, err := strconv.Unquote(literal)
			if err != nil {
				return nil, fmt.Errorf("reading a string: %w", err)
			}
			word, line = word+text, line[len(literal):]
		}
		words = append(words, word)
	}
	return words, nil
}
