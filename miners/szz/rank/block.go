// Package rank names the commits that may have introduced what a fix repairs, the likeliest first. It gathers what speaks for each
// commit of the past (lines that the fix deletes, what they were before, lines around them, the functions and files, words and
// times) and weighs it with a model that was learned from fixes whose origin their authors told.
//
// Of a fix's message it reads the subject alone, without ids, numbers and quotations: what a message tells of the
// answer is never looked at. It asks no model over the network, and of a commit it never says more than how likely it is.
package rank

import (
	"bytes"
	"regexp"
)

// head knows lines that begin a function, a method or a class in the languages that people mine. It is a guess by form: a
// parser for each language would cost more than the guess loses.
var head = regexp.MustCompile(`^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual|inline|extern|pub(?:\([^)]*\))?|unsafe|const)\s+)*` +
	`(?:def|class|func|function\*?|fn|impl|sub|interface|struct|trait|module|namespace|proc|method|test|describe|it)\b`)

// maxBlock bounds how far a block is sought, in lines each way.
const maxBlock = 400

// block finds the lines [from, to) of the function, or else the paragraph of code, that surrounds a line. Lines count from 0.
func block(line func(int) []byte, n, at int) (from, to int) {
	if at >= n {
		at = n - 1
	}
	if at < 0 {
		return 0, 0
	}
	width := indent(line(at))
	from = at
	for i := at; i >= 0 && i > at-maxBlock; i-- {
		l := line(i)
		if blank(l) {
			continue
		}
		w := indent(l)
		if w < width || i == at {
			width = min(width, w)
			from = i
			if head.Match(l) && (i < at || w == 0) {
				break
			}
		}
		if w == 0 && opens(l) {
			from = i
			break
		}
	}
	floor := indent(line(from))
	to = at + 1
	for i := max(at, from+1); i < n && i < at+maxBlock; i++ {
		l := line(i)
		if blank(l) {
			continue
		}
		if indent(l) <= floor && i > at && !closes(l) {
			break
		}
		to = i + 1
		if indent(l) <= floor && closes(l) && i > at {
			break
		}
	}
	return from, to
}

func blank(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 }

func indent(l []byte) int {
	w := 0
	for _, b := range l {
		switch b {
		case ' ':
			w++
		case '\t':
			w += 8
		default:
			return w
		}
	}
	return w
}

// opens tells a line without indentation that may begin a definition: a name, no label, no closing bracket, no directive.
func opens(l []byte) bool {
	c := l[0]
	return (c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80) && !bytes.HasSuffix(bytes.TrimSpace(l), []byte(";"))
}

func closes(l []byte) bool {
	l = bytes.TrimSpace(l)
	return len(l) > 0 && (l[0] == '}' || l[0] == ')' || l[0] == ']' || bytes.HasPrefix(l, []byte("end")) || l[0] == '{')
}
