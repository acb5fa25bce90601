package gotest

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Find finds the module: the one that most touched files are in, else the root's, else the only one.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	if root, ok := t.Nearest(paths, "go.mod"); ok {
		return root, nil
	}
	if t.Has("go.mod") {
		return "", nil
	}
	var modules []string
	hasGo := false
	for f := range t.Files() {
		hasGo = hasGo || strings.HasSuffix(f, ".go")
		if path.Base(f) == "go.mod" && !ignoredByGo(f) {
			modules = append(modules, path.Dir(f))
		}
	}
	switch {
	case len(modules) == 1:
		return modules[0], nil
	case len(modules) > 1:
		return "", project.ErrNoRecipe{Reason: fmt.Sprintf("%d Go modules and none at the root", len(modules))}
	case hasGo:
		return "", project.ErrNoRecipe{Reason: "the Go code is older than modules: there is no go.mod"}
	}
	return "", project.ErrNoRecipe{Reason: "no Go module"}
}

// ignoredByGo says that the go command does not look into a file's folder.
func ignoredByGo(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(p string) bool {
		return p == "vendor" || p == "testdata" || len(p) > 1 && (p[0] == '_' || p[0] == '.')
	})
}

// Recipe makes a Go module's recipe.
//
// Install sees only the files that name modules, so states with the same ones share an environment. It starts from one in
// which the standard library is compiled (up to a minute, once per machine), downloads the modules, and compiles the
// packages that the first state to be prepared imports. Packages are named by the recipe since the code that imports
// them is not there; a list that cannot be compiled costs time later and is no failure.
//
// -mod=mod lets an old state with an incomplete go.sum complete it from the environment's modules. A newer toolchain
// that go.mod asks for is downloaded as a module; jobs find it there.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	m, err := readModule(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	env := map[string]string{
		"GOMODCACHE": "{env}/home/go/pkg/mod", "GOCACHE": "{env}/home/.cache/go-build", "GOTOOLCHAIN": "auto",
		"GOFLAGS": "-buildvcs=false" + m.mode, "GOWORK": m.work,
	}
	if m.work == "" {
		delete(env, "GOWORK")
	}
	installEnv := map[string]string{"GOFLAGS": "-buildvcs=false" + m.installMode}
	r := replay.Recipe{
		Runner: Name, Root: root, Module: m.path, Env: env, Inputs: m.inputs, Base: goBase(env),
	}
	packages := []string{"std"} // again: go.mod may ask for another toolchain than the base's
	if m.vendored {
		r.Notes = append(r.Notes, "modules come from the vendor folder")
	} else {
		r.Install = append(r.Install, replay.Step{
			Name: "download modules", Args: []string{"go", "mod", "download"}, Env: installEnv, Dir: root, MustPass: true,
		})
		imports, err := goImports(t, root, m.locals)
		if err != nil {
			return replay.Recipe{}, err
		}
		packages = append(packages, imports...)
	}
	warmEnv := map[string]string{"GOFLAGS": installEnv["GOFLAGS"]}
	if !m.vendored {
		warmEnv["GOPROXY"] = "off" // an import that no module provides must not be looked up
	}
	r.Install = append(r.Install, compile(packages, warmEnv, root))
	return r, nil
}

// compile is the step that fills the build cache.
func compile(packages []string, env map[string]string, dir string) replay.Step {
	const script = `go list -e -export "$@" >/dev/null 2>&1 || echo some packages were not compiled`
	return replay.Step{
		Name: "compile dependencies", Args: append([]string{"sh", "-c", script, "sh"}, packages...), Env: env, Dir: dir, Warm: true,
	}
}

// goBase is the environment that all Go environments start from: the standard library, compiled.
func goBase(env map[string]string) *replay.Recipe {
	base := &replay.Recipe{Runner: Name, Env: map[string]string{"GOFLAGS": "-buildvcs=false", "GOWORK": "off", "GOTOOLCHAIN": "local"}}
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		base.Env[name] = env[name]
	}
	step := compile([]string{"std"}, nil, "")
	step.Warm = false // it is all that this environment is
	base.Install = []replay.Step{step}
	return base
}

// goModule is what go.mod and go.work say.
type goModule struct {
	path              string
	locals            []string // module paths whose code is in the tree
	inputs            []string
	vendored          bool
	work              string // GOWORK
	mode, installMode string // -mod flags of jobs and of Install
}

