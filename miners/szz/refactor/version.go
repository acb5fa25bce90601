package refactor

import (
	"bytes"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
)

// version is one side of a file.
type version struct {
	path      string
	typed     bool // declarations name the type before the name, as in C
	lines     map[int]line
	functions []lang.Span
	names     map[int]map[string]bool // that occur, by function; -1 is the whole file
}

// line is a line of code.
type line struct {
	number int
	tokens []lang.Token
	form   string // the tokens with names left out
	indent int    // in bytes, where indentation is syntax; else 0
}

func parse(path string, src []byte) (*version, bool) {
	tokens, ok := lang.Tokens(path, src)
	if !ok {
		return nil, false
	}
	v := &version{path: path, lines: map[int]line{}, names: map[int]map[string]bool{}}
	v.functions, _ = lang.Functions(path, src)
	switch lang.Language(path) {
	case "C", "C++", "Java":
		v.typed = true
	}
	text := bytes.Split(src, []byte("\n"))
	for len(tokens) > 0 {
		n := 1
		for n < len(tokens) && tokens[n].Line == tokens[0].Line {
			n++
		}
		l := line{number: tokens[0].Line, tokens: tokens[:n], form: form(tokens[:n])}
		if lang.Language(path) == "Python" {
			l.indent = len(text[l.number-1]) - len(bytes.TrimLeft(text[l.number-1], " \t"))
		}
		v.lines[l.number] = l
		tokens = tokens[n:]
	}
	return v, true
}

func form(tokens []lang.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		if !t.Name {
			b.WriteString(t.Text)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// code lists the lines of code in a range.
func (v *version) code(r gitrepo.Range) []line {
	var out []line
	for n := r.First; n <= r.Last; n++ {
		if l, ok := v.lines[n]; ok {
			out = append(out, l)
		}
	}
	return out
}

// function finds the outermost function that a line is in, by index; -1 when in none.
func (v *version) function(n int) int {
	for i, f := range v.functions {
		if f.First <= n && n <= f.Last {
			return i
		}
	}
	return -1
}

// has tells whether a name occurs in a function, or for -1 anywhere.
func (v *version) has(function int, name string) bool {
	known, ok := v.names[function]
	if !ok {
		known = map[string]bool{}
		for n, l := range v.lines {
			if function >= 0 && (n < v.functions[function].First || n > v.functions[function].Last) {
				continue
			}
			for _, t := range l.tokens {
				if t.Name {
					known[t.Text] = true
				}
			}
		}
		v.names[function] = known
	}
	return known[name]
}

// heads tells whether a line is the first one of a function.
func (v *version) heads(n int) bool {
	f := v.function(n)
	return f >= 0 && v.functions[f].First == n
}
