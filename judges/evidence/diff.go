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
	text     string
	files    []*fileDiff
	old, new int // lines that the open hunk still has
	begin    int // of the head or the hunk that is open
}

// splitDiff takes a patch apart. Not ok: it is malformed, or of a kind that is not known.
func splitDiff(text string) (files []*fileDiff, ok bool) {
	r := diffReader{text: text}
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		if !r.line(start, end) {
			return nil, false
		}
		start = end
	}
	r.close(len(text))
	hunks := 0
	for _, f := range r.files {
		f.keep = make([]bool, len(f.hunks))
		hunks += len(f.hunks)
	}
	return r.files, r.old == 0 && r.new == 0 && hunks > 0
}

// close ends the head or the hunk that is open.
func (r *diffReader) close(end int) {
	if len(r.files) == 0 {
		return
	}
	f := r.files[len(r.files)-1]
	if part := r.text[r.begin:end]; len(f.hunks) == 0 {
		f.head = part
	} else {
		f.hunks[len(f.hunks)-1] = part
	}
	r.begin = end
}

// line reads one line.
func (r *diffReader) line(start, end int) bool {
	l := r.text[start:end]
	if r.old > 0 || r.new > 0 {
		return r.inside(l[0])
	}
	var f *fileDiff
	if n := len(r.files); n > 0 {
		f = r.files[n-1]
	}
	switch {
	case strings.HasPrefix(l, "@@@"): // a merge's
		return false
	case f == nil && strings.HasPrefix(l, "@@"):
		return false
	case f == nil, strings.HasPrefix(l, "diff --"),
		len(f.hunks) > 0 && strings.HasPrefix(l, "--- ") && strings.HasPrefix(r.text[end:], "+++ "):
		r.close(start)
		r.files = append(r.files, &fileDiff{})
	case strings.HasPrefix(l, "@@"):
		m := hunkHead.FindStringSubmatch(l)
		if m == nil {
			return false
		}
		r.old, r.new = count(m[1]), count(m[2])
		r.open(f, start)
	case strings.HasPrefix(l, "GIT binary patch"):
		r.open(f, start)
	}
	return true // a line of the head; after a hunk, "\ No newline at end of file" or a mail's signature
}

func (r *diffReader) open(f *fileDiff, start int) {
	r.close(start)
	f.hunks = append(f.hunks, "")
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

// inside reads a line of the open hunk by its sign.
func (r *diffReader) inside(sign byte) bool {
	switch sign {
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
