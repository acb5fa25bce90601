package pytest

import (
	"regexp"
	"strconv"
	"strings"

	"sluice/replay/tools/python/pynarrow"
)

var (
	pyFrame  = regexp.MustCompile(`^(\S.*\.py):(\d+): in `)
	pyRaised = regexp.MustCompile(`^E\s{1,4}((?:[A-Za-z_][A-Za-z0-9_.]*)(?:Error|Exception|Warning|Exit|Interrupt)\b.*)$`)
	pyFile   = regexp.MustCompile(`^E\s+File "([^"]+)", line (\d+)`)
	pyLib    = regexp.MustCompile(`(?:^|/)(?:site-packages|dist-packages|lib/python[0-9.]+)/`)
)

// collectionErrors reads the tracebacks of pytest's collection errors. Frames of installed packages are passed over: what they do
// (import a module, rewrite its assertions) is done for the frame before.
func collectionErrors(output string) []pynarrow.Error {
	var errors []pynarrow.Error
	var last pynarrow.Error
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := pyFrame.FindStringSubmatch(line); m != nil {
			if !pyLib.MatchString(m[1]) {
				last = pynarrow.Error{File: m[1], Syntax: last.Syntax}
				last.Line, _ = strconv.Atoi(m[2])
			}
			continue
		}
		if m := pyFile.FindStringSubmatch(line); m != nil {
			last = pynarrow.Error{File: m[1], Syntax: true}
			last.Line, _ = strconv.Atoi(m[2])
			continue
		}
		m := pyRaised.FindStringSubmatch(line)
		if m == nil || last.File == "" {
			continue
		}
		last.Message = m[1]
		errors = append(errors, last)
		last = pynarrow.Error{}
	}
	return errors
}
