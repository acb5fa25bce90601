package links

import (
	"strings"
	"unicode/utf8"
)

// line gives the borders of the line that holds i.
func (p prose) line(i int) (from, to int) {
	from = strings.LastIndexByte(p.text[max(0, i-2*window):i], '\n') + 1 + max(0, i-2*window)
	to = min(len(p.text), i+2*window)
	if n := strings.IndexByte(p.text[i:to], '\n'); n >= 0 {
		to = i + n
	}
	return p.runes(from, to)
}

// sentence gives the borders of the sentence around a range, at most window bytes on either side.
func (p prose) sentence(start, end int) (from, to int) {
	from = max(0, start-window)
	for i := start - 1; i >= from; i-- {
		if p.joined[i] == '\n' || i+1 < start && endsSentence(p.joined, i) {
			from = i + 1
			break
		}
	}
	to = min(len(p.joined), end+window)
	for i := end; i < to; i++ {
		if p.joined[i] == '\n' {
			to = i
		} else if endsSentence(p.joined, i) {
			to = i + 1
		}
	}
	return p.runes(from, to)
}

// endsSentence tells whether the byte at i is the last mark of a sentence, which white space follows.
func endsSentence(s string, i int) bool {
	return strings.IndexByte(".!?", s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n') && !strings.HasSuffix(s[:i], "e.g") && !strings.HasSuffix(s[:i], "i.e")
}

// runes moves borders that are inside of a character outwards from it.
func (p prose) runes(from, to int) (int, int) {
	for n := 0; from > 0 && n < utf8.UTFMax && !utf8.RuneStart(p.text[from]); n++ {
		from++
		if from >= to {
			return to, to
		}
	}
	for n := 0; to < len(p.text) && to > from && n < utf8.UTFMax && !utf8.RuneStart(p.text[to]); n++ {
		to--
	}
	return from, to
}
