package python

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// locked is a package of a lock file.
type locked struct {
	version string // "" if several are locked, for different machines
	needs   []string
}

// lockFiles are the files in which tools of Python's note resolved versions, in the order in which they are believed.
var lockFiles = []struct {
	name string
	read func(text string) map[string]locked
}{
	{"uv.lock", lockTables}, {"poetry.lock", lockTables}, {"pdm.lock", lockTables}, {"pylock.toml", lockTables}, {"Pipfile.lock", pipfileLock},
}

// constraints are the versions that the project's lock file has of what the requirements ask for, and of what that needs in turn: data for
// the installer, so that a lock file's addresses are never asked and its other packages change no environment. Lines that
// requirements files name as constraints come along.
func constraints(t *project.Tree, root string, p *info, l *reqList) ([]string, error) {
	list := slices.Clone(l.constraints)
	for _, f := range lockFiles {
		for _, dir := range []string{root, ""} { // a workspace has one at its top
			text, err := t.Read(path.Join(dir, f.name))
			if err != nil {
				return nil, err
			}
			if packages := f.read(text); len(packages) > 0 {
				delete(packages, normal(p.name))
				return append(list, l.few(pins(packages, l), f.name)...), nil
			}
		}
	}
	return list, nil
}

// pins are the locked versions of what requirements reach, sorted.
func pins(packages map[string]locked, l *reqList) []string {
	var todo []string
	for _, r := range l.items {
		todo = append(todo, reqName(r))
	}
	seen := map[string]bool{}
	var list []string
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		k := packages[name]
		if k.version != "" {
			list = append(list, name+"=="+k.version)
		}
		todo = append(todo, k.needs...)
	}
	slices.Sort(list)
	return list
}

const maxConstraints = 1000

// few bounds the versions of a lock file that the installer is told, with a note.
func (l *reqList) few(list []string, from string) []string {
	if len(list) > maxConstraints {
		l.notes = append(l.notes, fmt.Sprintf("of the %d versions in %s the first %d are kept", len(list), from, maxConstraints))
		list = list[:maxConstraints]
	}
	return list
}

var (
	plainName    = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	plainRelease = regexp.MustCompile(`^\d[A-Za-z0-9.!+_-]{0,60}$`)
)

type locks map[string]locked

// add takes a package; one that comes in two versions, or in none that a registry would have, is not pinned.
func (k locks) add(name, version string, needs []string) {
	if !plainName.MatchString(name) {
		return
	}
	old, twice := k[normal(name)]
	if !plainRelease.MatchString(version) || twice && old.version != version {
		version = ""
	}
	k[normal(name)] = locked{version, append(old.needs, needs...)}
}

// lockTables reads lock files that are TOML with a table for each package: uv's, Poetry's, PDM's, and those of PEP 751.
func lockTables(text string) map[string]locked {
	doc, out := decode(text), locks{}
	for _, key := range []string{"package", "packages"} {
		for _, m := range doc.tables(key) {
			out.add(m.str("name"), m.version(), m.needs())
		}
	}
	return out
}

// version is what a registry has of a locked package: "" for one from a folder or a repository.
func (t table) version() string {
	source := t.table("source")
	local := len(source) > 0 && source.str("registry") == "" && source.str("type") != "legacy"
	if local || t["directory"] != nil || t["vcs"] != nil || t["archive"] != nil || t["git"] != nil || t["path"] != nil {
		return ""
	}
	return t.str("version")
}

// needs are the names of what a locked package depends on, whatever for: a list of tables (uv), a table by name (Poetry), or a list of
// requirements (PDM).
func (t table) needs() []string {
	var list []string
	groups := []table{t}
	for _, m := range []table{t.table("optional-dependencies"), t.table("dev-dependencies"), t.table("extras")} {
		for name := range m {
			groups = append(groups, table{"dependencies": m[name]})
		}
	}
	for _, g := range groups {
		for name := range g.table("dependencies") {
			list = append(list, normal(name))
		}
		for _, dep := range g.tables("dependencies") {
			list = append(list, normal(dep.str("name")))
		}
		for _, r := range g.strings("dependencies") {
			list = append(list, leadingName(r))
		}
	}
	return list
}

var leading = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*`)

// leadingName is the normalised name with which a requirement begins.
func leadingName(r string) string { return normal(leading.FindString(r)) }

// tables returns the tables of a list.
func (t table) tables(key string) []table {
	switch v := t[key].(type) {
	case []map[string]any:
		list := make([]table, len(v))
		for i, m := range v {
			list[i] = m
		}
		return list
	case []any:
		var list []table
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				list = append(list, m)
			}
		}
		return list
	}
	return nil
}

// everything stands for all packages of a lock file that does not say what needs what. It is no name of a package.
const everything = "*"

// pipfileLock reads Pipenv's lock file, which does not say what needs what: every package is reached from each that is asked for.
func pipfileLock(text string) map[string]locked {
	type group map[string]struct {
		Version string `json:"version"`
	}
	var doc struct {
		Default group `json:"default"`
		Develop group `json:"develop"`
	}
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	out := locks{}
	var all []string
	for _, g := range []group{doc.Default, doc.Develop} {
		for _, name := range sortedKeys(g) {
			all = append(all, normal(name))
			if v, ok := strings.CutPrefix(g[name].Version, "=="); ok {
				out.add(name, v, nil)
			}
		}
	}
	// By way of one that is no package: with the names beside each, a large file would cost their square.
	for name, k := range out {
		out[name] = locked{k.version, []string{everything}}
	}
	out[everything] = locked{needs: all}
	return out
}
