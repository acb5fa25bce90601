package evidence

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// fileDiff is one file of a patch. Its head and hunks, put together, are the text of the patch byte for byte; a parser that
// gives structures, such as go-gitdiff, would not give that back.
type fileDiff struct {
	head  string
	hunks []string

	named bool // head is kept
	keep  []bool
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// diffReader takes a patch apart line by line.
type diffReader struct {
	files    []*fileDiff
	old, new int // lines that the open hunk still has
}

// splitDiff takes a patch apart. Not ok: it is malformed, or of a kind that is not known.
func splitDiff(text string) (files []*fileDiff, ok bool) {
	var r diffReader
	for start := 0; start < len(text); {
		end := start + len(endOfLine(text[start:]))
		if !r.line(text[start:end], text[end:]) {
			return nil, false
		}
		start = end
	}
	hunks := 0
	for _, f := range r.files {
		f.keep = make([]bool, len(f.hunks))
		hunks += len(f.hunks)
	}
	return r.files, r.old == 0 && r.new == 0 && hunks > 0
}

func endOfLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// line reads one line; rest is what follows it.
func (r *diffReader) line(l, rest string) bool {
	if r.old > 0 || r.new > 0 {
		return r.inside(l)
	}
	var f *fileDiff
	if n := len(r.files); n > 0 {
		f = r.files[n-1]
	}
	begun := f != nil && len(f.hunks) > 0
	switch {
	case strings.HasPrefix(l, "@@@"): // a merge's
		return false
	case strings.HasPrefix(l, "diff --"), f == nil, begun && strings.HasPrefix(l, "--- ") && strings.HasPrefix(rest, "+++ "):
		r.files = append(r.files, &fileDiff{head: l})
		return !strings.HasPrefix(l, "@@")
	case strings.HasPrefix(l, "@@"):
		return r.open(f, l)
	case strings.HasPrefix(l, "GIT binary patch"):
		f.hunks = append(f.hunks, l)
	case begun: // "\ No newline at end of file", a mail's signature
		f.hunks[len(f.hunks)-1] += l
	default:
		f.head += l
	}
	return true
}

func (r *diffReader) open(f *fileDiff, l string) bool {
	m := hunkHead.FindStringSubmatch(l)
	if m == nil {
		return false
	}
	r.old, r.new = count(m[1]), count(m[2])
	f.hunks = append(f.hunks, l)
	return true
}

// count reads a hunk's number of lines; none means one. What is too large a number ends as a hunk that is too short.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30
	}
	return n
}

// inside reads a line of the open hunk.
func (r *diffReader) inside(l string) bool {
	switch l[0] {
	case ' ', '\n': // some mailers take the blank off an empty line
		r.old--
		r.new--
	case '-':
		r.old--
	case '+':
		r.new--
	case '\\':
	default:
		return false
	}
	f := r.files[len(r.files)-1]
	f.hunks[len(f.hunks)-1] += l
	return r.old >= 0 && r.new >= 0
}

// cutDiff leaves out whole hunks. Each file gets its first hunk before any gets its second, so that much of the patch's breadth
// is left; the first hunk that is left out is cut in its middle when much room is left.
func cutDiff(text, nonce string, room int) []piece {
	files, ok := splitDiff(text)
	if !ok {
		return cutCode(text, nonce, room)
	}
	left := chooseHunks(files, room)
	for _, f := range files {
		if !f.named && len(f.head) <= left {
			f.named = true
			left -= len(f.head)
		}
	}
	partFile, partHunk := firstLeftOut(files)
	if partFile != nil && !partFile.named {
		left -= len(partFile.head)
	}
	if partFile == nil || !enough(left, room) {
		partFile = nil
	}
	var pieces []piece
	for _, f := range files {
		if f == partFile {
			f.named = true
		}
		if f.named {
			pieces = append(pieces, piece{text: f.head})
		}
		for i, h := range f.hunks {
			switch {
			case f.keep[i]:
				pieces = append(pieces, piece{text: h})
			case f == partFile && i == partHunk:
				pieces = append(pieces, middle(h, nonce, left)...)
				f.keep[i] = true // it counts as sent: its own note says what is missing
			}
		}
	}
	if what := leftOut(files); what != "" {
		pieces = append(pieces, lineNote(pieces, nonce, what))
	}
	return pieces
}

// chooseHunks marks what is kept and returns the room that is left.
func chooseHunks(files []*fileDiff, room int) int {
	for round, active := 0, files; len(active) > 0; round++ {
		var more []*fileDiff
		for _, f := range active {
			if round >= len(f.hunks) {
				continue
			}
			more = append(more, f)
			cost := len(f.hunks[round])
			if !f.named {
				cost += len(f.head)
			}
			if cost <= room {
				f.named, f.keep[round] = true, true
				room -= cost
			}
		}
		active = more
	}
	return room
}

// firstLeftOut finds the first hunk that is not kept.
func firstLeftOut(files []*fileDiff) (*fileDiff, int) {
	for _, f := range files {
		for i, kept := range f.keep {
			if !kept {
				return f, i
			}
		}
	}
	return nil, 0
}

// leftOut says what is missing: how many hunks of which files, which files altogether.
func leftOut(files []*fileDiff) string {
	var hunks, whole []string
	gone, all := 0, 0
	for _, f := range files {
		missing := 0
		for _, kept := range f.keep {
			if !kept {
				missing++
			}
		}
		all += len(f.keep)
		gone += missing
		switch {
		case !f.named:
			whole = append(whole, clip(f.name(), maxName))
		case missing > 0:
			hunks = append(hunks, fmt.Sprintf("%d of %s", missing, clip(f.name(), maxName-12)))
		}
	}
	var parts []string
	if gone > 0 {
		text := fmt.Sprintf("%d of %d hunks", gone, all)
		if len(hunks) > 0 {
			text += " (" + some(hunks) + ")"
		}
		parts = append(parts, text)
	}
	if len(whole) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d files with all they have (%s)", len(whole), len(files), some(whole)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "left out for want of room: " + strings.Join(parts, "; ")
}

// name is how the patch calls the file.
func (f *fileDiff) name() string {
	name := ""
	for l := range strings.Lines(f.head) {
		l = strings.TrimRight(l, "\r\n")
		switch {
		case strings.HasPrefix(l, "diff --git "):
			_, name, _ = strings.Cut(l, " b/")
		case strings.HasPrefix(l, "+++ ") && l != "+++ /dev/null", strings.HasPrefix(l, "--- ") && l != "--- /dev/null":
			name = strings.TrimPrefix(strings.TrimPrefix(l[4:], "a/"), "b/")
		}
	}
	if name == "" {
		return "text before the patch"
	}
	return name
}
