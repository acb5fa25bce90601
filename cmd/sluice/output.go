package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"text/tabwriter"
	"unicode"
)

// sink is standard output. It keeps the first error of writing, so that results that went nowhere do not look like a success.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// join adds what became of the results to how a command ended. A reader that went away has what it wanted.
func (s *sink) join(err error) error {
	if s.err == nil || errors.Is(s.err, syscall.EPIPE) {
		return err
	}
	lost := fmt.Errorf("writing the results: %w", s.err)
	if err != nil {
		return fmt.Errorf("%w; %w", err, lost)
	}
	return fail(exitEnvironment, lost, "what was done is stored: run it again, with a standard output that can be written")
}

// emitJSON writes one object and a newline. HTML is not escaped: the output is for programs and people, not for pages.
func emitJSON(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // our types encode; sink keeps what went wrong
}

// emit writes one result object to standard output.
func (a *app) emit(v any) { emitJSON(a.stdout, v) }

// say writes a line to standard output.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.stdout, format+"\n", args...) }

// table writes rows in columns to standard output; the first row is the heading.
func (a *app) table(rows [][]string) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = oneLine(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	_ = w.Flush()
}

// printable takes out of text from a mined repository what a terminal would obey: control characters but for newline
// and tab, and marks that change the direction of writing.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// oneLine makes text fit one line of output.
func oneLine(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}

// short cuts a line to n characters, with a mark.
func short(s string, n int) string {
	runes := []rune(oneLine(s))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}
