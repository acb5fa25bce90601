package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/replay"
)

// Limits of JUnit reports, of all files of a run together.
const (
	JUnitBytes = 128 << 20
	JUnitCases = 1 << 20
	whatBytes  = 256 << 10 // of one failure's text
)

// Case is one <testcase>. Tools may write several for one test (pytest: its call failed, then its teardown), and may
// repeat a <failure> or <error> within one.
type Case struct {
	Suites []string // names of the suites around it, the outermost first
	File   string   // of the case, else of its innermost suite that names one
	Report string   // the report that it is in, where several are read
	Class  string
	Name   string
	Status string // CTest and GoogleTest: "run", "notrun", "disabled"
	Result string // GoogleTest: "completed", "skipped", "suppressed"
	Out    string // what the test printed, cut in the middle; not of its suite

	Failures, Errors, Skips []What
	// Reruns are failures of further attempts of a test that failed in the end; Flaky are those of one that passed in the end.
	Reruns, Flaky []What
}

// What is one failure, error or skip.
type What struct{ Message, Type, Text string }

// junitCase is Surefire's testcase, which has all that others have.
type junitCase struct {
	Class     string      `xml:"classname,attr"`
	Name      string      `xml:"name,attr"`
	File      string      `xml:"file,attr"`
	Status    string      `xml:"status,attr"`
	Result    string      `xml:"result,attr"`
	Out       string      `xml:"system-out"`
	Failures  []junitWhat `xml:"failure"`
	Errors    []junitWhat `xml:"error"`
	Skips     []junitWhat `xml:"skipped"`
	RerunFail []junitWhat `xml:"rerunFailure"`
	RerunErr  []junitWhat `xml:"rerunError"`
	FlakyFail []junitWhat `xml:"flakyFailure"`
	FlakyErr  []junitWhat `xml:"flakyError"`
}

type junitWhat struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
	Stack   string `xml:"stackTrace"` // of a rerun
}

func whats(lists ...[]junitWhat) []What {
	var out []What
	for _, w := range slices.Concat(lists...) {
		if strings.TrimSpace(w.Text) == "" {
			w.Text = w.Stack
		}
		out = append(out, What{w.Message, w.Type, middle(w.Text)})
	}
	return out
}

// middle cuts a long text in its middle: tools say at the end what it was.
func middle(s string) string {
	if len(s) <= whatBytes {
		return s
	}
	half := whatBytes / 2
	return strings.ToValidUTF8(s[:half], "") + "\n[…]\n" + strings.ToValidUTF8(s[len(s)-half:], "")
}

// junitReader reads one file.
type junitReader struct {
	dec    *xml.Decoder
	suites []junitSuite
	closed bool // a suite had an end
	cases  []Case
}

type junitSuite struct{ name, file string }

// ReadJUnit reads the test cases of a report. With an error it returns those that came before the damage.
func ReadJUnit(data []byte) ([]Case, error) {
	if len(data) > JUnitBytes {
		return nil, fmt.Errorf("the report has %d bytes, more than %d", len(data), JUnitBytes)
	}
	r := junitReader{dec: xml.NewDecoder(bytes.NewReader(cleanXML(data)))}
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := r.read(); err != nil {
		return r.cases, err
	}
	if !r.closed {
		return r.cases, errors.New("no test suite")
	}
	return r.cases, nil
}

// ReadJUnits reads all files that a pattern (of path.Match) fits, as tools leave them that write one for each class. With an error
// it returns what could be read. No file at all is an error.
func ReadJUnits(files map[string][]byte, pattern string) ([]Case, error) {
	var cases []Case
	var first error
	total, found := 0, false
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if ok, err := path.Match(pattern, name); err != nil || !ok {
			continue
		}
		found = true
		if total += len(files[name]); total > JUnitBytes {
			return cases, fmt.Errorf("the reports have more than %d bytes", JUnitBytes)
		}
		list, err := ReadJUnit(files[name])
		if err != nil && first == nil {
			first = fmt.Errorf("%s: %w", name, err)
		}
		for i := range list {
			list[i].Report = name
		}
		if cases = append(cases, list...); len(cases) > JUnitCases {
			return cases[:JUnitCases], errTooMany
		}
	}
	if !found {
		return nil, errors.New("there is no report")
	}
	return cases, first
}

var errTooMany = fmt.Errorf("more than %d tests", JUnitCases)

func (r *junitReader) read() error {
	for {
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch el := tok.(type) {
		case xml.StartElement:
			if err := r.start(el); err != nil {
				return err
			}
		case xml.EndElement:
			if isSuite(el.Name.Local) {
				r.closed = true
				r.suites = r.suites[:len(r.suites)-1]
			}
		}
	}
}

func isSuite(element string) bool { return strings.HasPrefix(element, "testsuite") }

func (r *junitReader) start(el xml.StartElement) error {
	switch name := el.Name.Local; {
	case isSuite(name):
		r.suites = append(r.suites, junitSuite{attribute(el, "name"), attribute(el, "file")})
	case name == "testcase":
		var c junitCase
		if err := r.dec.DecodeElement(&c, &el); err != nil {
			return err
		}
		if len(r.cases) >= JUnitCases {
			return errTooMany
		}
		r.cases = append(r.cases, r.place(c))
	case name == "properties", name == "system-out", name == "system-err":
		return r.dec.Skip()
	}
	return nil
}

func attribute(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// place gives a case what its suites say.
func (r *junitReader) place(c junitCase) Case {
	out := Case{
		File: c.File, Class: c.Class, Name: c.Name, Status: c.Status, Result: c.Result, Out: middle(c.Out),
		Failures: whats(c.Failures), Errors: whats(c.Errors), Skips: whats(c.Skips),
		Reruns: whats(c.RerunFail, c.RerunErr), Flaky: whats(c.FlakyFail, c.FlakyErr),
	}
	for _, s := range r.suites {
		if s.name != "" {
			out.Suites = append(out.Suites, s.name)
		}
		if c.File == "" && s.file != "" {
			out.File = s.file
		}
	}
	return out
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

// Words is what the first error, failure or skip of the case says.
func (c *Case) Words() string {
	for _, list := range [][]What{c.Errors, c.Failures, c.Skips} {
		for _, w := range list {
			return strings.TrimSpace(w.Message + "\n" + w.Text)
		}
	}
	return ""
}

// Test gives outcome, kind and message; not the id. kind tells an assertion from an exception in the tool's words. A test that
// failed and, when the tool ran it again, passed has done neither.
func (c *Case) Test(kind func(What) replay.Kind) replay.Test {
	switch {
	case len(c.Failures) > 0:
		w := c.Failures[0]
		return replay.Test{Outcome: replay.Fail, Kind: kind(w), Message: w.Message}
	case len(c.Errors) > 0:
		w := c.Errors[0]
		return replay.Test{Outcome: replay.Error, Kind: kind(w), Message: w.Message}
	case len(c.Skips) > 0:
		w := c.Skips[0]
		return replay.Test{Outcome: replay.Skip, Message: strings.TrimPrefix(w.Type+": "+w.Message, ": ")}
	case len(c.Flaky) > 0:
		return replay.Test{Outcome: replay.Missing, Message: "failed, and passed when it was run again: " + c.Flaky[0].Message}
	case c.Status == "notrun" || c.Status == "disabled":
		return replay.Test{Outcome: replay.Skip, Message: "not run"}
	}
	return replay.Test{Outcome: replay.Pass}
}
