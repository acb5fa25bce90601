package changelog

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

var (
	mdHeading   = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.+?)\s*#*$`)
	underline   = regexp.MustCompile("^(?:={3,}|-{3,}|~{3,}|\\^{3,}|\\+{3,}|\\*{3,}|`{3,}|'{3,}|\"{3,}|:{3,}|_{3,}|#{3,})\\s*$")
	bullet      = regexp.MustCompile(`^(\s*)(?:[-*+•]|o|\d{1,3}[.)])\s+(.*)$`)
	directive   = regexp.MustCompile(`^(\s*)\.\. (change|changelog|versionadded|versionchanged|bug|bugfix|rubric|_\S+)::?\s*(.*)$`)
	field       = regexp.MustCompile(`^\s+:(tags|tickets|version|released|include_notes_from|versions)?:\s*(.*)$`)
	versionWord = regexp.MustCompile(`(?i)(?:^|[\s\[(v])v?(\d+(?:\.\d+)+(?:[.-]?(?:a|b|rc|alpha|beta|dev|post)\.?\d*)?)\b`)
	unreleased  = regexp.MustCompile(`(?i)\b(?:unreleased|upcoming|next|development|not (?:yet )?released)\b`)
	plainLabel  = regexp.MustCompile(`^\s{0,4}(?:\*\*|__)?([A-Z][\w ,/&'-]{2,60}?)(?:\*\*|__)?:(?:\*\*|__)?\s*$`)
)

// sections reads headings and lists. A line with a bullet begins an entry; what is indented below belongs to it.
func (p *parser) sections(text string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		p.line(i+1, line, next)
	}
	p.end()
}

func (p *parser) line(n int, line, next string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case underline.MatchString(trimmed) && len(trimmed) > 2 && bullet.FindString(line) == "":
		return // its heading was read with the line above
	case trimmed != "" && line[0] != ' ' && underline.MatchString(next) && len(strings.TrimSpace(next)) >= min(len(trimmed)-2, 3):
		p.heading(trimmed)
	case footnote.MatchString(line):
		p.end()
	case mdHeading.MatchString(line):
		p.heading(mdHeading.FindStringSubmatch(line)[1])
	case p.rst(n, line):
	case bullet.MatchString(line):
		m := bullet.FindStringSubmatch(line)
		if p.now != nil && p.now.directive && len(m[1]) > p.now.indent {
			p.more(m[2])
			return
		}
		p.begin(n, len(m[1]), m[2])
	case trimmed == "":
		if p.now != nil && next != "" && next[0] != ' ' && next[0] != '\t' {
			p.end()
		}
	case p.now != nil && (line[0] == ' ' || line[0] == '\t'):
		p.more(trimmed)
	case plainLabel.MatchString(line):
		p.end()
		p.section, p.tags = plainLabel.FindStringSubmatch(line)[1], ""
	case p.now != nil:
		p.more(trimmed)
	}
}

// fileTitle is the heading of the whole file.
var fileTitle = regexp.MustCompile(`(?i)^(?:the )?(?:change ?-?log|changes|history|news|release ?notes|releases)$`)

// heading sets the version, or the section below it.
func (p *parser) heading(text string) {
	p.end()
	p.tags = ""
	if m := versionWord.FindStringSubmatch(text); m != nil {
		p.version, p.section = m[1], ""
		return
	}
	if unreleased.MatchString(text) {
		p.version, p.section = "", ""
		return
	}
	if p.section = strings.Trim(text, "*_`: "); fileTitle.MatchString(p.section) {
		p.section = ""
	}
}

// rst reads the directives of Sphinx change logs.
func (p *parser) rst(n int, line string) bool {
	if m := directive.FindStringSubmatch(line); m != nil {
		p.end()
		switch m[2] {
		case "changelog":
			p.version, p.section, p.tags = "", "", ""
		case "change", "bug", "bugfix":
			p.tags = ""
			p.now = &draft{line: n, indent: len(m[1]), directive: true}
		}
		return true
	}
	m := field.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	switch m[1] {
	case "version":
		p.version = strings.TrimSpace(m[2])
	case "tags":
		p.tags = m[2]
	case "tickets":
		p.tickets(m[2])
	}
	return true
}

func (p *parser) tickets(list string) {
	if p.now == nil {
		return
	}
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", ", r) }) {
		if v, err := strconv.Atoi(strings.TrimPrefix(word, "#")); err == nil && v > 0 {
			p.now.issues = add(p.now.issues, v)
		}
	}
}

// fragment reads a file of one entry, whose name says what it is about; a file of Sphinx directives may hold several.
func (p *parser) fragment(name, text string) {
	if strings.Contains(text, ".. change::") {
		p.sections(text)
		return
	}
	m := fragmentName.FindStringSubmatch(path.Base(name))
	if m != nil {
		p.section = strings.ToLower(m[2])
	}
	first := true
	front := strings.HasPrefix(text, "---\n")
	for i, line := range strings.Split(text, "\n") {
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		switch trimmed := strings.TrimSpace(line); {
		case front:
			front = i == 0 || trimmed != "---"
		case trimmed == "" || strings.HasPrefix(trimmed, ".. ") || underline.MatchString(trimmed):
		case first:
			first = false
			p.begin(i+1, 0, strings.TrimLeft(trimmed, "*- "))
			if m != nil {
				if n, err := strconv.Atoi(strings.TrimLeft(m[1], "0")); err == nil && n > 0 && n < 1e7 {
					p.now.text.WriteString(" #" + strconv.Itoa(n))
				}
			}
		default:
			p.more(trimmed)
		}
	}
	p.end()
}

var (
	gnuHeader = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})\s+\S.*$`)
	gnuItem   = regexp.MustCompile(`^\s+\* (.+)$`)
)

// gnu reads a GNU ChangeLog: an entry for each person and day, or for each starred item.
func (p *parser) gnu(text string) {
	for i, line := range strings.Split(text, "\n") {
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		switch {
		case gnuHeader.MatchString(line):
			p.end()
		case gnuItem.MatchString(line):
			p.begin(i+1, 0, gnuItem.FindStringSubmatch(line)[1])
			p.now.fix = gnuFix.MatchString(line)
		case strings.TrimSpace(line) == "":
			p.end()
		default:
			if p.more(line); p.now != nil {
				p.now.fix = p.now.fix || gnuFix.MatchString(line)
			}
		}
	}
	p.end()
}

// gnuFix finds repairs where there are no sections: the words after the colon that names files and functions.
var gnuFix = regexp.MustCompile(`(?i):\s*(?:fix(?:ed|es)?\b|don't crash|avoid crash|correct\b)|\b(?:PR [\w-]+/\d+|bug #?\d{3,}|regression)\b`)
