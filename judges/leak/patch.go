package leak

import (
	"regexp"
	"strconv"
	"strings"
)

// File is what a patch does to one file.
type File struct {
	Path  string // after the change; before it where the file goes
	New   bool   // the patch makes it
	Hunks []Hunk
}

// Hunk is one place of a patch. Added counts the lines of After, from 0, that the patch brings.
type Hunk struct {
	Before, After string // both sides, each line with its end
	Added         map[int]bool
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// ReadPatch reads a unified diff as git writes it, and takes a damaged one for what can be read of it.
func ReadPatch(text string) []File {
	var r patchReader
	for line := range strings.Lines(text) {
		r.line(line)
	}
	r.endHunk()
	return r.files
}

type patchReader struct {
	files         []File
	hunk          *Hunk
	before, after strings.Builder
	lines         int // of the new side of the hunk
	olds, news    int // lines that the hunk still has to come, on each side
}

func (r *patchReader) line(line string) {
	bare := strings.TrimRight(line, "\r\n")
	if r.hunk != nil && (r.olds > 0 || r.news > 0 || line[0] == '\\') {
		r.content(line)
		return
	}
	r.endHunk()
	switch {
	case strings.HasPrefix(line, "diff --git "):
		r.files = append(r.files, File{Path: gitPath(bare)})
	case strings.HasPrefix(line, "--- "):
		if n := len(r.files); n == 0 || len(r.files[n-1].Hunks) > 0 {
			r.files = append(r.files, File{})
		}
		r.side(bare[4:], "a/")
	case strings.HasPrefix(line, "+++ ") && len(r.files) > 0:
		r.side(bare[4:], "b/")
	case strings.HasPrefix(line, "new file mode ") && len(r.files) > 0:
		r.files[len(r.files)-1].New = true
	case len(r.files) > 0:
		if m := hunkHead.FindStringSubmatch(line); m != nil {
			r.hunk, r.olds, r.news = &Hunk{Added: map[int]bool{}}, count(m[1]), count(m[2])
		}
	}
}

// count reads a length of a hunk, which is 1 where none is written.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s) // too large for an int: no lines
	return n
}

// content reads a line of a hunk; what is no such line ends it.
func (r *patchReader) content(line string) {
	switch line[0] {
	case '+':
		r.hunk.Added[r.lines] = true
		r.after.WriteString(line[1:])
		r.lines++
		r.news--
	case '-':
		r.before.WriteString(line[1:])
		r.olds--
	case ' ', '\n', '\r': // editors strip the blank of an empty line
		line = strings.TrimPrefix(line, " ")
		r.before.WriteString(line)
		r.after.WriteString(line)
		r.lines++
		r.olds--
		r.news--
	case '\\': // "No newline at end of file"
	default:
		r.endHunk()
	}
}

func (r *patchReader) endHunk() {
	if r.hunk == nil {
		return
	}
	r.hunk.Before, r.hunk.After = r.before.String(), r.after.String()
	f := &r.files[len(r.files)-1]
	f.Hunks = append(f.Hunks, *r.hunk)
	r.hunk, r.lines, r.olds, r.news = nil, 0, 0, 0
	r.before.Reset()
	r.after.Reset()
}

// side takes the path of one side.
func (r *patchReader) side(name, prefix string) {
	name, _, _ = strings.Cut(name, "\t")
	f := &r.files[len(r.files)-1]
	if name == "/dev/null" {
		f.New = f.New || prefix == "a/"
		return
	}
	f.Path = strings.TrimPrefix(strings.Trim(name, `"`), prefix)
}

// gitPath is the path in a "diff --git" line, which says it twice.
func gitPath(line string) string {
	rest := strings.TrimPrefix(line, "diff --git ")
	if _, b, ok := strings.Cut(rest, " b/"); ok {
		return strings.Trim(b, `"`)
	}
	return rest
}