func readModule(t *project.Tree, root string) (goModule, error) {
	m := goModule{work: "off", mode: " -mod=mod", installMode: " -mod=mod"}
	file, err := goMod(t, path.Join(root, "go.mod"))
	if err != nil {
		return m, err
	}
	if file == nil || file.Module == nil {
		return m, project.ErrNoRecipe{Reason: fmt.Sprintf("%s names no module", path.Join(root, "go.mod"))}
	}
	m.path = file.Module.Mod.Path
	m.locals = []string{m.path}
	m.inputs = []string{path.Join(root, "go.mod"), path.Join(root, "go.sum")}
	if err := replacements(t, root, file.Replace, &m); err != nil {
		return m, err
	}
	if t.Has(path.Join(root, "vendor/modules.txt")) {
		m.vendored, m.mode = true, " -mod=vendor"
		return m, nil
	}
	return m, workspace(t, root, &m)
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

// replacements adds the modules that replace directives take from folders of the tree.
func replacements(t *project.Tree, root string, list []*modfile.Replace, m *goModule) error {
	for _, r := range list {
		if r.New.Version != "" || !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		dir, ok := project.Inside(root, r.New.Path)
		if !ok {
			return project.ErrNoRecipe{Reason: fmt.Sprintf("module %s is replaced by a folder outside of the repository", r.Old.Path)}
		}
		m.locals = append(m.locals, r.Old.Path)
		m.inputs = append(m.inputs, path.Join(dir, "go.mod"), path.Join(dir, "go.sum"))
	}
	return nil
}

// workspace looks above root for a go.work that uses the module. Another workspace is switched off, as is one that
// happens to lie above the place where a sandbox unpacks the tree.
func workspace(t *project.Tree, root string, m *goModule) error {
	for dir := root; ; dir = strings.TrimPrefix(path.Dir(dir), ".") {
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
	var inputs, locals []string
	used := false
	for _, u := range work.Use {
		d, ok := project.Inside(dir, u.Path)
		if !ok {
			return nil
		}
		used = used || d == root
		inputs = append(inputs, path.Join(d, "go.mod"), path.Join(d, "go.sum"))
		file, err := goMod(t, path.Join(d, "go.mod"))
		if err != nil {
			return err
		}
		if file != nil && file.Module != nil {
			locals = append(locals, file.Module.Mod.Path)
		}
	}
	if !used {
		return nil
	}
	m.inputs = append(append(m.inputs, inputs...), path.Join(dir, "go.work"), path.Join(dir, "go.work.sum"))
	m.locals = append(m.locals, locals...)
	m.work, m.mode, m.installMode = "", "", ""
	return replacements(t, dir, work.Replace, m)
}

// maxImports bounds the command line of the warm-up.
const maxImports = 1000

// goImports lists the packages of other modules that the module's code imports, tests included.
func goImports(t *project.Tree, root string, locals []string) ([]string, error) {
	prefix := root + "/"
	if root == "" {
		prefix = ""
	}
	found := map[string]bool{}
	err := t.Each(func(f replay.File) error {
		if strings.HasPrefix(f.Path, prefix) && strings.HasSuffix(f.Path, ".go") && !ignoredByGo(f.Path) && len(f.Data) <= project.MaxFile {
			for _, p := range importsOf(f.Data) {
				found[p] = isForeign(p, locals)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing imports: %w", err)
	}
	var list []string
	for p, foreign := range found {
		if foreign {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), maxImports)], nil
}

func importsOf(src []byte) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var list []string
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// isForeign says that an import path is another module's: its first part has a dot and it is a sound path.
func isForeign(p string, locals []string) bool {
	first, _, _ := strings.Cut(p, "/")
	return strings.Contains(first, ".") && module.CheckImportPath(p) == nil && !slices.ContainsFunc(locals, func(l string) bool {
		return p == l || strings.HasPrefix(p, l+"/")
	})
}

// Names are the paths of all modules of the tree.
func (Tool) Names(t *project.Tree, _ []string) ([]string, error) {
	var names []string
	for f := range t.Files() {
		if path.Base(f) != "go.mod" || ignoredByGo(f) {
			continue
		}
		text, err := t.Read(f)
		if err != nil {
			return nil, err
		}
		names = append(names, modfile.ModulePath([]byte(text)))
	}
	return names, nil
}
