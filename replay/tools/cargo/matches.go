package cargo

import (
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Matches reports whether a test is a function's own, or one that a macro made of it: its name is that of the modules that the file's place
// makes, and of the function's. Of several crates with such a module, that of the folder's name counts, if there is one.
func (Tool) Matches(r replay.Recipe, f testid.Function, id string) bool {
	scope, name, ok := strings.Cut(id, "::")
	if !ok {
		return false
	}
	crate, target, _ := strings.Cut(scope, "/")
	for _, at := range places(f.File) {
		if base := path.Base(at.dir); base != "." && crate != base && slices.Contains(strings.Fields(r.Module), base) {
			continue
		}
		if at.target != target && (at.target != "*" || target == "" || target == "doc") {
			continue
		}
		full := testid.Function{Path: append(slices.Clone(at.modules), f.Path...)}.Joined("::")
		if full.Match(testid.Unnumbered(name)) || strings.Contains(name, "::") && full.Match(name[:strings.LastIndex(name, "::")]) {
			return true
		}
	}
	return false
}

// spot is what a file may be in a package.
type spot struct {
	dir     string        // of the package
	target  string        // "" for the library; "test/name"; "*" any but that
	modules []testid.Name // that the file's place makes
}

// places are what a file's path may mean.
func places(file string) []spot {
	parts := strings.Split(strings.TrimSuffix(file, ".rs"), "/")
	var out []spot
	for i, p := range parts[:len(parts)-1] {
		dir, rest := path.Join(parts[:i]...), parts[i+1:]
		if dir == "" {
			dir = "."
		}
		switch kind := strings.TrimSuffix(p, "s"); {
		case p == "src" && len(rest) > 1 && rest[0] == "bin":
			out = append(out, spot{dir, "bin/" + rest[1], modules(rest[2:])})
		case p == "src" && len(rest) == 1 && (rest[0] == "lib" || rest[0] == "main"):
			out = append(out, spot{dir, "", nil}, spot{dir, "*", nil})
		case p == "src":
			out = append(out, spot{dir, "", modules(rest)}, spot{dir, "*", modules(rest)})
		case p == "tests" || p == "examples" || p == "benches":
			if p == "benches" {
				kind = "bench"
			}
			out = append(out, spot{dir, kind + "/" + rest[0], modules(rest[1:])})
			if len(rest) > 1 || p == "tests" { // a module of other targets
				out = append(out, spot{dir, "*", modules(rest)})
			}
		}
	}
	return out
}

// modules are those of a path below a target's first file.
func modules(rest []string) []testid.Name {
	var out []testid.Name
	for i, m := range rest {
		if i == len(rest)-1 && (m == "mod" || m == "main") {
			break
		}
		out = append(out, testid.Name{m})
	}
	return out
}
