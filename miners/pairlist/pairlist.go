// Package pairlist reads lists that people have already: pairs of a fix and what introduced its defect, as CSV or JSON, and rows of
// the SWE-bench family, each a finished instance.
//
// A row that cannot be used is reported with its line and the rest goes on. Nothing is looked up, and rows of instances are kept
// as they are given.
package pairlist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"sluice/miners/links"
)

// Why a row was not used, or not in whole.
const (
	NotJSON        = "not-json"
	NotCSV         = "not-csv"
	NoRepository   = "no-repository"
	NoFix          = "no-fix"
	NoIntro        = "no-intro"
	BadID          = "not-a-commit"
	Same           = "fix-is-intro"
	UnknownRow     = "unknown-fields"
	MalformedTests = "malformed-tests" // of an instance, which is kept
	TooLong        = "too-long"
)

// Schema is what a list must look like, for messages.
const Schema = `want CSV with a header that has repo, fix and intro, or JSON rows {"repo", "fix_sha", "intro_sha"}, or rows of the SWE-bench family`

// ErrSchema says that a file is no such list.
var ErrSchema = errors.New("it is no list of pairs or instances")

// maxRow is the longest row that is read, in bytes: patches of instances are long.
const maxRow = 64 << 20

// Ref names one side of a pair.
type Ref struct {
	SHA    string
	Number int // of a request
}

// Pair is one pair of a row; a row with several introducing commits gives several.
type Pair struct {
	Repo       string // owner/name
	Fix, Intro Ref
	Issue      int
	ID         string
	How        string // the row's own word for how the pair is known
}

// Row is what one row gives: pairs or an instance.
type Row struct {
	Line     int    // from 1; of a JSON document, the element's number
	Raw      []byte // as given; of a JSON document compacted to one line
	Pairs    []Pair
	Instance *Instance
}

// Problem is a row that was not used, or not in whole.
type Problem struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Value  string `json:"value,omitempty"`
}

// Reader says how rows are read and who takes them.
type Reader struct {
	Repo string // of rows that name none
	Use  func(Row) error
	Bad  func(Problem)
}

// Read reads a list. Errors: of reading, of Use, and ErrSchema when the whole file is something else.
func (r Reader) Read(in io.Reader) error {
	b := bufio.NewReaderSize(in, 1<<16)
	if head, _ := b.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = b.Discard(3)
	}
	first, err := firstByte(b)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is empty: %s", ErrSchema, Schema)
	}
	if err != nil {
		return err
	}
	switch first {
	case '[':
		return r.elements(b)
	case '{':
		return r.lines(b)
	}
	return r.csv(b)
}

// firstByte skips blanks.
func firstByte(b *bufio.Reader) (byte, error) {
	for {
		c, err := b.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c, b.UnreadByte()
		}
	}
}

// elements reads a list, or documents one after the other. After a fault of syntax nothing more can be read.
func (r Reader) elements(in io.Reader) error {
	n, err := Elements(in, maxRow, func(n int, raw json.RawMessage) error { return r.object(n, raw) })
	switch {
	case errors.Is(err, ErrNotJSON):
		r.Bad(Problem{n, NotJSON, short(err.Error())})
		return nil
	case errors.Is(err, ErrTooLong):
		r.Bad(Problem{n, TooLong, ""})
		return nil
	}
	return err
}

// lines reads JSON lines; when the first line is not a whole object, the file is read as documents one after the other.
func (r Reader) lines(b *bufio.Reader) error {
	first, cut, err := readLine(b, maxRow)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	rest := io.MultiReader(bytes.NewReader(first), strings.NewReader("\n"), b)
	if err == nil && !cut && !json.Valid(first) {
		return r.elements(rest)
	}
	if cut {
		rest = io.MultiReader(strings.NewReader("\n"), b)
		r.Bad(Problem{1, TooLong, ""})
	}
	return Lines(rest, maxRow, func(n int, line []byte, cut bool) error {
		switch {
		case cut:
			r.Bad(Problem{n, TooLong, ""})
			return nil
		case !json.Valid(line):
			r.Bad(Problem{n, NotJSON, short(string(line))})
			return nil
		}
		return r.object(n, line)
	})
}

