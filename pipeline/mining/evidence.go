package mining

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Evidence collects what was seen as JSON, one record a line, for the one blob that many finds share.
type Evidence struct {
	buf   bytes.Buffer
	lines map[string]int
	n     int
}

// Add puts a record and returns its line. The same key gives the line of the record that was added first.
func (e *Evidence) Add(key string, record any) (line int, err error) {
	if n, ok := e.lines[key]; ok {
		return n, nil
	}
	data, err := json.Marshal(record)
	if err != nil {
		return 0, fmt.Errorf("encoding evidence of %s: %w", key, err)
	}
	return e.AddLine(key, data), nil
}

// AddLine puts a record that has its form already; it must have no newline.
func (e *Evidence) AddLine(key string, data []byte) (line int) {
	if n, ok := e.lines[key]; ok {
		return n
	}
	if e.lines == nil {
		e.lines = map[string]int{}
	}
	e.buf.Write(data)
	e.buf.WriteByte('\n')
	e.n++
	e.lines[key] = e.n
	return e.n
}

// Len is the size in bytes.
func (e *Evidence) Len() int { return e.buf.Len() }

// Bytes are all lines; nil for none.
func (e *Evidence) Bytes() []byte {
	if e.n == 0 {
		return nil
	}
	return e.buf.Bytes()
}

// Reset begins the next blob.
func (e *Evidence) Reset() { *e = Evidence{} }
