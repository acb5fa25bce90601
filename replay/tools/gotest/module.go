package gotest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"sluice/replay/tools/project"
)

// goModule is what go.mod and go.work say.
type goModule struct {
	path              string
	locals            []string // module paths whose code is in the tree
	inputs            []string
	required          []string // paths of required modules
	vendored          bool
	wide              bool     // all modules of a workspace are tested
	work              string   // GOWORK; "" is what the go command finds
	mode, installMode string   // -mod flags of jobs and of Install
	drop              []string // replacements that lead out of the tree
	notes             []string
}

func readModule(t *project.Tree, root string) (goModule, error) {
	m := goModule{work: "off", mode: " -mod=mod", installMode: " -mod=mod"}
	file, err := goMod(t, path.Join(root, "go.mod"))
	if err != nil {
		return m, err
	}
	switch {
	case file != nil && file.Module != nil:
		m.path = file.Module.Mod.Path
		m.locals = []string{m.path}
		m.inputs = []string{path.Join(root, "go.mod"), path.Join(root, "go.sum")}
		for _, r := range file.Require {
			m.required = append(m.required, r.Mod.Path)
		}
		if err := replacements(root, file, file.Replace, &m); err != nil {
			return m, err
		}
	case !t.Has(path.Join(root, "go.work")):
		return m, project.ErrNoRecipe{Reason: fmt.Sprintf("%s names no module", path.Join(root, "go.mod"))}
	}
	list, err := t.Read(path.Join(root, "vendor/modules.txt"))
	if err != nil {
		return m, err
	}
	ofWork := strings.HasPrefix(list, "## workspace")
	switch {
	case list == "":
	case ofWork || consistent(file, list):
		m.vendored = true
	default:
		m.notes = append(m.notes, "vendor/modules.txt does not agree with go.mod: the modules are downloaded")
	}
	if !m.vendored || ofWork {
		if err := workspace(t, root, &m); err != nil {
			return m, err
		}
	}
	if m.vendored {
		m.mode = " -mod=vendor"
	}
	return m, nil
}

// consistent says that the go command accepts a vendor folder: it refuses one whose list of modules is not go.mod's.
func consistent(file *modfile.File, list string) bool {
	if file == nil || file.Go == nil || semver.Compare("v"+file.Go.Version, "v1.14") < 0 {
		return true
	}
	explicit, last := map[string]string{}, []string(nil)
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "#":
			last = words
		case strings.HasPrefix(line, "## explicit") && len(last) > 2 && last[2] != "=>":
			explicit[last[1]] = last[2]
		}
	}
	for _, r := range file.Require {
		if explicit[r.Mod.Path] != r.Mod.Version {
			return false
		}
	}
	return len(explicit) <= len(file.Require)
}

// goMod parses a go.mod file; nil if there is none.
func goMod(t *project.Tree, name string) (*modfile.File, error) {
	text, err := t.Read(name)
	if err != nil || text == "" {
		return nil, err
	}
	file, err := modfile.Parse(name, []byte(text), func(_, v string) (string, error) { return v, nil })
	if err != nil {
		return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s cannot be read: %s", name, project.FirstLine(err.Error()))}
	}
	return file, nil
}

// replacements adds the modules that replace directives take from folders of the tree. One that leads out of the tree is dropped if
// a version of the module is required that can be downloaded.
func replacements(root string, file *modfile.File, list []*modfile.Replace, m *goModule) error {
	for _, r := range list {
		if r.New.Version != "" || !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		dir, ok := project.Inside(root, r.New.Path)
		switch {
		case ok:
			m.locals = append(m.locals, r.Old.Path)
			m.inputs = append(m.inputs, path.Join(dir, "go.mod"), path.Join(dir, "go.sum"))
		case requires(file, r.Old.Path):
			m.drop = append(m.drop, "-dropreplace="+strings.TrimSuffix(r.Old.Path+"@"+r.Old.Version, "@"))
			m.notes = append(m.notes, fmt.Sprintf("module %s is replaced by a folder outside of the repository: the required version is taken", r.Old.Path))
		default:
			return project.ErrNoRecipe{Reason: fmt.Sprintf("module %s is replaced by a folder outside of the repository", r.Old.Path)}
		}
	}
	return nil
}

// requires says that a file requires a version of a module that may exist: people write v0.0.0 where a replacement stands.
func requires(file *modfile.File, name string) bool {
	return file != nil && slices.ContainsFunc(file.Require, func(r *modfile.Require) bool {
		return r.Mod.Path == name && r.Mod.Version != "v0.0.0" && !strings.HasPrefix(r.Mod.Version, "v0.0.0-0001")
	})
}

// workspace looks above root for a go.work that uses the module. Another workspace is switched off, as is one that
// happens to lie above the place where a sandbox unpacks the tree.
func workspace(t *project.Tree, root string, m *goModule) error {
	for dir := root; ; dir = project.Dir(dir) {
		name := path.Join(dir, "go.work")
		text, err := t.Read(name)
		if err != nil {
			return err
		}
		if text != "" {
			return useWork(t, dir, root, text, m)
		}
		if dir == "" {
			return nil
		}
	}
}

func useWork(t *project.Tree, dir, root, text string, m *goModule) error {
	work, err := modfile.ParseWork("go.work", []byte(text), nil)
	if err != nil {
		return nil // the go command would refuse it too; without it the module may work
	}
	used, err := usedBy(t, dir)
	if err != nil || len(used) == 0 {
		return err
	}
	m.wide = dir == root && (len(used) > 1 || m.path == "")
	if !slices.Contains(used, root) && !m.wide {
		return nil
	}
	for _, d := range used {
		m.inputs = append(m.inputs, path.Join(d, "go.mod"), path.Join(d, "go.sum"))
		file, err := goMod(t, path.Join(d, "go.mod"))
		if err != nil {
			return err
		}
		if file == nil || file.Module == nil {
			continue
		}
		m.locals = append(m.locals, file.Module.Mod.Path)
		for _, r := range file.Require {
			m.required = append(m.required, r.Mod.Path)
		}
		if err := replacements(d, nil, file.Replace, m); err != nil {
			return err
		}
	}
	m.inputs = append(m.inputs, path.Join(dir, "go.work"), path.Join(dir, "go.work.sum"))
	m.work, m.mode, m.installMode = "", "", ""
	if m.wide {
		m.work = "{tree}/" + path.Join(dir, "go.work")
	}
	return replacements(dir, nil, work.Replace, m)
}

// maxUsed bounds the modules of a workspace: all of them are read, and are inputs of the recipe.
const maxUsed = 1000

// usedBy lists the folders of the modules that a folder's go.work uses; none if one of them lies outside of the tree, if there are more than
// maxUsed, or if it cannot be read.
func usedBy(t *project.Tree, dir string) ([]string, error) {
	text, err := t.Read(path.Join(dir, "go.work"))
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", []byte(text), nil)
	if err != nil || len(work.Use) > maxUsed {
		return nil, nil
	}
	var used []string
	for _, u := range work.Use {
		d, ok := project.Inside(dir, u.Path)
		if !ok {
			return nil, nil
		}
		used = append(used, d)
	}
	return used, nil
}
