package debian

import (
	_ "embed" // the table
	"slices"
	"strings"
)

// table says which packages have what projects ask for; names as in Debian 13, and where that has none, or another one, as in Debian 11, which is
// what old Python and Java run on: the step that installs passes over those that its release lacks. A line holds a kind, a name in lower
// case and packages, or "-" if all images that need it, or CMake, have it. Kinds: cmake (find_package), pkg (pkg-config), program, header, library (behind -l).
//
//go:embed packages.txt
var table string

var packages = readTable(table)

func readTable(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 2 && !strings.HasPrefix(line, "#") {
			all[words[0]+" "+words[1]] = slices.DeleteFunc(words[2:], func(p string) bool { return p == "-" })
		}
	}
	return all
}

// Packages are those that have what a project asks for by a name of a kind, in upper or lower case; none if it is there without one. known
// is false if the table does not have the name.
func Packages(kind, name string) (list []string, known bool) {
	list, known = packages[kind+" "+strings.ToLower(name)]
	return slices.Clone(list), known
}
