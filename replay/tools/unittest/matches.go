package unittest

import (
	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is a method of a class. Functions outside of classes are no tests here.
func (Tool) Matches(_ replay.Recipe, f testid.Function, id string) bool {
	rest, ok := testid.In(f.File, id)
	return ok && len(f.Path) > 1 && f.Joined("::").Match(testid.Unnumbered(rest))
}
