package gharchive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
)

// maxIDs bounds how many events of one hour are remembered to find copies: three times what the busiest known hours hold.
const maxIDs = 1 << 20

// idSet remembers which events a file held.
type idSet struct {
	seen map[uint64]struct{}
	full int // events that were not remembered any more
}

// add tells whether the event is new.
func (s *idSet) add(key uint64) bool {
	if _, old := s.seen[key]; old {
		return false
	}
	if len(s.seen) >= maxIDs {
		s.full++
		return true
	}
	s.seen[key] = struct{}{}
	return true
}

// sorted lists what was remembered.
func (s *idSet) sorted() []uint64 {
	out := make([]uint64, 0, len(s.seen))
	for k := range s.seen {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// key identifies an event: by its id, which is digits in a string or a number, or else by the digest of what it says. Ids never go
// through a float: they have up to 20 digits.
func key(id, doc []byte) uint64 {
	id = bytes.Trim(bytes.TrimSpace(id), `"`)
	if n, err := strconv.ParseUint(string(id), 10, 63); err == nil && (len(id) == 1 || id[0] != '0') {
		return n
	}
	if len(id) == 0 || string(id) == "null" {
		if id = doc; len(doc) <= maxCanonical {
			id = canonical(nil, doc, maxSorted)
		}
	}
	sum := sha256.Sum256(id)
	return binary.BigEndian.Uint64(sum[:8]) | 1<<63 // apart from the numbers
}

// maxCanonical and maxSorted bound the work on a hostile event, in bytes and in levels; beyond them copies agree byte for byte.
const (
	maxCanonical = 1 << 20
	maxSorted    = 16
)

// canonical appends a value without white space and with the members of objects in order, so that two copies of an event agree.
func canonical(out []byte, v raw, levels int) []byte {
	v = bytes.TrimSpace(v)
	switch {
	case levels == 0:
	case len(v) > 0 && v[0] == '{':
		return canonicalObject(out, v, levels-1)
	case len(v) > 0 && v[0] == '[':
		out = append(out, '[')
		v.each(func(_ string, el raw) bool {
			out = append(canonical(out, el, levels-1), ',')
			return true
		})
		return append(out, ']')
	}
	return append(out, v...)
}

func canonicalObject(out []byte, v raw, levels int) []byte {
	type member struct {
		key   string
		value raw
	}
	var all []member
	v.each(func(key string, value raw) bool {
		all = append(all, member{key, value})
		return true
	})
	slices.SortStableFunc(all, func(a, b member) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	out = append(out, '{')
	for _, m := range all {
		out = append(strconv.AppendQuote(out, m.key), ':')
		out = append(canonical(out, m.value, levels), ',')
	}
	return append(out, '}')
}

// Shared counts the keys that two sorted lists have in common.
func Shared(a, b []uint64) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}
