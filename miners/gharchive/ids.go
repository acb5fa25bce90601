package gharchive

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
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

// key identifies an event: by its id, which is digits in a string or a number, or else by a hash of what it says: 64 bits, so that
// two of a million different events are taken for copies with a chance of 1 in 30 million. Ids never go through a float.
func key(id, doc []byte) uint64 {
	id = bytes.Trim(bytes.TrimSpace(id), `"`)
	if n, err := strconv.ParseUint(string(id), 10, 63); err == nil && (len(id) == 1 || id[0] != '0') {
		return n
	}
	if len(id) == 0 || string(id) == "null" {
		h, _ := fingerprint(doc, blanks(doc, 0))
		return h | 1<<63 // apart from the numbers
	}
	return xxhash.Sum64(id) | 1<<63
}

// fingerprint hashes the value that begins at i, the same for every order of an object's members and for any white space between
// tokens, and gives the place after it. The document is valid, so it is at most maxDepth levels deep.
func fingerprint(b []byte, i int) (h uint64, end int) {
	if i >= len(b) {
		return 0, i
	}
	open := b[i]
	if open != '{' && open != '[' {
		end = raw(b).skip(i)
		return xxhash.Sum64(bytes.TrimRight(b[i:end], " \t\r\n")), end
	}
	h = uint64(open)
	for i++; i < len(b); {
		if i = blanks(b, i); i >= len(b) || b[i] == '}' || b[i] == ']' {
			return mix(h), i + 1
		}
		var name, value uint64
		if open == '{' {
			name, i = fingerprint(b, i)
			i = blanks(b, blanks(b, i)+1)
		}
		value, i = fingerprint(b, i)
		if open == '{' {
			h += mix(mix(name) ^ value) // a sum has no order
		} else {
			h = mix(h ^ value)
		}
		if i = blanks(b, i); i < len(b) && b[i] == ',' {
			i++
		}
	}
	return h, i
}

// mix is the last step of SplitMix64: every bit of the result depends on every bit of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31 + 0x9e3779b97f4a7c15
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

// PackIDs and UnpackIDs keep a sorted list from one run to the next, with a checksum: what is damaged counts as unknown.
func PackIDs(ids []uint64) []byte {
	out := make([]byte, 8, 8+3*len(ids))
	last := uint64(0)
	for _, id := range ids {
		out = binary.AppendUvarint(out, id-last)
		last = id
	}
	binary.LittleEndian.PutUint64(out, xxhash.Sum64(out[8:]))
	return out
}

// UnpackIDs reads what PackIDs wrote.
func UnpackIDs(b []byte) (ids []uint64, ok bool) {
	if len(b) < 8 || binary.LittleEndian.Uint64(b) != xxhash.Sum64(b[8:]) {
		return nil, false
	}
	last := uint64(0)
	for b = b[8:]; len(b) > 0; {
		step, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		last += step
		ids, b = append(ids, last), b[n:]
	}
	return ids, true
}