// object reads one row of JSON.
func (r Reader) object(n int, raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		r.Bad(Problem{n, UnknownRow, short(string(raw))})
		return nil
	}
	row := Row{Line: n}
	if in, problems := instance(fields); in != nil {
		for _, p := range problems {
			r.Bad(Problem{n, p, in.ID})
		}
		row.Instance = in
	} else {
		cells := map[string][]string{}
		for _, name := range sortedNames(fields) {
			if key := column(name); key != "" && len(cells[key]) == 0 {
				cells[key] = values(fields[name])
			}
		}
		if row.Pairs = r.pairs(n, cells); row.Pairs == nil {
			return nil
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return fmt.Errorf("row %d: %w", n, err)
	}
	row.Raw = compact.Bytes()
	return r.Use(row)
}

// values are the texts of a field: of a list all of them.
func values(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []string
	for _, v := range list {
		var s string
		var n json.Number
		switch {
		case json.Unmarshal(v, &s) == nil:
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		case json.Unmarshal(v, &n) == nil && n != "":
			out = append(out, n.String())
		}
	}
	return out
}

// pairs makes the pairs of a row; nil when it gives none, and why is told.
func (r Reader) pairs(n int, cells map[string][]string) []Pair {
	p := Pair{Repo: r.Repo}
	if len(cells["repo"]) > 0 {
		p.Repo = repoName(cells["repo"][0])
	}
	fixes, intros := cells["fix"], cells["intro"]
	switch {
	case len(cells) == 0:
		r.Bad(Problem{n, UnknownRow, ""})
		return nil
	case p.Repo == "":
		r.Bad(Problem{n, NoRepository, strings.Join(cells["repo"], " ")})
		return nil
	case len(fixes) == 0:
		r.Bad(Problem{n, NoFix, ""})
		return nil
	case len(intros) == 0:
		r.Bad(Problem{n, NoIntro, fixes[0]})
		return nil
	}
	var ok bool
	if p.Fix, ok = readRef(fixes[0]); !ok {
		r.Bad(Problem{n, BadID, short(fixes[0])})
		return nil
	}
	if v := cells["issue"]; len(v) > 0 {
		p.Issue, _ = strconv.Atoi(strings.TrimPrefix(v[0], "#"))
		p.Issue = max(p.Issue, 0)
	}
	if v := cells["id"]; len(v) > 0 {
		p.ID = short(v[0])
	}
	if v := cells["how"]; len(v) > 0 {
		p.How = short(v[0])
	}
	return r.withIntros(n, p, intros)
}

func (r Reader) withIntros(n int, p Pair, intros []string) []Pair {
	var out []Pair
	for _, text := range intros {
		q := p
		ok := false
		switch q.Intro, ok = readRef(text); {
		case !ok:
			r.Bad(Problem{n, BadID, short(text)})
		case q.Intro == q.Fix:
			r.Bad(Problem{n, Same, short(text)})
		default:
			out = append(out, q)
		}
	}
	return out
}

var (
	commitID   = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	requestID  = regexp.MustCompile(`^(?:#|PR[ -]?#?|!)(\d{1,9})$`)
	commitPage = regexp.MustCompile(`^https?://\S+/commits?/([0-9a-fA-F]{7,64})\b`)
	requestURL = regexp.MustCompile(`^https?://\S+/(?:pull|merge_requests)/(\d{1,9})\b`)
)

// readRef reads a commit id, the address of a commit, or a request's number written as one.
func readRef(s string) (Ref, bool) {
	if m := commitPage.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	if m := requestURL.FindStringSubmatch(s); m != nil {
		s = "#" + m[1]
	}
	if id := strings.ToLower(s); commitID.MatchString(id) {
		return Ref{SHA: id}, true
	}
	if m := requestID.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 32)
		return Ref{Number: int(n)}, err == nil && n > 0
	}
	return Ref{}, false
}

var ownerName = regexp.MustCompile(`^[\w.+-]+(?:/[\w.+-]+)*$`)

// repoName is owner/name of a name or an address; "" of what is neither.
func repoName(s string) string {
	if r := links.ParseRepo(s); r.Owner != "" && r.Name != "" {
		s = r.Owner + "/" + r.Name
		if i := strings.LastIndex(r.Owner, "/"); i >= 0 && strings.Contains(s, "://") {
			s = r.Owner[i+1:] + "/" + r.Name
		}
	}
	if !ownerName.MatchString(s) || strings.Contains(s, "..") {
		return ""
	}
	return s
}

// short cuts what goes into messages.
func short(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
