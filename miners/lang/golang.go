package lang

import (
	"bytes"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// goToken is a token of Go with its text where the kind does not say it all.
type goToken struct {
	tok token.Token
	lit string
}

// scanGo calls visit for each token, comments too, with its offset. It reports whether the file is free of lexical errors.
func scanGo(src []byte, visit func(offset int, t goToken)) bool {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return s.ErrorCount == 0
		}
		visit(file.Offset(pos), goToken{tok, lit})
	}
}

func goComments(src []byte) []span {
	var out []span
	scanGo(src, func(offset int, t goToken) {
		if t.tok == token.COMMENT && !directive(t.lit) {
			out = append(out, span{offset, commentEnd(src, offset)})
		}
	})
	return out
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

// sameGo compares the token streams: comments are left out but for directives, as are commas and semicolons that the
// layout alone decides. Files that use cgo keep their comments, which may be C code.
func sameGo(a, b []byte) (same, known bool) {
	cgo := bytes.Contains(a, []byte(`import "C"`)) || bytes.Contains(b, []byte(`import "C"`))
	ta, okA := goTokens(a, cgo)
	tb, okB := goTokens(b, cgo)
	if !okA || !okB {
		return false, false
	}
	return slices.Equal(ta, tb), true
}

func goTokens(src []byte, comments bool) ([]goToken, bool) {
	var out []goToken
	ok := scanGo(src, func(_ int, t goToken) {
		switch t.tok {
		case token.COMMENT:
			if !comments && !directive(t.lit) {
				return
			}
		case token.SEMICOLON:
			t.lit = ""
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if n := len(out); n > 0 && (out[n-1].tok == token.COMMA || out[n-1].tok == token.SEMICOLON) {
				out = out[:n-1]
			}
		}
		out = append(out, t)
	})
	return out, ok
}
