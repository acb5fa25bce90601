package project

// Hint is what a repository's continuous integration says about an environment that its tests run in. Somebody unknown wrote all
// of it: it holds names of closed forms only, no command, no address, no option and no path outside of the tree.
type Hint struct {
	Packages     []string            `json:"packages,omitempty"`     // Debian's, in the order in which they stand
	Env          map[string]string   `json:"env,omitempty"`          // of a closed list of names
	Versions     map[string][]string `json:"versions,omitempty"`     // of "python", "node", "go" and "java", as they stand
	Requirements []string            `json:"requirements,omitempty"` // Python's, by name; the tool looks at them as at a file's
	Files        []string            `json:"files,omitempty"`        // requirements files of the tree
	Extras       []string            `json:"extras,omitempty"`       // of the project itself
	Sources      []string            `json:"sources,omitempty"`      // where it stands: ".github/workflows/ci.yml: test"
	Unused       []string            `json:"unused,omitempty"`       // what else stands there and is not taken over, for notes
}

// Empty reports whether it says nothing that a recipe could use.
func (h Hint) Empty() bool {
	return len(h.Packages)+len(h.Env)+len(h.Versions)+len(h.Requirements)+len(h.Files)+len(h.Extras) == 0
}
