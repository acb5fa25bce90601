package node

import (
	"strings"

	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is one of a title, below those of its blocks. White space of a title counts as a report writes it.
func (Package) Matches(_ replay.Recipe, f testid.Function, id string) bool {
	rest, ok := testid.In(f.File, id)
	if !ok {
		return false
	}
	var path []testid.Name
	for _, n := range f.Path {
		if n = spaced(n); len(n) != 1 || n[0] != "" {
			path = append(path, n)
		}
	}
	title := testid.Function{Path: path}.Joined(" > ")
	return title.Match(rest) || title.Match(testid.Unnumbered(rest))
}

// spaced writes a title as id does.
func spaced(n testid.Name) testid.Name {
	out := make(testid.Name, len(n))
	for i, piece := range n {
		piece = control.ReplaceAllString(piece, " ")
		if i == 0 {
			piece = strings.TrimLeft(piece, " ")
		}
		if i == len(n)-1 {
			piece = strings.TrimRight(piece, " ")
		}
		out[i] = piece
	}
	return out
}
