package lang

import (
	"bytes"
	"go/scanner"
	"go/token"
	"strings"
)

// goToken is a token of Go with its text where the kind does not say it all.
type goToken struct {
	tok token.Token
	lit string
}

// goScanner reads the tokens of a file, comments too.
type goScanner struct {
	scanner.Scanner
	file *token.File
	held []goToken // read ahead
	cgo  bool      // comments count
}

func newGoScanner(src []byte) *goScanner {
	fset := token.NewFileSet()
	s := &goScanner{file: fset.AddFile("", fset.Base(), len(src))}
	s.Init(s.file, src, nil, scanner.ScanComments)
	return s
}

func goComments(src []byte) []span {
	var out []span
	s := newGoScanner(src)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.COMMENT && !directive(lit) {
			offset := s.file.Offset(pos)
			out = append(out, span{offset, commentEnd(src, offset)})
		}
	}
}

// commentEnd finds the end in the source: the scanner's text of a comment lacks the carriage returns.
func commentEnd(src []byte, start int) int {
	end := "\n"
	if bytes.HasPrefix(src[start:], []byte("/*")) {
		end = "*/"
	}
	n := bytes.Index(src[min(start+2, len(src)):], []byte(end))
	switch {
	case n < 0:
		return len(src)
	case end == "\n":
		return start + 2 + n
	default:
		return start + 2 + n + 2
	}
}

// directive knows the comments that the compiler or the build obeys.
func directive(comment string) bool {
	return strings.HasPrefix(comment, "//go:") || strings.HasPrefix(comment, "// +build") || strings.HasPrefix(comment, "//export ") ||
		strings.HasPrefix(comment, "//line ")
}

// sameGo compares the token streams up to the first difference: comments are left out but for directives, as are commas and
// semicolons that the layout alone decides. Files that use cgo keep their comments, which may be C code.
func sameGo(a, b []byte) (same, known bool) {
	sa, sb := newGoScanner(a), newGoScanner(b)
	sa.cgo = bytes.Contains(a, []byte(`import "C"`)) || bytes.Contains(b, []byte(`import "C"`))
	sb.cgo = sa.cgo
	for {
		ta, tb := sa.next(), sb.next()
		switch {
		case ta != tb:
			return false, true
		case ta.tok == token.EOF:
			return sa.ErrorCount+sb.ErrorCount == 0, sa.ErrorCount+sb.ErrorCount == 0
		}
	}
}

// next gives the next token that counts.
func (s *goScanner) next() goToken {
	t := s.read()
	if t.tok != token.COMMA && t.tok != token.SEMICOLON {
		return t
	}
	follower := s.read()
	switch follower.tok {
	case token.RPAREN, token.RBRACE, token.RBRACK:
		return follower
	}
	s.held = append(s.held, follower)
	return t
}

func (s *goScanner) read() goToken {
	if n := len(s.held); n > 0 {
		t := s.held[n-1]
		s.held = s.held[:n-1]
		return t
	}
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.SEMICOLON:
			return goToken{tok: tok}
		case tok != token.COMMENT || s.cgo || directive(lit):
			return goToken{tok, lit}
		}
	}
}
