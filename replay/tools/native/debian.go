package native

import (
	_ "embed" // the table
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
	installer "sluice/replay/tools/debian"
	"sluice/replay/tools/project"
)

// debian says which of Debian's packages have what build descriptions ask for. A line holds a kind, a name and packages, or "-" if the
// image or CMake has it. Kinds: cmake (find_package), pkg (pkg-config), program.
//
//go:embed debian.txt
var debian string

var packages = readTable(debian)

func readTable(text string) map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 2 && !strings.HasPrefix(line, "#") {
			table[words[0]+" "+strings.ToLower(words[1])] = words[2:]
		}
	}
	return table
}

// Wants are names that a project asks for, as "kind name".
type Wants map[string]bool

// Add notes a name.
func (w Wants) Add(kind, name string) { w[kind+" "+strings.ToLower(name)] = true }

// Packages are Debian's packages for what is wanted, sorted, with a note of the names that the table does not have.
func (w Wants) Packages() (list, notes []string) {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(w)) {
		found, ok := packages[key]
		if !ok {
			unknown = append(unknown, key)
			continue
		}
		list = append(list, slices.DeleteFunc(slices.Clone(found), func(p string) bool { return p == "-" })...)
	}
	slices.Sort(list)
	if len(unknown) > 0 {
		const most = 20
		text := strings.Join(unknown[:min(len(unknown), most)], ", ")
		notes = append(notes, project.FirstLine(fmt.Sprintf("not known which packages have: %s", text)))
	}
	return slices.Compact(list), notes
}

// Install are the steps that install packages.
func Install(list []string) []replay.Step {
	if len(list) == 0 {
		return nil
	}
	return []replay.Step{installer.Install(list)}
}

// Known reports whether the table has a name.
func (Wants) Known(kind, name string) bool {
	_, ok := packages[kind+" "+strings.ToLower(name)]
	return ok
}
