package operation

import (
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// unknown stands in a word for what its text does not show: an unset variable, the output of a command. No command of an agent
// holds this character.
const unknown = "\x01"

// Call is one command that a text runs, as far as its text shows.
type Call struct {
	Args  []string // words after expansion; a part that the text does not show is unknown
	Stdin string   // what a here-document, a here-string or a literal echo gives it
	Piped bool     // it reads what another command prints and the text does not show
}

// Limits of the reader: commands come from a model.
const (
	maxDepth = 6        // shells that start shells
	maxCalls = 2000     // of one text
	maxFile  = 64 << 10 // bytes of a file that commands wrote
	maxValue = 4 << 10  // bytes of a variable: a text can double them again and again
)

// Reader finds the commands in texts for a shell, in order, with what they wrote to files on the way. The zero value is usable.
type Reader struct {
	// File returns the text of a file of the tree as it was; may be nil.
	File func(path string) (string, bool)
	Vars map[string]string // that every text finds set

	files map[string]string // what earlier commands wrote
	calls []Call
	doubt []string // what could not be read
}

// Read returns the calls of one text, and what it hides, one line each. Variables do not live from one text to the next; files do.
func (r *Reader) Read(text string) (calls []Call, doubts []string) {
	if r.files == nil {
		r.files = map[string]string{}
	}
	r.calls, r.doubt = nil, nil
	vars := maps.Clone(r.Vars)
	if vars == nil {
		vars = map[string]string{}
	}
	r.script(text, vars, 0)
	return r.calls, r.doubt
}

func (r *Reader) unsure(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if len(r.doubt) < 20 && !slices.Contains(r.doubt, line) {
		r.doubt = append(r.doubt, line)
	}
}

// script reads a text with variables that its caller set.
func (r *Reader) script(text string, vars map[string]string, depth int) {
	if depth > maxDepth {
		r.unsure("shells start shells more than %d deep", maxDepth)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		r.unsure("no shell reads it: %.200v", err)
		if file == nil {
			return
		}
	}
	s := &scope{r: r, vars: vars, depth: depth}
	for _, st := range file.Stmts {
		s.statement(st, stream{})
	}
}

// scope is one shell: its variables and aliases.
type scope struct {
	r     *Reader
	vars  map[string]string
	depth int
	unset map[string]bool // of the word at hand: what has a default of its own and no value
}

// stream is what a command reads: a known text, or an unknown one.
type stream struct {
	text  string
	piped bool
}

// statement reads one statement; in is what the pipe before it gives. It returns what the statement prints as far as that is known.
func (s *scope) statement(st *syntax.Stmt, in stream) stream {
	if st == nil {
		return stream{}
	}
	if len(s.r.calls) > maxCalls {
		s.r.unsure("it runs more than %d commands", maxCalls)
		return stream{piped: true}
	}
	in = s.input(st.Redirs, in)
	out := s.command(st.Cmd, in)
	s.output(st.Redirs, out)
	return out
}

// input finds here-documents, and files that earlier commands wrote.
func (s *scope) input(redirs []*syntax.Redirect, in stream) stream {
	for _, rd := range redirs {
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = stream{text: s.document(rd.Hdoc)}
		case syntax.WordHdoc:
			in = stream{text: s.word(rd.Word)}
		case syntax.RdrIn:
			text, ok := s.r.file(s.word(rd.Word))
			in = stream{text: text, piped: !ok}
		}
	}
	return in
}

// output notes what is written to a file whose name is known.
func (s *scope) output(redirs []*syntax.Redirect, out stream) {
	for _, rd := range redirs {
		switch rd.Op {
		case syntax.RdrOut, syntax.ClbOut, syntax.RdrAll:
			s.r.write(s.word(rd.Word), out, false)
		case syntax.AppOut, syntax.AppAll:
			s.r.write(s.word(rd.Word), out, true)
		}
	}
}

func (r *Reader) write(name string, out stream, more bool) {
	name = path.Clean(name)
	text := out.text
	if out.piped {
		text = unknown
	}
	if more {
		text = r.files[name] + text
	}
	r.files[name] = text[:min(len(text), maxFile)]
}

// file returns what a file holds: what commands wrote, or what the tree has. Its name is compared without its folder when the
// folder is unknown or absolute: commands and readers may stand in different ones.
func (r *Reader) file(name string) (string, bool) {
	if text, ok := r.files[path.Clean(name)]; ok {
		return text, true
	}
	for known, text := range r.files {
		if path.Base(known) == path.Base(name) {
			return text, true
		}
	}
	if r.File != nil && !strings.Contains(name, unknown) {
		return r.File(path.Clean(name))
	}
	return "", false
}

// command reads what a statement runs, inner commands first.
func (s *scope) command(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case nil:
		return stream{}
	case *syntax.CallExpr:
		return s.call(c, in)
	case *syntax.BinaryCmd:
		left := s.statement(c.X, in)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return s.statement(c.Y, left)
		}
		right := s.statement(c.Y, in)
		return both(left, right)
	case *syntax.Subshell:
		return s.all(c.Stmts, in)
	case *syntax.Block:
		return s.all(c.Stmts, in)
	case *syntax.DeclClause:
		s.assign(c.Args)
		return stream{}
	case *syntax.ForClause:
		s.loop(c)
		return s.all(c.Do, in)
	case *syntax.TimeClause:
		return s.statement(c.Stmt, in)
	}
	return s.rest(c, in)
}

