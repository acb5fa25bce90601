package pairlist

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// columns are the names of what is read, without case and marks; the first names are this program's own. Truth goes before
// predictions, which some oracles have in the same row.
var columns = map[string][]string{
	"repo": {"repo", "reponame", "repository", "fullname", "ownerrepo", "project", "projectname", "repourl", "repositoryurl", "repositorylink"},
	"fix": {"fix", "fixsha", "fixcommit", "fixcommithash", "fixcommitsha", "fixhash", "fixingcommit", "fixingcommithash", "bugfixcommit",
		"bugfixcommithash", "bugfixingcommit", "fixingsha", "bfc", "fixpr"},
	"intro": {"intro", "introsha", "introcommit", "introcommithash", "introducingcommit", "introducingsha", "bugcommithash", "bugcommit",
		"bugintroducingcommit", "bugintroducingcommithash", "bugintroducingchangecommit", "buginducingcommit", "induce", "inducing",
		"inducingcommit", "inducingcommithash", "bic", "introducing", "introducer", "intropr"},
	"issue": {"issue", "issuenumber"},
	"id":    {"id", "bugid", "cve", "cveid", "advisory"},
	"how":   {"how", "method", "cue", "source"},
}

// column is what a name in a header or a row stands for; "" for nothing.
func column(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	for key, names := range columns {
		if slices.Contains(names, name) {
			return key
		}
	}
	return ""
}

// sortedNames are the names of a row's fields, those first that count before others of the same meaning.
func sortedNames(fields map[string]json.RawMessage) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	rank := func(name string) int {
		plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
		return slices.Index(columns[column(name)], plain)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// csv reads a table with a header; commas, semicolons and tabs part its fields.
func (r Reader) csv(b *bufio.Reader) error {
	head, _ := b.Peek(4096)
	line, _, _ := strings.Cut(string(head), "\n")
	table := &records{in: b, comma: separator(line)}
	header, _, err := table.next()
	if err != nil {
		return fmt.Errorf("%w: line 1: %w: %s", ErrSchema, err, Schema)
	}
	at := map[string]int{}
	for i, name := range header {
		key := column(name)
		if old, twice := at[key]; key != "" && (!twice || better(key, name, header[old])) {
			at[key] = i
		}
	}
	if _, ok := at["repo"]; !ok && r.Repo == "" {
		return fmt.Errorf("%w: line 1: no column for the repository (name it with --repo): %s", ErrSchema, Schema)
	}
	for _, key := range []string{"fix", "intro"} {
		if _, ok := at[key]; !ok {
			return fmt.Errorf("%w: line 1: no column %s in %q: %s", ErrSchema, key, short(line), Schema)
		}
	}
	return r.rows(table, header, at)
}

// better tells whether a name stands before another of the same meaning.
func better(key, name, other string) bool {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	}
	return slices.Index(columns[key], plain(name)) < slices.Index(columns[key], plain(other))
}

// records reads a table record by record. A quote that nobody closed spoils its own line and not the rest of the file.
type records struct {
	in    *bufio.Reader
	comma rune
	line  int      // of what was read last
	ahead []string // lines that were read and are not used
	end   bool
}

// maxRecordLines is over how many lines a cell may go.
const maxRecordLines = 100

func (t *records) next() (record []string, line int, err error) {
	var text strings.Builder
	var taken []string
	for len(taken) < maxRecordLines {
		more, err := t.take()
		if errors.Is(err, io.EOF) && len(taken) > 0 {
			break
		}
		if err != nil {
			return nil, t.line, err
		}
		if len(taken) == 0 && strings.TrimSpace(more) == "" {
			continue
		}
		taken = append(taken, more)
		text.WriteString(more + "\n")
		if strings.Count(text.String(), `"`)%2 == 0 {
			if record, err := t.parse(text.String()); err == nil {
				return record, t.line - len(taken) + 1, nil
			}
			break
		}
	}
	t.ahead = append(taken[1:len(taken):len(taken)], t.ahead...)
	t.line -= len(taken) - 1
	return nil, t.line, &csv.ParseError{StartLine: t.line, Err: csv.ErrQuote}
}

func (t *records) parse(text string) ([]string, error) {
	table := csv.NewReader(strings.NewReader(text))
	table.Comma, table.FieldsPerRecord, table.TrimLeadingSpace = t.comma, -1, true
	return table.Read()
}

// take reads a line.
func (t *records) take() (string, error) {
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		t.line++
		return line, nil
	}
	if t.end {
		return "", io.EOF
	}
	line, cut, err := readLine(t.in, maxRow)
	t.end = errors.Is(err, io.EOF)
	switch {
	case err != nil && !t.end:
		return "", err
	case t.end && len(line) == 0:
		return "", io.EOF
	case cut:
		line = nil
	}
	t.line++
	return strings.TrimSuffix(string(line), "\r"), nil
}

func (r Reader) rows(table *records, header []string, at map[string]int) error {
	for {
		record, n, err := table.next()
		var syntax *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && !errors.As(err, &syntax):
			return nil
		case errors.As(err, &syntax):
			r.Bad(Problem{n, NotCSV, syntax.Err.Error()})
			continue
		case err != nil:
			return err
		}
		cells, row := map[string][]string{}, map[string]string{}
		for key, i := range at {
			if i < len(record) {
				cells[key] = parts(key, record[i])
			}
		}
		for i, value := range record {
			if i < len(header) {
				row[header[i]] = value
			}
		}
		pairs := r.pairs(n, cells)
		if pairs == nil {
			continue
		}
		raw, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.Use(Row{Line: n, Raw: raw, Pairs: pairs}); err != nil {
			return err
		}
	}
}

// parts are the values of a cell: several commits may have introduced a defect.
func parts(key, cell string) []string {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return nil
	}
	if key != "intro" {
		return []string{cell}
	}
	return strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" ,;|[]'\"", r) })
}

// separator is the mark that parts a header most.
func separator(line string) rune {
	best, most := ',', 0
	for _, mark := range ",;\t" {
		if n := strings.Count(line, string(mark)); n > most {
			best, most = mark, n
		}
	}
	return best
}
