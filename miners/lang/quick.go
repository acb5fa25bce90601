package lang

import "bytes"

// quickComments finds comments without a parser, in the languages whose strings and comments are simple enough: it takes a
// twentieth of the time. ok is false where something in the file asks for the parser.
func quickComments(language string, src []byte) (comments []span, ok bool) {
	switch language {
	case "C", "C++", "Java":
		// Raw strings and text blocks have rules of their own.
		if bytes.Contains(src, []byte(`R"`)) || bytes.Contains(src, []byte(`"""`)) {
			return nil, false
		}
		return cComments(src)
	case "Python":
		return pythonComments(src)
	}
	return nil, false
}

// cComments reads // and /* */ outside of strings. A string ends with its line unless the line goes on after a backslash.
func cComments(src []byte) (out []span, ok bool) {
	for i := 0; i < len(src); i++ {
		switch b := src[i]; {
		case b == '"' || b == '\'':
			if b == '\'' && i > 0 && isDigit(src[i-1]) {
				continue // 1'000'000
			}
			i = stringEnd(src, i+1, b)
		case b == '/' && i+1 < len(src) && src[i+1] == '/':
			end := i
			for end < len(src) && (src[end] != '\n' || bytes.HasSuffix(bytes.TrimSuffix(src[i:end], []byte("\r")), []byte(`\`))) {
				end++
			}
			out = append(out, span{i, end})
			i = end - 1
		case b == '/' && i+1 < len(src) && src[i+1] == '*':
			n := bytes.Index(src[i+2:], []byte("*/"))
			if n < 0 {
				return nil, false
			}
			out = append(out, span{i, i + n + 4})
			i += n + 3
		}
	}
	return out, true
}

func isDigit(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

// stringEnd finds the closing quote of a string that must end with its line; where there is none, the end of the line.
func stringEnd(src []byte, i int, quote byte) int {
	for ; i < len(src); i++ {
		switch src[i] {
		case '\\':
			if i++; i+1 < len(src) && src[i] == '\r' && src[i+1] == '\n' {
				i++
			}
		case quote, '\n':
			return i
		}
	}
	return i
}

// pythonComments reads # outside of strings, with one or three quotes.
func pythonComments(src []byte) (out []span, ok bool) {
	for i := 0; i < len(src); i++ {
		switch b := src[i]; b {
		case '#':
			end := bytes.IndexByte(src[i:], '\n')
			if end < 0 {
				end = len(src) - i
			}
			out = append(out, span{i, i + end})
			i += end - 1
		case '"', '\'':
			if i+2 < len(src) && src[i+1] == b && src[i+2] == b {
				if i = longEnd(src, i+3, b); i < 0 {
					return nil, false
				}
				continue
			}
			if i = stringEnd(src, i+1, b); i < len(src) && src[i] == '\n' {
				return nil, false // no string ends like this: let the parser see
			}
		}
	}
	return out, true
}

// longEnd finds the last of three closing quotes; -1 where they are missing.
func longEnd(src []byte, i int, quote byte) int {
	for ; i+2 < len(src); i++ {
		if src[i] == '\\' {
			i++
		} else if src[i] == quote && src[i+1] == quote && src[i+2] == quote {
			return i + 2
		}
	}
	return -1
}
