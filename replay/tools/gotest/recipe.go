package gotest

import (
	"maps"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/project"
)

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
	s, err := readSource(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	var r replay.Recipe
	if t.HasAny(root, []string{"go.mod", "go.work"}) {
		r, err = moduleRecipe(t, root, s)
	} else {
		r, err = oldRecipe(t, s)
	}
	if err != nil {
		return replay.Recipe{}, err
	}
	r.Tags = slices.Sorted(maps.Keys(s.tags))
	s.cgo.apply(&r)
	return r, nil
}

func moduleRecipe(t *project.Tree, root string, s *source) (replay.Recipe, error) {
	m, err := readModule(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	env := cacheEnv()
	env["GOTOOLCHAIN"], env["GOFLAGS"], env["GOWORK"] = "auto", "-buildvcs=false"+m.mode, m.work
	if m.work == "" {
		delete(env, "GOWORK")
	}
	installEnv := map[string]string{"GOFLAGS": "-buildvcs=false" + m.installMode}
	r := replay.Recipe{Runner: Name, Root: root, Module: m.path, Env: env, Inputs: m.inputs, Notes: m.notes, Base: goBase()}
	if len(m.drop) > 0 {
		edit := replay.Step{Name: "edit go.mod", Args: append([]string{"go", "mod", "edit"}, m.drop...), Dir: root, MustPass: true}
		r.Install, r.Build = append(r.Install, edit), append(r.Build, edit)
	}
	packages := []string{"std"} // again: go.mod may ask for another toolchain than the base's
	if m.vendored {
		r.Notes = append(r.Notes, "modules come from the vendor folder")
	} else {
		r.Install = append(r.Install, replay.Step{
			Name: "download modules", Args: []string{"go", "mod", "download"}, Env: installEnv, Dir: root, MustPass: true,
		})
		imports := s.foreign(m.locals)
		packages = append(packages, imports[:min(len(imports), maxImports)]...) // the others are compiled later
		s.cgo.require(append(packages, m.required...))
	}
	warmEnv := map[string]string{"GOFLAGS": installEnv["GOFLAGS"]}
	if !m.vendored {
		warmEnv["GOPROXY"] = "off" // an import that no module provides must not be looked up
	}
	r.Install = append(r.Install, compile(packages, warmEnv, root))
	return r, nil
}

// cacheEnv says where the go command keeps what it downloads and compiles.
func cacheEnv() map[string]string {
	return map[string]string{"GOMODCACHE": "{env}/home/go/pkg/mod", "GOCACHE": "{env}/home/.cache/go-build"}
}

// compile is the step that fills the build cache. The go command writes to files of it that are older than an hour, which copies them to
// where the run's own files are, and deletes those that are older than five days: so they are of the year 2100.
func compile(packages []string, env map[string]string, dir string) replay.Step {
	const script = `go list -e -export "$@" >/dev/null 2>&1 || echo some packages were not compiled
find "$GOCACHE" -type f -exec touch -t 210001010000 {} +`
	return replay.Step{
		Name: "compile dependencies", Args: append([]string{"sh", "-c", script, "sh"}, packages...), Env: env, Dir: dir, Warm: true,
	}
}

// goBase is the environment that all environments of modules start from: the standard library, compiled.
func goBase() *replay.Recipe {
	base := &replay.Recipe{Runner: Name, Env: cacheEnv()}
	base.Env["GOFLAGS"], base.Env["GOWORK"], base.Env["GOTOOLCHAIN"] = "-buildvcs=false", "off", "local"
	step := compile([]string{"std"}, nil, "")
	step.Warm = false // it is all that this environment is
	base.Install = []replay.Step{step}
	return base
}
