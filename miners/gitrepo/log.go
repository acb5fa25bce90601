package gitrepo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// record is one commit as `git log` prints it in logFormat.
type record struct {
	id        string
	parents   []string
	authored  time.Time
	committed time.Time
	author    string // "Name <mail>"
	message   string
}

// subject is the first paragraph on one line, body the rest, as git cuts them.
func (r record) subject() (subject, body string) {
	subject, body, _ = strings.Cut(strings.TrimLeft(r.message, "\n"), "\n\n")
	return strings.Join(strings.Fields(subject), " "), strings.Trim(body, "\n")
}

const logFormat = "--format=%H%n%P%n%at%n%ct%n%an <%ae>%n%B"

// parseLog reads commits separated by NUL.
func parseLog(r *bufio.Reader, use func(record) error) error {
	for {
		text, err := r.ReadBytes(0)
		text = bytes.TrimSuffix(text, []byte{0})
		if len(text) > 0 {
			rec, err := parseRecord(text)
			if err != nil {
				return err
			}
			if err := use(rec); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// eachToken gives use every token that a NUL ends.
func eachToken(r *bufio.Reader, use func(token string)) error {
	for {
		token, err := r.ReadString(0)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		use(token[:len(token)-1])
	}
}

func parseRecord(text []byte) (record, error) {
	fields := strings.SplitN(string(text), "\n", 6)
	if len(fields) != 6 || !objectID.MatchString(fields[0]) {
		return record{}, fmt.Errorf("parsing a commit: unexpected %.60q", text)
	}
	rec := record{id: fields[0], author: fields[4], message: fields[5]}
	for parent := range strings.FieldsSeq(fields[1]) {
		if !objectID.MatchString(parent) {
			return record{}, fmt.Errorf("parsing commit %s: parent %.60q", rec.id, parent)
		}
		rec.parents = append(rec.parents, parent)
	}
	rec.authored, rec.committed = parseSeconds(fields[2]), parseSeconds(fields[3])
	return rec, nil
}

// parseSeconds reads the time of a commit; broken dates exist in old history and become the epoch.
func parseSeconds(text string) time.Time {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		seconds = 0
	}
	return time.Unix(seconds, 0).UTC()
}
