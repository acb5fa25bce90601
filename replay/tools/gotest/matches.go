package gotest

import (
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is a function's own, or a subtest of it: its package is that of the file's folder. In a workspace, whose
// modules a recipe does not name, the folder's end decides.
func (Tool) Matches(r replay.Recipe, f testid.Function, id string) bool {
	pkg, name, ok := strings.Cut(id, "::")
	if !ok || !f.Joined("/").Begins(testid.Unnumbered(name), "/") {
		return false
	}
	dir := project.Dir(f.File)
	if !project.Within(r.Root, dir) {
		return false
	}
	if named := packagePath(r, dir); r.Module != "" && (!isWide(r) || pkg == named) {
		return pkg == named
	}
	dir = inModule(r, dir)
	return dir == "" || strings.HasSuffix("/"+pkg, "/"+dir)
}
