package lang

import (
	"bytes"
)

// maxSource is the size in bytes up to which a file is parsed. Larger ones are tables or generated, and a parse would cost more
// than it tells.
const maxSource = 2 << 20

// span is the bytes from start up to, not including, end.
type span struct{ start, end int }

// CodeLines tells for each line of a file whether it holds code: anything but white space and comments. Line n is at
// index n-1, and lines end at "\n" as they do for git. A string that looks like a comment is code, and so are a
// documentation string of Python and a directive such as //go:embed. ok is false where the language is unknown or the file is
// too large to parse: then only the blank lines are known.
func CodeLines(name string, src []byte) (code []bool, ok bool) {
	comments, ok := commentSpans(Language(name), src)
	return markLines(src, comments), ok
}

func commentSpans(language string, src []byte) ([]span, bool) {
	if len(src) > maxSource || bytes.IndexByte(src, 0) >= 0 {
		return nil, false
	}
	if language == "Go" {
		return goComments(src), true
	}
	if comments, ok := quickComments(language, src); ok {
		return comments, true
	}
	g, ok := grammars[language]
	if !ok {
		return nil, false
	}
	return g.comments(src)
}

// markLines finds the lines that hold anything but white space outside of the comments, which are in order and apart.
func markLines(src []byte, comments []span) []bool {
	var lines []bool
	has := false
	for i := 0; i < len(src); i++ {
		if len(comments) > 0 && i >= comments[0].start {
			if i >= comments[0].end {
				comments = comments[1:]
				i--
				continue
			}
			if src[i] != '\n' {
				continue
			}
		}
		switch src[i] {
		case '\n':
			lines = append(lines, has)
			has = false
		case ' ', '\t', '\r', '\v', '\f':
		default:
			has = true
		}
	}
	if len(src) > 0 && src[len(src)-1] != '\n' {
		lines = append(lines, has)
	}
	return lines
}
