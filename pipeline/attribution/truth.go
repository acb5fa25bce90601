package attribution

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrTruth says that a file of known pairs is not of a form that is understood.
var ErrTruth = errors.New(`want {"repo", "fix_sha", "intro_sha", "how"} or {"repo_name", "fix_commit_hash", "bug_commit_hash": […]} a line`)

// Truth is a fix whose introducing commits are known.
type Truth struct {
	Repo     string // owner/name
	Fix      string // ids may be abbreviated
	Intro    []string
	How      string    // by which words it is known; "" when that is not said
	Reported time.Time // of the defect; zero when that is not said
	Line     int       // of the file
}

// maxRow bounds a line, and maxTruth a file that is one JSON array.
const (
	maxRow   = 1 << 20
	maxTruth = 256 << 20
)

// row has the fields of both forms.
type row struct {
	Repo     string   `json:"repo"`
	RepoName string   `json:"repo_name"`
	Fix      string   `json:"fix_sha"`
	FixHash  string   `json:"fix_commit_hash"`
	Intro    string   `json:"intro_sha"`
	Bugs     []string `json:"bug_commit_hash"`
	How      string   `json:"how"`
	Best     string   `json:"best_scenario_issue_date"`
	Earliest string   `json:"earliest_issue_date"`
}

// ReadTruth reads known pairs: a JSON object a line, or one JSON array of them (the form of the oracle of Rosa et al., ICSE 2021).
// Rows of one fix are one Truth with all their introducing commits. Errors: ErrTruth, with the line.
func ReadTruth(r io.Reader) ([]Truth, error) {
	b := bufio.NewReaderSize(r, maxRow)
	var out []Truth
	at := map[[2]string]int{}
	err := eachRow(b, func(line int, data []byte) error {
		t, err := parseRow(data)
		if err != nil {
			return fmt.Errorf("reading line %d: %w: %w", line, ErrTruth, err)
		}
		t.Line = line
		key := [2]string{t.Repo, t.Fix}
		if i, ok := at[key]; ok {
			out[i].merge(t)
			return nil
		}
		at[key] = len(out)
		out = append(out, t)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("reading line 1: %w: there is no row", ErrTruth)
	}
	return out, err
}

func (t *Truth) merge(other Truth) {
	for _, id := range other.Intro {
		if !slices.Contains(t.Intro, id) {
			t.Intro = append(t.Intro, id)
		}
	}
	if t.Reported.IsZero() {
		t.Reported = other.Reported
	}
}

// eachRow hands over the objects of either form with their lines.
func eachRow(b *bufio.Reader, use func(line int, data []byte) error) error {
	for line := 1; ; line++ {
		data, err := b.ReadSlice('\n')
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		text := bytes.TrimSpace(data)
		switch {
		case len(text) > 0 && text[0] == '[':
			return eachElement(line, io.MultiReader(bytes.NewReader(bytes.Clone(data)), b), use)
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("reading line %d: %w: it is longer than %d bytes", line, ErrTruth, maxRow)
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Errorf("reading line %d: %w", line, err)
		case len(text) > 0:
			if err := use(line, text); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

func eachElement(line int, r io.Reader, use func(line int, data []byte) error) error {
	all, err := io.ReadAll(io.LimitReader(r, maxTruth+1))
	if err == nil && len(all) > maxTruth {
		err = fmt.Errorf("the array is longer than %d bytes", maxTruth)
	}
	if err != nil {
		return fmt.Errorf("reading truth: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(all))
	here := func() int { return line + bytes.Count(all[:d.InputOffset()], []byte("\n")) }
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("reading line %d: %w: %w", line, ErrTruth, err)
	}
	for d.More() {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return fmt.Errorf("reading line %d: %w: %w", here(), ErrTruth, err)
		}
		if err := use(here(), element); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("reading line %d: %w: %w", here(), ErrTruth, err)
	}
	return nil
}

var commitID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

func parseRow(data []byte) (Truth, error) {
	var r row
	if err := json.Unmarshal(data, &r); err != nil {
		return Truth{}, err
	}
	t := Truth{Repo: first(r.Repo, r.RepoName), Fix: strings.ToLower(first(r.Fix, r.FixHash)), How: r.How}
	if r.Intro != "" {
		r.Bugs = append(r.Bugs, r.Intro)
	}
	for _, id := range r.Bugs {
		if id = strings.ToLower(id); !slices.Contains(t.Intro, id) {
			t.Intro = append(t.Intro, id)
		}
	}
	switch {
	case t.Repo == "":
		return t, errors.New("no repository is named")
	case len(t.Intro) == 0:
		return t, errors.New("no introducing commit is named")
	}
	for _, id := range append([]string{t.Fix}, t.Intro...) {
		if !commitID.MatchString(id) {
			return t, fmt.Errorf("%.70q is no commit id", id)
		}
	}
	if date := first(r.Earliest, r.Best); date != "" {
		var err error
		if t.Reported, err = parseDate(date); err != nil {
			return t, err
		}
	}
	return t, nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// parseDate reads a date with or without an offset; without one it is UTC.
func parseDate(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no date", text)
}
