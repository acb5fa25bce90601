package cargo

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

const (
	manifestFile = "Cargo.toml"
	lockFile     = "Cargo.lock"
	maxMembers   = 1000
)

// table is one of a manifest's.
type table = map[string]any

// member is one package of a workspace, or one that a member takes from the tree.
type member struct {
	dir      string // in the tree
	name     string
	edition  string
	rust     release
	manifest table
}

// workspace is what cargo compiles together.
type workspace struct {
	root       string
	top        table // the root's manifest
	members    []member
	locked     bool
	lockFormat int
}

func (w *workspace) names() []string {
	var list []string
	for _, m := range w.members {
		list = append(list, m.name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// readManifest returns nil where there is none. One that cannot be read is an ErrNoRecipe.
func readManifest(t *project.Tree, dir string) (table, error) {
	name := path.Join(dir, manifestFile)
	text, err := t.Read(name)
	if err != nil || text == "" {
		return nil, err
	}
	var m table
	if err := project.DecodeTOML(text, &m); err != nil {
		return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s cannot be read: %s", name, project.FirstLine(err.Error()))}
	}
	return m, nil
}

func sub(m table, keys ...string) table {
	for _, k := range keys {
		m, _ = m[k].(table)
	}
	return m
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// readWorkspace reads the workspace, or the package without one, whose root is the folder.
func readWorkspace(t *project.Tree, root string) (*workspace, error) {
	top, err := readManifest(t, root)
	if err != nil {
		return nil, err
	}
	if top == nil || sub(top, "package") == nil && sub(top, "project") == nil && sub(top, "workspace") == nil {
		return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s names no package", path.Join(root, manifestFile))}
	}
	w := &workspace{root: root, top: top, locked: t.Has(path.Join(root, lockFile))}
	if w.locked {
		if err := w.readLock(t); err != nil {
			return nil, err
		}
	}
	if ws := sub(top, "workspace"); len(texts(ws["members"]))+len(texts(ws["exclude"])) > maxMembers {
		return nil, project.ErrNoRecipe{Reason: "the workspace has too many patterns"}
	}
	queue := w.listed(t)
	if sub(top, "package") != nil || sub(top, "project") != nil {
		queue = append([]string{root}, queue...)
	}
	for seen := map[string]bool{}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if len(seen) > maxMembers {
			return nil, project.ErrNoRecipe{Reason: "the workspace has too many packages"}
		}
		more, err := w.add(t, dir)
		if err != nil {
			return nil, err
		}
		queue = append(queue, more...)
	}
	if len(w.members) == 0 {
		return nil, project.ErrNoRecipe{Reason: "the workspace has no package"}
	}
	slices.SortFunc(w.members, func(a, b member) int { return strings.Compare(a.dir, b.dir) })
	return w, nil
}

func (w *workspace) readLock(t *project.Tree) error {
	text, err := t.Read(path.Join(w.root, lockFile))
	if err != nil {
		return err
	}
	var lock struct{ Version int }
	if err := project.DecodeTOML(text, &lock); err == nil { // else cargo will say what is wrong with it
		w.lockFormat = lock.Version
	}
	return nil
}

// listed are the folders that the workspace's patterns name and the tree has.
func (w *workspace) listed(t *project.Tree) []string {
	ws := sub(w.top, "workspace")
	excluded := texts(ws["exclude"])
	var out []string
	patterns := texts(ws["members"])
	for f := range t.Files() {
		dir := parent(f)
		rel, ok := below(w.root, dir)
		if path.Base(f) != manifestFile || !ok || dir == w.root {
			continue
		}
		named := slices.ContainsFunc(patterns, func(p string) bool {
			hit, err := path.Match(path.Clean(p), rel)
			return hit && err == nil
		})
		without := slices.ContainsFunc(excluded, func(p string) bool { _, in := below(path.Clean(p), rel); return in })
		if named && (!without || slices.Contains(patterns, rel)) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// below names a folder from another one that it is, or is in.
func below(root, dir string) (rel string, ok bool) {
	if root == "" || root == dir {
		return strings.TrimPrefix(dir[len(root):], "/"), true
	}
	return strings.CutPrefix(dir, root+"/")
}

// add reads the package in a folder and returns the folders of those that it takes from the tree.
func (w *workspace) add(t *project.Tree, dir string) ([]string, error) {
	m, err := readManifest(t, dir)
	if err != nil {
		return nil, err
	}
	p := sub(m, "package")
	if p == nil {
		p = sub(m, "project")
	}
	name, _ := p["name"].(string)
	if !crateName(name) {
		return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s names no package", path.Join(dir, manifestFile))}
	}
	one := member{dir: dir, name: name, manifest: m, edition: w.inherited(p, "edition")}
	one.rust, _ = parseRelease(w.inherited(p, "rust-version"))
	w.members = append(w.members, one)
	return w.local(t, one)
}

// inherited is a text of a package, which may be the workspace's.
func (w *workspace) inherited(p table, key string) string {
	if s, ok := p[key].(string); ok {
		return s
	}
	if t, ok := p[key].(table); ok && t["workspace"] == true {
		s, _ := sub(w.top, "workspace", "package")[key].(string)
		return s
	}
	return ""
}

func crateName(s string) bool {
	return s != "" && len(s) <= 100 && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// dependency is one entry of a manifest.
type dependency struct {
	name string
	spec table  // nil for a version alone
	dir  string // of the manifest that it stands in
}

var dependencyTables = []string{"dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies"}

// dependencies are the entries of a package's manifest, in order; those that are the workspace's are resolved.
func (w *workspace) dependencies(m member) []dependency {
	tables := []table{m.manifest}
	for _, key := range sortedKeys(sub(m.manifest, "target")) {
		tables = append(tables, sub(m.manifest, "target", key))
	}
	var out []dependency
	for _, t := range tables {
		for _, kind := range dependencyTables {
			deps := sub(t, kind)
			for _, name := range sortedKeys(deps) {
				spec, _ := deps[name].(table)
				d := dependency{name, spec, m.dir}
				if spec["workspace"] == true {
					d.spec, d.dir = sub(w.top, "workspace", "dependencies", name), w.root
				}
				out = append(out, d)
			}
		}
	}
	return out
}

// patches are the entries by which the root's manifest replaces others.
func (w *workspace) patches() []dependency {
	var out []dependency
	for _, registry := range sortedKeys(sub(w.top, "patch")) {
		for _, name := range sortedKeys(sub(w.top, "patch", registry)) {
			out = append(out, dependency{name, sub(w.top, "patch", registry, name), w.root})
		}
	}
	for _, name := range sortedKeys(sub(w.top, "replace")) {
		out = append(out, dependency{name, sub(w.top, "replace", name), w.root})
	}
	return out
}

// local are the folders of the tree that a package's dependencies lie in. What is not of the tree, of the registry or of a repository
// of git's that anybody can read is an ErrNoRecipe.
func (w *workspace) local(t *project.Tree, m member) ([]string, error) {
	list := w.dependencies(m)
	if m.dir == w.root || len(w.members) == 1 {
		list = append(list, w.patches()...)
	}
	var out []string
	for _, d := range list {
		if address, ok := d.spec["git"].(string); ok && !strings.HasPrefix(address, "https://") {
			return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s comes from %q", d.name, report80(address))}
		}
		if d.spec["registry"] != nil || d.spec["registry-index"] != nil {
			return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s comes from another registry", d.name)}
		}
		p, ok := d.spec["path"].(string)
		if !ok {
			continue
		}
		dir, in := project.Inside(d.dir, p)
		if !in {
			return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s lies outside of the repository", d.name)}
		}
		if !t.Has(path.Join(dir, manifestFile)) {
			return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s, which %s needs, is not in the tree", report80(dir), m.name)}
		}
		out = append(out, dir)
	}
	return out, nil
}

func sortedKeys(m table) []string { return slices.Sorted(maps.Keys(m)) }
