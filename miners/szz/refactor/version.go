package refactor

import (
	"bytes"
	"strings"
	"unicode"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
)

// version is one side of a file.
type version struct {
	path      string
	typed     bool // declarations name the type before the name, as in C
	lines     map[int]line
	functions []lang.Span
	names     map[int]map[string]bool // words that occur, by function; -1 is the whole file
	text      [][]byte                // by line
}

// line is a line of code.
type line struct {
	number int
	tokens []lang.Token
	form   string // the tokens with names left out
	indent int    // in bytes, where indentation is syntax; else 0
}

func parse(path string, src []byte, wanted []lang.Span) (*version, bool) {
	o, ok := lang.Read(path, src, wanted)
	if !ok {
		return nil, false
	}
	tokens, text := o.Tokens, bytes.Split(src, []byte("\n"))
	v := &version{path: path, lines: map[int]line{}, names: map[int]map[string]bool{}, functions: o.Functions, text: text}
	switch lang.Language(path) {
	case "C", "C++", "Java":
		v.typed = true
	}
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

// has tells whether a word occurs in a function, or for -1 anywhere; also in a comment or a string, where a name may be meant.
func (v *version) has(function int, name string) bool {
	known, ok := v.names[function]
	if !ok {
		known = map[string]bool{}
		text := v.text
		if function >= 0 {
			f := v.functions[function]
			text = text[f.First-1 : min(f.Last, len(text))]
		}
		for _, l := range text {
			for _, word := range bytes.FieldsFunc(l, notInName) {
				known[string(word)] = true
			}
		}
		v.names[function] = known
	}
	return known[strings.TrimFunc(name, notInName)]
}

func notInName(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// heads tells whether a line is the first one of a function.
func (v *version) heads(n int) bool {
	f := v.function(n)
	return f >= 0 && v.functions[f].First == n
}
