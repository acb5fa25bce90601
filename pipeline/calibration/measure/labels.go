package measure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sluice/judges"
)

// Label is one row of a file of labelled evidence.
type Label struct {
	Row      int    // in the file, counted from 1; empty lines count
	ID       string // "" in the file: the row's number
	Judge    string
	Evidence judges.Case
	Codes    []string // that are right; the first is the one for measures that know only one
}

// rowBytes bounds a row: a hundred times what a judge is ever shown. As many rows are held as questions may be on their way.
const rowBytes = 8 << 20

// errRow says that a row cannot be read. It costs the row alone.
type errRow struct{ error }

// labels reads rows one by one.
type labels struct {
	in  *bufio.Reader
	row int
	ids map[string]int // the row that has it
}

func newLabels(r io.Reader) *labels {
	return &labels{in: bufio.NewReaderSize(r, 1<<16), ids: map[string]int{}}
}

// next returns the next row. io.EOF ends it; an errRow is about this row alone.
func (l *labels) next() (Label, error) {
	for {
		line, err := l.line()
		if err != nil {
			return Label{Row: l.row}, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out, err := l.parse(line)
			if err != nil {
				return Label{Row: l.row, ID: out.ID, Judge: out.Judge}, errRow{err}
			}
			return out, nil
		}
	}
}

// line reads a line. One that is too long is read over.
func (l *labels) line() ([]byte, error) {
	l.row++
	var out []byte
	for tooLong := false; ; {
		part, err := l.in.ReadSlice('\n')
		switch {
		case len(out)+len(part) > rowBytes:
			tooLong, out = true, nil
		case !tooLong:
			out = append(out, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading row %d: %w", l.row, err)
		}
		switch {
		case tooLong:
			return nil, errRow{fmt.Errorf("it is longer than %d bytes", rowBytes)}
		case err != nil && len(out) == 0:
			return nil, io.EOF
		case l.row == 1:
			return bytes.TrimPrefix(out, []byte("\xef\xbb\xbf")), nil
		}
		return out, nil
	}
}

// texts is a JSON string, or a list of them.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one *string
	if json.Unmarshal(b, &one) == nil && one != nil {
		*t = texts{*one}
		return nil
	}
	var many []*string
	if json.Unmarshal(b, &many) != nil || many == nil || slices.Contains(many, nil) {
		return errors.New("want a text or a list of texts")
	}
	*t = texts{}
	for _, s := range many {
		*t = append(*t, *s)
	}
	return nil
}

func (l *labels) parse(line []byte) (Label, error) {
	var row struct {
		ID       *string          `json:"id"`
		Judge    string           `json:"judge"`
		Evidence map[string]texts `json:"evidence"`
		Label    texts            `json:"label"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&row); err != nil {
		return Label{}, fmt.Errorf("it is no row: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if dec.More() {
		return Label{}, errors.New("something follows the object")
	}
	out := Label{Row: l.row, ID: fmt.Sprint(l.row), Judge: row.Judge, Codes: row.Label, Evidence: judges.Case{}}
	if row.ID != nil {
		out.ID = *row.ID
	}
	if err := l.known(out); err != nil {
		return out, err
	}
	for slot, units := range row.Evidence {
		out.Evidence[slot] = units
	}
	return out, nil
}

// known checks what does not concern the evidence.
func (l *labels) known(row Label) error {
	j, ok := judges.ByName(row.Judge)
	switch {
	case row.ID == "" || len(row.ID) > 200:
		return errors.New(`"id" must have 1 to 200 bytes`)
	case l.ids[row.ID] != 0:
		return fmt.Errorf("the id %q is that of row %d", row.ID, l.ids[row.ID])
	case !ok:
		return fmt.Errorf("no judge is called %q", short(row.Judge))
	case len(row.Codes) == 0:
		return errors.New(`"label" names no code`)
	}
	l.ids[row.ID] = row.Row
	for i, code := range row.Codes {
		if slices.Contains(row.Codes[:min(i, len(j.Codes()))], code) {
			return fmt.Errorf("\"label\" names %q twice", short(code))
		}
		if !slices.ContainsFunc(j.Codes(), func(c judges.Code) bool { return c.Name == code }) {
			return fmt.Errorf("the judge %s has no code %q", row.Judge, short(code))
		}
	}
	return nil
}

func short(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
