package gotest

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// place is where an error lies. Column 0: the tool gives none.
type place struct {
	file         string
	line, column int
}

// compileError is one error of the compiler with the further places that it names.
type compileError struct {
	place
	message string
	related []place
}

// twoPackages is the go command's complaint about two packages in one folder.
type twoPackages struct{ dir, first, second string }

var (
	// The compiler always gives a column; what a test logs has none.
	goPlace = regexp.MustCompile(`^(\s*)([^\s:"]+\.go):(\d+):(\d+): (.*)$`)
	goTwo   = regexp.MustCompile(`found packages \S+ \(([^)]+)\) and \S+ \(([^)]+)\) in (\S+)`)
)

// parseGo reads what `go test` or `go build` print about code that does not build: plain text before Go 1.24, events
// since.
func parseGo(output string) (errors []compileError, clashes []twoPackages) {
	for line := range strings.Lines(compilerText(output)) {
		line = strings.TrimRight(line, "\r\n")
		if m := goTwo.FindStringSubmatch(line); m != nil {
			clashes = append(clashes, twoPackages{dir: path.Clean(m[3]), first: m[1], second: m[2]})
			continue
		}
		m := goPlace.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := place{file: m[2]}
		at.line, _ = strconv.Atoi(m[3])
		at.column, _ = strconv.Atoi(m[4])
		if m[1] != "" && len(errors) > 0 {
			last := &errors[len(errors)-1]
			last.related = append(last.related, at)
			continue
		}
		errors = append(errors, compileError{place: at, message: m[5]})
	}
	return errors, clashes
}

// compilerText leaves of an event stream the compiler's words; other lines stay as they are.
func compilerText(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "{") {
			b.WriteString(line)
			continue
		}
		var e struct{ Action, Output string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Action == "build-output" {
			b.WriteString(e.Output)
		}
	}
	return b.String()
}
