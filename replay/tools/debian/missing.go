package debian

import (
	"regexp"
	"slices"
	"strings"
)

// maxMissing bounds the packages that one output can name.
const maxMissing = 20

// phrases are the words of compilers, linkers, pkg-config, shells and installers for what is not there. Only what the table knows of
// the words is believed, so a pattern may be wide.
var phrases = []struct {
	kind string
	find *regexp.Regexp
}{
	// gcc and clang; and those who ask a compiler for a header
	{"header", regexp.MustCompile(`fatal error: '?([\w./+-]{1,80}\.(?:h|hpp))'?(?:: No such file| file not found)`)},
	{"header", regexp.MustCompile(`\berror: ([\w./+-]{1,80}\.h): No such file`)},
	{"header", regexp.MustCompile(`(?i)\bcannot find (?:the )?(?:header )?(?:file )?<?([\w./+-]{1,80}\.h)\b`)},
	{"library", regexp.MustCompile(`cannot find -l([\w.+-]{1,60})\b`)},
	{"library", regexp.MustCompile(`\blib([\w+-]{1,60})\.so[.\d]*: cannot open shared object file`)},
	{"pkg", regexp.MustCompile(`Package '?([\w.+-]{1,80})'?,? (?:was not found|required by [^\n]{1,80} not found)`)},
	{"pkg", regexp.MustCompile(`No package '([\w.+-]{1,80})' found`)},
	{"pkg", regexp.MustCompile(`\b([\w+-]{1,80}(?:-[\d.]{1,8})?)\.pc\b`)},
	{"program", regexp.MustCompile(`(?m)(?:^|[\s"'` + "`" + `/:(])([A-Za-z][\w.+-]{0,60})['"` + "`" + `]?:? (?:command |executable |binary |program )?(?:file )?(?:was |is )?not (?:found|installed)`)},
	{"program", regexp.MustCompile(`No such file or directory: u?b?'([A-Za-z][\w.+-]{0,60})'`)},
	{"program", regexp.MustCompile(`(?i)(?:unable to (?:find|execute)|could not (?:find|execute|run)|failed to (?:find|execute)|cannot (?:find|run)) (?:the )?(?:program |command )?['"` + "`" + `]?([a-z][\w.+-]{0,60})`)},
}

// Missing lists, sorted, the packages that have what an output says is missing. What the table does not have is passed over: an output says
// many things, and a name in it is no name of a package.
func Missing(output string) []string {
	var list []string
	for _, m := range phrases {
		for _, found := range m.find.FindAllStringSubmatch(output, 200) {
			name := strings.TrimRight(found[1], ".")
			packages, _ := Packages(m.kind, name)
			list = append(list, packages...)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxMissing)]
}
