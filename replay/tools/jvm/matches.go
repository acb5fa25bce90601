package jvm

import (
	"path"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is a method's own, or one of its invocations. The class that the file is named after is in no id.
func (Project) Matches(_ replay.Recipe, f testid.Function, id string) bool {
	rest, ok := testid.In(f.File, id)
	if !ok {
		return false
	}
	base := path.Base(f.File)
	if stem := strings.TrimSuffix(base, path.Ext(base)); len(f.Path) > 1 && len(f.Path[0]) == 1 && f.Path[0][0] == stem {
		f.Path = f.Path[1:]
	}
	return f.Joined("::").Begins(testid.Unnumbered(rest), "([{ ")
}
