package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"sluice/prompts"
)

// MaxNotes is the most bytes that notes about cuts add to a slot, over its share of the budget.
const MaxNotes = 1400

const (
	maxNamed = 6  // names or numbers in a note, the others are counted
	maxName  = 80 // bytes of a name in a note
)

// piece is a run of evidence, or a note of ours.
type piece struct {
	text string
	note bool
}

func join(pieces []piece) string {
	var out strings.Builder
	for _, p := range pieces {
		out.WriteString(p.text)
	}
	return out.String()
}

// note is a line of ours inside a fence. Evidence cannot write one: it does not know the mark.
func note(nonce, text string) string { return "[" + nonce + " " + text + "]\n" }

// allot shares the budget out: each slot has its own bytes, and what short slots leave goes to those that need more, in equal
// parts, none more than it needs.
func allot(budget int, slots []slot) {
	spare := budget
	var needy []int
	for i := range slots {
		s := &slots[i]
		s.room = min(s.need(), s.Bytes)
		spare -= s.room
		if s.need() > s.Bytes {
			needy = append(needy, i)
		}
	}
	for len(needy) > 0 && spare >= len(needy) {
		share := spare / len(needy)
		for _, i := range needy {
			more := min(share, slots[i].need()-slots[i].room)
			slots[i].room += more
			spare -= more
		}
		needy = slices.DeleteFunc(needy, func(i int) bool { return slots[i].room >= slots[i].need() })
	}
}

// need is how many bytes the slot takes uncut.
func (s slot) need() int {
	n := 0
	for i, u := range s.units {
		n += len(endLine(u))
		if s.Kind == prompts.List {
			n += len(itemNote(i+1, len(s.units), "")) + nonceSize
		}
	}
	return n
}

const nonceSize = 16

// itemNote stands before each item of a list.
func itemNote(i, n int, nonce string) string { return note(nonce, fmt.Sprintf("item %d of %d", i, n)) }

func endLine(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// render gives what is sent of a slot, and the numbers of the units that are sent whole.
func (s slot) render(nonce string) (pieces []piece, whole []int) {
	if len(s.units) == 0 {
		return []piece{{note(nonce, "nothing: there is no such evidence"), true}}, nil
	}
	if s.Kind == prompts.List {
		return s.list(nonce)
	}
	if s.need() <= s.room {
		for i, u := range s.units {
			pieces = append(pieces, piece{text: endLine(u)})
			whole = append(whole, i)
		}
		return pieces, whole
	}
	var text strings.Builder
	for _, u := range s.units {
		text.WriteString(endLine(u))
	}
	switch s.Kind {
	case prompts.Text:
		return cutText(text.String(), nonce, s.room), nil
	case prompts.Diff:
		return cutDiff(text.String(), nonce, s.room), nil
	}
	return cutCode(text.String(), nonce, s.room), nil
}

// enough reports whether the room that is left is worth filling with a part of something: a quarter of all, or all.
func enough(left, room int) bool { return left > 0 && left >= room/4 }

// list leaves out whole items that do not fit; the first of them is cut in its middle when much room is left.
func (s slot) list(nonce string) (pieces []piece, whole []int) {
	left := s.room
	keep := make([]bool, len(s.units))
	part := -1
	for i, u := range s.units {
		if cost := len(itemNote(i+1, len(s.units), nonce)) + len(endLine(u)); cost <= left {
			keep[i] = true
			left -= cost
		} else if part < 0 {
			part = i
		}
	}
	if part >= 0 {
		left -= len(itemNote(part+1, len(s.units), nonce))
	}
	if !enough(left, s.room) {
		part = -1
	}
	var out []string
	for i, u := range s.units {
		head := piece{itemNote(i+1, len(s.units), nonce), true}
		switch {
		case keep[i]:
			pieces = append(pieces, head, piece{text: endLine(u)})
			whole = append(whole, i)
		case i == part:
			pieces = append(append(pieces, head), middle(endLine(u), nonce, left)...)
		default:
			out = append(out, strconv.Itoa(i+1))
		}
	}
	if len(out) > 0 {
		text := fmt.Sprintf("left out for want of room: %d of %d items: %s", len(out), len(s.units), some(out))
		pieces = append(pieces, piece{note(nonce, text), true})
	}
	return pieces, whole
}

// some names the first few and counts the others.
func some(names []string) string {
	shown := make([]string, 0, maxNamed)
	for _, n := range names[:min(len(names), maxNamed)] {
		shown = append(shown, clip(n, maxName))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// clip shortens a name in a note.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:border(s, n-len("…"))] + "…"
}

// border is the last place at or before n that does not cut a character in two.
func border(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return max(0, min(n, len(s)))
}

// cutText keeps whole paragraphs from the start; the next one is cut in its middle when much room is left.
func cutText(text, nonce string, room int) []piece {
	paragraphs := strings.SplitAfter(text, "\n\n")
	left, n := room, 0
	for n < len(paragraphs) && len(paragraphs[n]) <= left {
		left -= len(paragraphs[n])
		n++
	}
	kept := strings.Join(paragraphs[:n], "")
	pieces := []piece{{text: kept}}
	if n < len(paragraphs) && enough(left, room) {
		pieces = append(pieces, middle(paragraphs[n], nonce, left)...)
		n++
	}
	if n < len(paragraphs) {
		rest := paragraphs[n:]
		text := fmt.Sprintf("left out here, to the end: %d of %d paragraphs, %s bytes", len(rest), len(paragraphs),
			humanize.Comma(int64(len(strings.Join(rest, "")))))
		pieces = append(pieces, lineNote(pieces, nonce, text))
	}
	return pieces
}

// lineNote is a note that begins on a line of its own.
func lineNote(before []piece, nonce, text string) piece {
	start := ""
	if len(before) > 0 {
		if last := before[len(before)-1].text; last != "" && !strings.HasSuffix(last, "\n") {
			start = "\n"
		}
	}
	return piece{start + note(nonce, text), true}
}

// cutCode cuts source or a log in its middle.
func cutCode(text, nonce string, room int) []piece { return middle(text, nonce, room) }

// middle keeps the beginning and the end of a text, at borders of lines where lines are short enough.
func middle(text, nonce string, room int) []piece {
	if len(text) <= room {
		return []piece{{text: text}}
	}
	head := text[:headEnd(text, room/2)]
	tail := text[tailStart(text, len(text)-(room-len(head))):]
	gone := text[len(head) : len(text)-len(tail)]
	lines := strings.Count(gone, "\n")
	if !strings.HasSuffix(gone, "\n") {
		lines++
	}
	pieces := []piece{{text: head}}
	what := fmt.Sprintf("left out here: %s bytes, %s lines or parts of lines", humanize.Comma(int64(len(gone))), humanize.Comma(int64(lines)))
	pieces = append(pieces, lineNote(pieces, nonce, what))
	if tail != "" {
		pieces = append(pieces, piece{text: tail})
	}
	return pieces
}

// headEnd is the end of the last line that ends by n, or the last border of characters when the first line is longer.
func headEnd(text string, n int) int {
	if i := strings.LastIndexByte(text[:n], '\n'); i >= 0 {
		return i + 1
	}
	return border(text, n)
}

// tailStart is the start of the first line from n on, or the first border of characters when the last line is longer.
func tailStart(text string, n int) int {
	if text[n-1] == '\n' {
		return n
	}
	if i := strings.IndexByte(text[n:], '\n'); i >= 0 && n+i+1 < len(text) {
		return n + i + 1
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}
