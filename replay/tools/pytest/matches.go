package pytest

import (
	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is a function's own, with parameters or without.
func (Tool) Matches(_ replay.Recipe, f testid.Function, id string) bool {
	rest, ok := testid.In(f.File, id)
	return ok && f.Joined("::").Begins(rest, "[")
}
