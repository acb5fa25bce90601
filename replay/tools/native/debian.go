package native

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/debian"
	"sluice/replay/tools/project"
)

// Wants are names that a project asks for, as "kind name".
type Wants map[string]bool

// Add notes a name.
func (w Wants) Add(kind, name string) { w[kind+" "+strings.ToLower(name)] = true }

// Packages are Debian's packages for what is wanted, sorted, with a note of the names that the table does not have.
func (w Wants) Packages() (list, notes []string) {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(w)) {
		kind, name, _ := strings.Cut(key, " ")
		found, ok := debian.Packages(kind, name)
		if !ok {
			unknown = append(unknown, key)
		}
		list = append(list, found...)
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
	return []replay.Step{debian.Install(list)}
}

// Known reports whether the table has a name.
func (Wants) Known(kind, name string) bool {
	_, ok := debian.Packages(kind, name)
	return ok
}
