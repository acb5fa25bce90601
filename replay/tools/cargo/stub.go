package cargo

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/BurntSushi/toml"

	"sluice/replay/tools/project"
)

// stubs are the files of a workspace with the same dependencies and no code: what Install compiles dependencies under. They are made of
// what decides about dependencies alone, so that most changes of a manifest leave them as they are. The paths are the tree's.
func (w *workspace) stubs(t *project.Tree) (map[string]string, error) {
	files := map[string]string{}
	loose := !w.locked && w.top["patch"] == nil && w.top["replace"] == nil
	dirs := []string{}
	for _, m := range w.members {
		s, err := w.stub(t, m, loose)
		if err != nil {
			return nil, err
		}
		if m.dir == w.root {
			continue // below
		}
		if rel, ok := below(w.root, m.dir); ok {
			dirs = append(dirs, rel)
		}
		if err := put(files, m.dir, s); err != nil {
			return nil, err
		}
	}
	top := table{}
	for _, m := range w.members {
		if m.dir == w.root {
			top, _ = w.stub(t, m, loose) // it was made without an error above
		}
	}
	w.shareStub(top, dirs, loose)
	if err := put(files, w.root, top); err != nil {
		return nil, err
	}
	for _, m := range w.members {
		files[path.Join(m.dir, "src/lib.rs")] = ""
		if w.buildScript(t, m) {
			files[path.Join(m.dir, "build.rs")] = "fn main() {}\n"
		}
	}
	return files, nil
}

func put(files map[string]string, dir string, m table) error {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(m); err != nil {
		return project.ErrNoRecipe{Reason: fmt.Sprintf("%s cannot be read: %s", path.Join(dir, manifestFile), project.FirstLine(err.Error()))}
	}
	files[path.Join(dir, manifestFile)] = b.String()
	return nil
}

// pick copies some entries of a table.
func pick(m table, keys ...string) table {
	out := table{}
	for _, k := range keys {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// shareStub adds what the root's manifest says for all.
func (w *workspace) shareStub(top table, dirs []string, loose bool) {
	slices.Sort(dirs)
	ws := sub(w.top, "workspace")
	own := pick(ws, "exclude", "resolver")
	own["members"] = dirs
	p := pick(sub(ws, "package"), "version", "edition", "rust-version")
	if loose && p["version"] != nil {
		p["version"] = noVersion
	}
	if len(p) > 0 {
		own["package"] = p
	}
	if deps := sub(ws, "dependencies"); deps != nil {
		own["dependencies"] = entries(deps, loose)
	}
	top["workspace"] = own
	for k, v := range pick(w.top, "patch", "replace", "cargo-features") {
		top[k] = v
	}
	if profiles := pick(sub(w.top, "profile"), "dev", "test"); len(profiles) > 0 {
		top["profile"] = profiles
	}
}

// noVersion is every package's where no lock file and nobody else asks for its version.
const noVersion = "0.0.0"

// stub is a package's manifest without what has no part in its dependencies: its targets, texts and lints.
func (w *workspace) stub(t *project.Tree, m member, loose bool) (table, error) {
	from := sub(m.manifest, "package")
	if from == nil {
		from = sub(m.manifest, "project")
	}
	p := pick(from, "name", "version", "edition", "rust-version", "links", "resolver", "workspace")
	if p["version"] == nil || loose {
		p["version"] = noVersion
	}
	if m.dir == w.root {
		delete(p, "workspace")
	}
	p["build"] = false
	if w.buildScript(t, m) {
		p["build"] = "build.rs"
	}
	for _, k := range []string{"autobins", "autotests", "autobenches", "autoexamples"} {
		p[k] = false
	}
	out := pick(m.manifest, "features", "cargo-features")
	out["package"] = p
	lib := pick(sub(m.manifest, "lib"), "name", "proc-macro", "proc_macro", "crate-type", "crate_type")
	lib["path"] = "src/lib.rs"
	out["lib"] = lib
	copyDependencies(out, m.manifest, loose)
	targets := table{}
	for name := range sub(m.manifest, "target") {
		one := table{}
		if copyDependencies(one, sub(m.manifest, "target", name), loose); len(one) > 0 {
			targets[name] = one
		}
	}
	if len(targets) > 0 {
		out["target"] = targets
	}
	return out, nil
}

func copyDependencies(to, from table, loose bool) {
	for _, kind := range dependencyTables {
		if deps := sub(from, kind); deps != nil {
			to[kind] = entries(deps, loose)
		}
	}
}

// entries are dependencies; those of the tree are of any version if nobody asks for one.
func entries(deps table, loose bool) table {
	out := table{}
	for name, v := range deps {
		if spec, ok := v.(table); ok && loose && spec["path"] != nil {
			spec = pick(spec, sortedKeys(spec)...)
			delete(spec, "version")
			v = spec
		}
		out[name] = v
	}
	return out
}

// buildScript reports whether a package has a program that runs before it is compiled.
func (w *workspace) buildScript(t *project.Tree, m member) bool {
	switch b := sub(m.manifest, "package")["build"].(type) {
	case bool:
		return b
	case nil:
		return t.Has(path.Join(m.dir, "build.rs"))
	default:
		return true
	}
}
