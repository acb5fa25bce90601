package unittest

import (
	"regexp"
	"strconv"
	"strings"

	"sluice/replay/tools/python/pynarrow"
)

var (
	frame  = regexp.MustCompile(`^ *File "([^"]+)", line (\d+)(, in .*)?$`)
	raised = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*(?:: .*)?$`)
	lib    = regexp.MustCompile(`(?:^<|(?:^|/)(?:site-packages|dist-packages|lib/python[0-9.]+)/)`)
)

// importErrors reads the tracebacks of files that cannot be imported. Frames of installed packages are passed over: what they do is
// done for the frame before. A place without a function is where the parser gave up.
func importErrors(output string) []pynarrow.Error {
	var errors []pynarrow.Error
	var last pynarrow.Error
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := frame.FindStringSubmatch(line); m != nil {
			if !lib.MatchString(m[1]) {
				last = pynarrow.Error{File: m[1], Syntax: m[3] == ""}
				last.Line, _ = strconv.Atoi(m[2])
			}
			continue
		}
		if last.File != "" && raised.MatchString(line) {
			last.Message = line
			errors = append(errors, last)
			last = pynarrow.Error{}
		}
	}
	return errors
}
