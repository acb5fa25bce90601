package gharchive

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// raw is one JSON value that the scanner has accepted: it is valid, so looking into it needs no errors. Most of an event is never
// looked at, which is why it is not decoded as a whole.
type raw []byte

// skip gives the end of the value that begins at i.
func (r raw) skip(i int) int {
	if i < len(r) && r[i] == '"' {
		return closing(r, i+1) + 1
	}
	for depth := 0; i < len(r); i++ {
		switch r[i] {
		case '"':
			i = closing(r, i+1)
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(r)
}

// each calls f for every member of an object, or element of an array (with no key), until it returns false. The key is as it is
// written: no member that is of interest is written with escapes.
func (r raw) each(f func(key []byte, value raw) bool) {
	if len(r) == 0 || r[0] != '{' && r[0] != '[' {
		return
	}
	for i := 1; i < len(r); {
		if i = blanks(r, i); i >= len(r) || r[i] == '}' || r[i] == ']' {
			return
		}
		var key []byte
		if r[0] == '{' {
			end := r.skip(i)
			key = r[i+1 : max(i+1, end-1)]
			i = blanks(r, end)
			i = blanks(r, i+1) // the colon
		}
		end := max(i, r.skip(i))
		value := r[min(i, len(r)):min(end, len(r))]
		for len(value) > 0 && value[len(value)-1] <= ' ' {
			value = value[:len(value)-1]
		}
		if !f(key, value) {
			return
		}
		if i = blanks(r, end); i < len(r) && r[i] == ',' {
			i++
		}
	}
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// get follows names into objects; what is not there is nil. Of members with the same name the last counts, as in encoding/json.
func (r raw) get(path ...string) raw {
	for _, name := range path {
		var found raw
		r.each(func(key []byte, value raw) bool {
			if string(key) == name {
				found = value
			}
			return true
		})
		r = found
	}
	return r
}

// fields gives several members of an object in one pass; what is not there is nil.
func (r raw) fields(names ...string) []raw {
	out := make([]raw, len(names))
	r.each(func(key []byte, value raw) bool {
		for i, name := range names {
			if string(key) == name {
				out[i] = value
			}
		}
		return true
	})
	return out
}

// elements lists an array.
func (r raw) elements() (out []raw) {
	if len(r) > 0 && r[0] == '[' {
		r.each(func(_ []byte, value raw) bool { out = append(out, value); return true })
	}
	return out
}

// text is the value of a string, "" for anything else. Bytes that are no UTF-8 become U+FFFD.
func (r raw) text() string {
	if len(r) < 2 || r[0] != '"' {
		return ""
	}
	if bytes.IndexByte(r, '\\') < 0 && utf8.Valid(r) {
		return string(r[1 : len(r)-1])
	}
	var s string
	if json.Unmarshal(r, &s) != nil {
		return ""
	}
	return s
}

// number is an integer, 0 for anything else. It never goes through a float: ids have up to 20 digits.
func (r raw) number() int64 {
	n, err := strconv.ParseInt(string(r), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// digits is an id, which is written as a number or as a string.
func (r raw) digits() string {
	if s := r.text(); s != "" {
		return s
	}
	if len(r) > 0 && (r[0] == '-' || '0' <= r[0] && r[0] <= '9') {
		return string(r)
	}
	return ""
}

// truth is true, false or unknown.
func (r raw) truth() *bool {
	switch string(r) {
	case "true":
		return ptr(true)
	case "false":
		return ptr(false)
	}
	return nil
}

func (r raw) isObject() bool { return len(r) > 0 && r[0] == '{' }

func ptr[T any](v T) *T { return &v }
