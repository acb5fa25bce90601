package pairlist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Faults of a JSON text, after which nothing more of it can be read.
var (
	ErrNotJSON = errors.New("not JSON")
	ErrTooLong = errors.New("longer than a record may be")
)

// Elements reads the elements of one JSON list, or the documents that stand one after the other in a text, each of at most most
// bytes. Errors: ErrNotJSON and ErrTooLong with the number (from 1) of the element where they are; those of use; those of reading.
func Elements(in io.Reader, most int64, use func(n int, raw json.RawMessage) error) (n int, err error) {
	limited := &budget{in: in, left: most}
	b := bufio.NewReader(limited)
	first, err := firstByte(b)
	if err != nil {
		return 1, fault(err)
	}
	dec := json.NewDecoder(b)
	if first == '[' {
		if _, err := dec.Token(); err != nil {
			return 1, fault(err)
		}
	}
	for n = 1; ; n++ {
		limited.left = most
		if first == '[' && !dec.More() {
			_, err := dec.Token() // a list that is cut short has no end
			return n, fault(err)
		}
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if first != '[' && n > 1 && errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fault(err)
		}
		if err := use(n, raw); err != nil {
			return n, err
		}
	}
}

// fault tells a fault of the text from one of reading it.
func fault(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil, errors.Is(err, ErrTooLong):
		return err
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.Join(ErrNotJSON, err)
	}
	return err
}

// budget gives up when a reader wants more than is left.
type budget struct {
	in   io.Reader
	left int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrTooLong
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Lines reads the lines of a text that are not blank, without their ends; cut says that one is longer than most bytes, and then
// it is empty.
func Lines(in io.Reader, most int, use func(n int, line []byte, cut bool) error) error {
	b := bufio.NewReaderSize(in, 1<<16)
	for n := 1; ; n++ {
		line, cut, err := readLine(b, most)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end := err != nil
		if line = bytes.TrimSpace(line); cut {
			line = nil
		}
		if cut || len(line) > 0 {
			if err := use(n, line, cut); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
}

// readLine reads a line without its end; cut says that it was longer than most.
func readLine(b *bufio.Reader, most int) (line []byte, cut bool, err error) {
	for {
		part, err := b.ReadSlice('\n')
		if len(line)+len(part) <= most && !cut {
			line = append(line, part...)
		} else {
			cut = true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), cut, err
		}
	}
}
