package native

import (
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is a case of GoogleTest's, with its parameters and types, or one that is named by its title. Another function is a
// part of its program, if that or its test is named after the file: no report knows more of it.
func (Package) Matches(_ replay.Recipe, f testid.Function, id string) bool {
	target, name, ok := strings.Cut(id, "::")
	if !ok || len(f.Path) == 0 {
		return false
	}
	if len(f.Path) == 2 {
		return isCase(f.Path[0], f.Path[1], name)
	}
	if f.Joined("").Match(name) {
		return true
	}
	base := path.Base(f.File)
	stem := bare(strings.TrimSuffix(base, path.Ext(base)))
	return stem != "" && (bare(target) == stem || bare(name) == stem)
}

// isCase matches "Prefix/Suite/0.Name/1".
func isCase(suite, name testid.Name, id string) bool {
	left, right, ok := strings.Cut(id, ".")
	if !ok {
		return false
	}
	right, _, _ = strings.Cut(right, "/")
	return name.Match(right) && slices.ContainsFunc(strings.Split(left, "/"), suite.Match)
}

// bare is a name without what says that it is a test's, in any writing.
func bare(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return strings.ContainsRune("_-. /", c) })
	words = slices.DeleteFunc(words, func(w string) bool { return w == "test" || w == "tests" || w == "unit" || w == "unittest" })
	return strings.Join(words, "_")
}
