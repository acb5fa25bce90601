package narrow

import (
	"regexp"
	"strconv"
	"strings"
)

// pyError is one module that could not be imported: the last place of the traceback, and what was raised there.
type pyError struct {
	place
	message string // "ImportError: cannot import name 'x' from 'm' (…)"
	syntax  bool
}

var (
	pyFrame  = regexp.MustCompile(`^(\S.*\.py):(\d+): in `)
	pyRaised = regexp.MustCompile(`^E\s{1,4}((?:[A-Za-z_][A-Za-z0-9_.]*)(?:Error|Exception|Warning|Exit|Interrupt)\b.*)$`)
	pyFile   = regexp.MustCompile(`^E\s+File "([^"]+)", line (\d+)`)
	pyLib    = regexp.MustCompile(`(?:^|/)(?:site-packages|dist-packages|lib/python[0-9.]+)/`)
)

// parsePy reads the tracebacks of pytest's collection errors. Frames of installed packages are passed over: what they do
// (import a module, rewrite its assertions) is done for the frame before.
func parsePy(output string) []pyError {
	var errors []pyError
	var last place
	syntax := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := pyFrame.FindStringSubmatch(line); m != nil {
			if !pyLib.MatchString(m[1]) {
				last = place{file: m[1]}
				last.line, _ = strconv.Atoi(m[2])
			}
			continue
		}
		if m := pyFile.FindStringSubmatch(line); m != nil {
			last, syntax = place{file: m[1]}, true
			last.line, _ = strconv.Atoi(m[2])
			continue
		}
		m := pyRaised.FindStringSubmatch(line)
		if m == nil || last.file == "" {
			continue
		}
		errors = append(errors, pyError{place: last, message: m[1], syntax: syntax})
		last, syntax = place{}, false
	}
	return errors
}

var (
	noName   = regexp.MustCompile(`^ImportError: cannot import name '([^']+)' from `)
	noModule = regexp.MustCompile(`^ModuleNotFoundError: No module named '([^']+)'`)
)
