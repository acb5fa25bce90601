package links

import (
	"bytes"
	"regexp"
)

// Marks stand for text that is hidden from the search. A mask keeps every byte's place, so that quotations come from the
// original.
const (
	codeMark    = '\x00'
	commentMark = '\x01'
)

// mask hides comments of HTML, fenced code, titles of reverted changes and, when spans is set, code spans.
func mask(text string, spans bool) string {
	out := []byte(text)
	for i, b := range out {
		if b == codeMark || b == commentMark {
			out[i] = '\x02'
		}
	}
	m := masker{text: out}
	m.run(spans)
	for _, at := range revertTitle.FindAllSubmatchIndex(out, -1) {
		m.hide(at[2], at[3], codeMark)
	}
	return string(out)
}

// revertTitle is greedy: a revert of a revert has quotes inside.
var revertTitle = regexp.MustCompile(`(?im)^[ \t>*-]*(?:partial(?:ly)?[ -])?reverts?:?[ \t]+"(.*)"`)

type masker struct {
	text []byte
	runs []ticks // those that are still ahead
}

// ticks is a run of backticks. next is the end of the run that closes a code span opened by this one, 0 without.
type ticks struct{ start, end, next int }

// backticks finds all runs and pairs each with the next one of its length in the same paragraph.
func backticks(text []byte) []ticks {
	var runs []ticks
	var paragraph []int // of each run
	number, blank := 0, true
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '`':
			end := i
			for end < len(text) && text[end] == '`' {
				end++
			}
			runs, paragraph = append(runs, ticks{start: i, end: end}), append(paragraph, number)
			i, blank = end-1, false
		case '\n':
			if blank {
				number++
			}
			blank = true
		case ' ', '\t', '\r':
		default:
			blank = false
		}
	}
	last := make(map[[2]int]int)
	for i := len(runs) - 1; i >= 0; i-- {
		key := [2]int{paragraph[i], runs[i].end - runs[i].start}
		runs[i].next = last[key]
		last[key] = runs[i].end
	}
	return runs
}

// run walks the text once: whatever opens first hides the rest.
func (m *masker) run(spans bool) {
	m.runs = backticks(m.text)
	for i := 0; i < len(m.text); {
		switch {
		case (i == 0 || m.text[i-1] == '\n') && m.fence(i) > 0:
			i = m.hide(i, m.block(i), codeMark)
		case bytes.HasPrefix(m.text[i:], []byte("<!--")):
			i = m.hide(i, m.after(i+4, "-->"), commentMark)
		case m.text[i] == '`':
			i = m.span(i, spans)
		default:
			i++
		}
	}
}

// span passes a run of backticks, or hides the code span that it opens.
func (m *masker) span(i int, hide bool) int {
	for m.runs[0].end <= i {
		m.runs = m.runs[1:]
	}
	r := m.runs[0]
	if hide && r.start == i && r.next > 0 {
		return m.hide(i, r.next, codeMark)
	}
	return r.end
}

// after gives the place after the next s, or the end of the text.
func (m *masker) after(i int, s string) int {
	n := bytes.Index(m.text[i:], []byte(s))
	if n < 0 {
		return len(m.text)
	}
	return i + n + len(s)
}

// fence gives the length of the code fence in the line at i, 0 when there is none.
func (m *masker) fence(i int) int {
	line := m.text[i:m.after(i, "\n")]
	rest := bytes.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || len(rest) < 3 || rest[0] != '`' && rest[0] != '~' {
		return 0
	}
	info := bytes.TrimLeft(rest, string(rest[:1]))
	if n := len(rest) - len(info); n >= 3 && (rest[0] == '~' || bytes.IndexByte(info, '`') < 0) {
		return n
	}
	return 0
}

// block gives the end of the fenced code that opens at i: after the fence that closes it, or at the end of the text.
func (m *masker) block(i int) int {
	n := m.fence(i)
	kind := string(bytes.TrimLeft(m.text[i:], " ")[:1])
	end := m.after(i, "\n")
	for end < len(m.text) {
		line := m.text[end:m.after(end, "\n")]
		end += len(line)
		if line = bytes.TrimSpace(line); len(line) >= n && len(bytes.Trim(line, kind)) == 0 {
			break
		}
	}
	return end
}

// hide overwrites a range but for its line breaks, and gives the end.
func (m *masker) hide(start, end int, mark byte) int {
	for i := start; i < end; i++ {
		if m.text[i] != '\n' {
			m.text[i] = mark
		}
	}
	return end
}
