package runner

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/replay"
)

const (
	junitLimit = 128 << 20 // bytes of one report
	junitCases = 1 << 20   // tests of one report
)

// junitCase is one <testcase>. pytest may write several for one test (its call failed, then its teardown), and may
// repeat a <failure> or <error> within one.
type junitCase struct {
	Class    string      `xml:"classname,attr"`
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr"`
	Failures []junitWhat `xml:"failure"`
	Errors   []junitWhat `xml:"error"`
	Skips    []junitWhat `xml:"skipped"`
}

type junitWhat struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// readJUnit reads the test cases of a report. With an error it returns those that came before the damage.
func readJUnit(data []byte) ([]junitCase, error) {
	if len(data) > junitLimit {
		return nil, fmt.Errorf("the report has %d bytes, more than %d", len(data), junitLimit)
	}
	dec := xml.NewDecoder(bytes.NewReader(cleanXML(data)))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var cases []junitCase
	closed := false
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return cases, err
		}
		switch el := tok.(type) {
		case xml.StartElement:
			if el.Name.Local != "testcase" {
				continue
			}
			var c junitCase
			if err := dec.DecodeElement(&c, &el); err != nil {
				return cases, err
			}
			if cases = append(cases, c); len(cases) > junitCases {
				return cases, errors.New("too many tests")
			}
		case xml.EndElement:
			closed = closed || strings.HasPrefix(el.Name.Local, "testsuite")
		}
	}
	if !closed {
		return cases, errors.New("no test suite")
	}
	return cases, nil
}

// cleanXML replaces what XML 1.0 forbids and tools print all the same: control characters and bytes that are not UTF-8.
func cleanXML(data []byte) []byte {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	return bytes.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return 0xFFFD
		}
		return r
	}, data)
}

// collected is false for the pseudo-tests by which pytest reports a file that it could not, or should not, collect.
func (c *junitCase) collected() bool {
	if c.Class != "" {
		return true
	}
	for _, list := range [][]junitWhat{c.Errors, c.Failures, c.Skips} {
		for _, w := range list {
			if strings.HasPrefix(w.Message, "collection ") {
				return false
			}
		}
	}
	return true
}

// words is what the first failure, error or skip of the case says.
func (c *junitCase) words() string {
	for _, list := range [][]junitWhat{c.Errors, c.Failures, c.Skips} {
		for _, w := range list {
			return strings.TrimSpace(w.Message + "\n" + w.Text)
		}
	}
	return ""
}

// test gives outcome, kind and message; not the id.
func (c *junitCase) test() replay.Test {
	switch {
	case len(c.Failures) > 0:
		w := c.Failures[0]
		return replay.Test{Outcome: replay.Fail, Kind: w.kind(), Message: w.Message}
	case len(c.Errors) > 0:
		w := c.Errors[0]
		return replay.Test{Outcome: replay.Error, Kind: w.kind(), Message: w.Message}
	case len(c.Skips) > 0:
		w := c.Skips[0]
		return replay.Test{Outcome: replay.Skip, Message: strings.TrimPrefix(w.Type+": "+w.Message, ": ")}
	}
	return replay.Test{Outcome: replay.Pass}
}

// kind tells an assertion, in any of the ways in which pytest words one, from an exception.
func (w *junitWhat) kind() replay.Kind {
	m := w.Message
	for _, stage := range []string{"failed on setup with \"", "failed on teardown with \""} {
		m = strings.TrimPrefix(m, stage)
	}
	for _, p := range []string{"assert ", "AssertionError", "Failed: ", "[XPASS(strict)]"} {
		if strings.HasPrefix(m, p) {
			return replay.Assertion
		}
	}
	name, _, _ := strings.Cut(m, ":")
	if strings.HasSuffix(name, ".AssertionError") || strings.HasSuffix(strings.TrimSpace(w.Text), "DocTestFailure") {
		return replay.Assertion
	}
	return replay.Exception
}