// rest reads what is neither a call nor a plain combination: conditions, loops, functions, in the order of their text.
func (s *scope) rest(c syntax.Command, in stream) stream {
	syntax.Walk(c, func(n syntax.Node) bool {
		if st, ok := n.(*syntax.Stmt); ok {
			s.statement(st, in)
			return false
		}
		return true
	})
	return stream{piped: true}
}

func (s *scope) all(stmts []*syntax.Stmt, in stream) stream {
	var out stream
	for _, st := range stmts {
		o := s.statement(st, in)
		out = both(out, o)
	}
	return out
}

// both is what two commands print one after the other. What is longer than anybody types is not all shown.
func both(a, b stream) stream {
	out := stream{text: a.text + b.text, piped: a.piped || b.piped}
	if len(out.text) > maxFile {
		out = stream{text: out.text[:maxFile], piped: true}
	}
	return out
}

// loop gives the variable of a loop all its values at once.
func (s *scope) loop(c *syntax.ForClause) {
	if it, ok := c.Loop.(*syntax.WordIter); ok && it.Name != nil {
		s.set(it.Name.Value, strings.Join(s.fields(it.Items...), " "))
	}
}

func (s *scope) assign(assigns []*syntax.Assign) {
	for _, a := range assigns {
		switch {
		case a.Name == nil || a.Naked:
		case a.Array != nil:
			var words []*syntax.Word
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					words = append(words, e.Value)
				}
			}
			s.set(a.Name.Value, strings.Join(s.fields(words...), " "))
		case a.Value == nil:
			s.vars[a.Name.Value] = ""
		default:
			value := s.word(a.Value)
			if a.Append {
				value = s.vars[a.Name.Value] + value
			}
			s.set(a.Name.Value, value)
		}
	}
}

func (s *scope) set(name, value string) {
	if len(value) > maxValue {
		s.r.unsure("the variable %s grows longer than %d bytes", name, maxValue)
		value = unknown
	}
	s.vars[name] = value
}

// call notes a simple command, and reads what it makes a shell read.
func (s *scope) call(c *syntax.CallExpr, in stream) stream {
	if len(c.Args) == 0 {
		s.assign(c.Assigns)
		return stream{}
	}
	for _, a := range c.Assigns { // what is set for one command only
		if a.Value != nil {
			s.word(a.Value)
		}
	}
	args := s.fields(c.Args...)
	if len(args) == 0 {
		return stream{}
	}
	return s.run(args, in)
}

// braces and numbers that would make a word grow without bound.
var bigBraces = regexp.MustCompile(`\{[^{}]*\.\.[^{}]*\}|(?:\{[^{}]*,[^{}]*\}.*){4}`)

// fields expands words as a shell does, without touching any file. A word that cannot be expanded is unknown.
func (s *scope) fields(words ...*syntax.Word) (out []string) {
	for _, w := range words {
		var text strings.Builder
		_ = syntax.NewPrinter().Print(&text, w)
		if bigBraces.MatchString(text.String()) {
			s.r.unsure("braces that make many words: %.100q", text.String())
			out = append(out, unknown)
			continue
		}
		got, err := s.expand(w, func() ([]string, error) { return expand.Fields(s.config(), w) })
		if err != nil {
			s.r.unsure("a word that cannot be expanded: %.100q", text.String())
			got = []string{unknown}
		}
		out = append(out, got...)
	}
	return out
}

// word is one word without splitting.
func (s *scope) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	got, err := s.expand(w, func() ([]string, error) {
		one, err := expand.Literal(s.config(), w)
		return []string{one}, err
	})
	if err != nil {
		return unknown
	}
	return got[0]
}

func (s *scope) document(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	got, err := s.expand(w, func() ([]string, error) {
		one, err := expand.Document(s.config(), w)
		return []string{one}, err
	})
	if err != nil {
		return unknown
	}
	return got[0]
}

// expand guards against what the library does not support: it panics then.
func (s *scope) expand(w *syntax.Word, f func() ([]string, error)) (out []string, err error) {
	outer := s.unset
	s.defaults(w)
	defer func() {
		s.unset = outer
		if p := recover(); p != nil {
			err = fmt.Errorf("expanding: %v", p)
		}
	}()
	return f()
}

// defaults notes the variables for which a word has a default: that is what the text shows of them.
func (s *scope) defaults(w *syntax.Word) {
	s.unset = map[string]bool{}
	syntax.Walk(w, func(n syntax.Node) bool {
		if pe, ok := n.(*syntax.ParamExp); ok && pe.Exp != nil && pe.Param != nil {
			s.unset[pe.Param.Value] = true
		}
		return true
	})
}

// config expands from the scope's variables; substitutions of commands are read and their output is unknown, but for echo.
func (s *scope) config() *expand.Config {
	return &expand.Config{
		Env: expand.FuncEnviron(func(name string) string {
			if v, ok := s.vars[name]; ok {
				return v
			}
			switch {
			case name == "IFS":
				return " \t\n"
			case s.unset[name]:
				return ""
			}
			return unknown
		}),
		CmdSubst: func(w io.Writer, cs *syntax.CmdSubst) error {
			out := s.all(cs.Stmts, stream{})
			if out.piped {
				out.text = unknown
			}
			_, err := io.WriteString(w, out.text)
			return err
		},
		ProcSubst: func(ps *syntax.ProcSubst) (string, error) {
			out := s.all(ps.Stmts, stream{})
			name := fmt.Sprintf("/dev/fd/%d", len(s.r.files)+60)
			s.r.write(name, out, false)
			return name, nil
		},
	}
}
