package gitrepo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

var hunkHeader = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

// parseHunks reads a patch of git. Lines inside a hunk are told by the lengths in its header, never by how they look: a deleted
// line "-- x" looks like the header of a file. A file is used once its last hunk is read.
func parseHunks(r *bufio.Reader, use func(FileHunks)) error {
	p := hunkParser{r: r, use: use}
	for {
		line, err := p.line()
		if errors.Is(err, io.EOF) {
			p.finish()
			return nil
		}
		if err == nil {
			err = p.header(line)
		}
		if err != nil {
			return fmt.Errorf("parsing a patch: %w", err)
		}
	}
}

type hunkParser struct {
	r    *bufio.Reader
	use  func(FileHunks)
	file FileHunks
}

// line reads up to a newline, which the last line may lack.
func (p *hunkParser) line() ([]byte, error) {
	line, err := p.r.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// header reads a line outside of a hunk.
func (p *hunkParser) header(line []byte) error {
	text := string(line)
	var err error
	switch {
	case strings.HasPrefix(text, "diff --git "):
		p.finish()
	case strings.HasPrefix(text, "--- "):
		p.file.OldPath, err = fileName(text[4:], "a/")
	case strings.HasPrefix(text, "+++ "):
		p.file.Path, err = fileName(text[4:], "b/")
	case strings.HasPrefix(text, "@@ "):
		err = p.hunk(text)
	}
	return err
}

// finish hands over the file that was read.
func (p *hunkParser) finish() {
	if p.file.Path == "" {
		p.file.Path = p.file.OldPath
	}
	if len(p.file.Hunks) > 0 {
		p.use(p.file)
	}
	p.file = FileHunks{}
}

func (p *hunkParser) hunk(text string) error {
	m := hunkHeader.FindStringSubmatch(text)
	if m == nil || p.file.OldPath == "" && p.file.Path == "" {
		return fmt.Errorf("unexpected %.60q", text)
	}
	h := Hunk{Old: lines(m[1], m[2]), New: lines(m[3], m[4])}
	deleted, added := h.Old.Last-h.Old.First+1, h.New.Last-h.New.First+1
	for deleted > 0 || added > 0 {
		line, err := p.line()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		kind := byte(' ')
		if len(line) > 0 {
			kind = line[0]
		}
		switch {
		case kind == '-' && deleted > 0:
			deleted--
		case kind == '+' && added > 0:
			added--
		case kind != '\\':
			return fmt.Errorf("unexpected %.60q in hunk %s", line, text)
		}
	}
	p.file.Hunks = append(p.file.Hunks, h)
	return nil
}

// lines turns git's start and length into a range. Of an empty block, git gives the line above.
func lines(start, length string) Range {
	first, n := atoi(start), 1
	if length != "" {
		n = atoi(length)
	}
	if n == 0 {
		first++
	}
	return Range{First: first, Last: first + n - 1}
}

// fileName reads the name in a "---" or "+++" line: /dev/null is "", a name with blanks has a tab after it, one with
// special characters is quoted as a C string.
func fileName(text, prefix string) (string, error) {
	if text == "/dev/null" {
		return "", nil
	}
	name := strings.TrimSuffix(text, "\t")
	if strings.HasPrefix(name, `"`) {
		var err error
		if name, err = unquote(name); err != nil {
			return "", err
		}
	}
	name, ok := strings.CutPrefix(name, prefix)
	if !ok || name == "" {
		return "", fmt.Errorf("unexpected file name %.60q", text)
	}
	return name, nil
}

// unquote reads a C string as git writes it. Go's own syntax differs: there \377 is a code point.
func unquote(text string) (string, error) {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", fmt.Errorf("unexpected quoting %.60q", text)
	}
	body := text[1 : len(text)-1]
	var out []byte
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out = append(out, body[i])
			continue
		}
		if at := strings.IndexByte(`abtnvfr"\`, byteAt(body, i+1)); at >= 0 {
			out = append(out, "\a\b\t\n\v\f\r\"\\"[at])
			i++
			continue
		}
		n, err := strconv.ParseUint(body[i+1:min(i+4, len(body))], 8, 8)
		if err != nil || i+4 > len(body) {
			return "", fmt.Errorf("unexpected quoting %.60q", text)
		}
		out = append(out, byte(n))
		i += 3
	}
	return string(out), nil
}

func byteAt(text string, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return 0
}
