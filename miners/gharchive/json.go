package gharchive

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// maxDepth is that of encoding/json, which refuses deeper nesting.
const maxDepth = 10000

// span is a part of a document.
type span struct{ from, to int }

func (s span) of(b []byte) []byte { return b[s.from:s.to] }

// scanner walks over one JSON object and accepts what json.Valid accepts, at about the speed at which it can be unpacked. It
// remembers where the members are that every event has.
type scanner struct {
	id, kind, created, repo, old span // where the values are, with their quotes and perhaps white space after them; old is the repository's of 2012

	odd  bool // a letter or digit is written as an escape: bytes cannot tell what the text says
	high bool // there may be bytes that are not ASCII
	nest []bool
	// texts are the values that may be prose: there is a blank, an escape, or a colon that is not that of an address. Where there
	// are very many, crowded is set and they are not all of them.
	texts   []span
	crowded bool
}

// maxTexts bounds what is remembered of a hostile event.
const maxTexts = 1 << 16

// object scans the object at the start of b and gives its length, or -1 when there is no whole one.
func (s *scanner) object(b []byte) int {
	s.id, s.kind, s.created, s.repo, s.old = span{}, span{}, span{}, span{}, span{}
	s.odd, s.high, s.crowded, s.nest, s.texts = false, false, false, s.nest[:0], s.texts[:0]
	if len(b) == 0 || b[0] != '{' {
		return -1
	}
	return s.walk(b)
}

// walk is one loop without recursion: a hostile line must not use up the stack.
func (s *scanner) walk(b []byte) int {
	var field *span // of the top-level value that is being read
	i := 0
	for {
		// A value begins at i.
		if i >= len(b) {
			return -1
		}
		opened := false
		switch c := b[i]; {
		case c == '"':
			i = s.value(b, i+1)
		case c == '{' || c == '[':
			if len(s.nest) == maxDepth {
				return -1
			}
			s.nest = append(s.nest, c == '{')
			i, opened = i+1, true
		default:
			i = scalar(b, i)
		}
		if i < 0 {
			return -1
		}
		// Close what ends here, up to the next member.
		for {
			i = blanks(b, i)
			if i >= len(b) {
				return -1
			}
			in := s.nest[len(s.nest)-1]
			if field != nil && len(s.nest) == 1 && !opened {
				field.to, field = i, nil
			}
			if b[i] == '}' && in || b[i] == ']' && !in {
				s.nest = s.nest[:len(s.nest)-1]
				i, opened = i+1, false
				if len(s.nest) == 0 {
					return i
				}
				continue
			}
			if !opened {
				if b[i] != ',' {
					return -1
				}
				i = blanks(b, i+1)
			}
			if !in {
				break
			}
			var key span
			if key, i = s.key(b, i); i < 0 {
				return -1
			}
			if len(s.nest) == 1 {
				field = s.member(b, key, i)
			}
			break
		}
	}
}

// key scans a name and its colon.
func (s *scanner) key(b []byte, i int) (span, int) {
	if i >= len(b) || b[i] != '"' {
		return span{}, -1
	}
	end, _ := s.text(b, i+1)
	if end < 0 {
		return span{}, -1
	}
	k := span{i + 1, end - 1}
	if i = blanks(b, end); i >= len(b) || b[i] != ':' {
		return span{}, -1
	}
	return k, blanks(b, i+1)
}

// member gives the place to note a top-level value, nil for those that are of no interest.
func (s *scanner) member(b []byte, key span, at int) (f *span) {
	switch string(key.of(b)) {
	case "id":
		f = &s.id
	case "type":
		f = &s.kind
	case "created_at":
		f = &s.created
	case "repo":
		f = &s.repo
	case "repository":
		f = &s.old
	default:
		return nil
	}
	f.from = at
	return f
}

// Eight bytes at a time: the words of Hacker's Delight, chapter 6.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// value scans a string that is a value, and notes it if it may be prose.
func (s *scanner) value(b []byte, i int) int {
	end, blank := s.text(b, i)
	const address = len("https:")
	if end < 0 || !blank && (end-i <= address || b[i] == 'h' && bytes.IndexByte(b[i+address:end], ':') < 0) {
		return end
	}
	if len(s.texts) == maxTexts {
		s.crowded = true
		return end
	}
	s.texts = append(s.texts, span{i, end - 1})
	return end
}

// text scans a string from after its opening quote. It gives the place after the closing one, and whether there may be a blank, an
// escape or the beginning of a tag in it.
func (s *scanner) text(b []byte, i int) (end int, blank bool) {
	var seen, marks uint64
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			seen |= x
			quote, slash, tag := x^('"'*ones), x^('\\'*ones), x^('<'*ones)
			marks |= (x-'!'*ones)&^x | (tag-ones)&^tag
			// The lowest mark is right; those above it may be borrowed.
			if m := ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & highs; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return -1, false
		}
		switch c := b[i]; {
		case c == '"':
			s.high = s.high || seen&highs != 0
			return i + 1, blank || marks&highs != 0
		case c == '\\':
			blank = true
			if i = s.escape(b, i+1); i < 0 {
				return -1, false
			}
		case c < ' ':
			return -1, false
		default: // in the last bytes of b
			blank = blank || c == ' ' || c == '<'
			seen |= uint64(c)
			i++
		}
	}
}

// escape scans what follows a backslash.
func (s *scanner) escape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(b) {
			return -1
		}
		r := 0
		for _, c := range b[i+1 : i+5] {
			if !hexDigit[c] {
				return -1
			}
			r = r<<4 | int(hexValue(c))
		}
		s.odd = s.odd || r < 0x80 && wordByte[r]
		return i + 5
	}
	return -1
}

// scalar scans a number or one of the three words.
func scalar(b []byte, i int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if b[i] == word[0] {
			if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
				return -1
			}
			return i + len(word)
		}
	}
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && '1' <= b[i] && b[i] <= '9':
		i = digits(b, i)
	default:
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = some(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return some(b, i)
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// some wants at least one digit.
func some(b []byte, i int) int {
	if end := digits(b, i); end > i {
		return end
	}
	return -1
}

// Tables of bytes.
var (
	hexDigit = table("0123456789abcdefABCDEF")
	wordByte = table("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
)

func table(set string) (t [256]bool) {
	for _, c := range []byte(set) {
		t[c] = true
	}
	return t
}

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
