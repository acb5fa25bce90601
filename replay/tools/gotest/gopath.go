package gotest

import (
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// oldToolchain runs code that is older than modules: the last of the oldest Go that the module proxy has. It still gives all
// iterations of a loop one variable, as that code expects, and links what reaches into other packages.
const oldToolchain = "go1.21.13"

// oldRecipe is for code older than modules: with its vendored packages in a GOPATH, if it has such, else as a module that is made
// from its lock file.
func oldRecipe(t *project.Tree, s *source) (replay.Recipe, error) {
	name, err := importPath(t, s)
	if err != nil {
		return replay.Recipe{}, err
	}
	foreign := s.foreign([]string{name})
	foreign = foreign[:min(len(foreign), maxImports)] // enough to tell
	roots := vendorRoots(t)
	missing := slices.DeleteFunc(slices.Clone(foreign), func(p string) bool { return isVendored(t, roots, s, p) })
	if len(missing) == len(foreign) && len(foreign) > 0 {
		return madeModule(t, s, name)
	}
	r := gopathRecipe(name, roots)
	if len(missing) > 0 {
		r.Notes = append(r.Notes, "imports that are not in the repository: "+strings.Join(missing[:min(len(missing), 10)], ", "))
	}
	return r, nil
}

// vendorRoots are folders of the tree that old projects have as entries of GOPATH; each has a folder src.
func vendorRoots(t *project.Tree) []string {
	var list []string
	for _, d := range []string{"Godeps/_workspace", "vendor", "_vendor", "third_party", "_workspace"} {
		if t.HasDir(d + "/src") {
			list = append(list, d)
		}
	}
	return list
}

// isVendored says that a package's folder is in one of the roots, or in a vendor folder that some package of the project sees.
func isVendored(t *project.Tree, roots []string, s *source, p string) bool {
	if slices.ContainsFunc(roots, func(r string) bool { return t.HasDir(path.Join(r, "src", p)) }) || t.HasDir("vendor/"+p) {
		return true
	}
	for d := range s.dirs {
		for ; d != "." && d != ""; d = path.Dir(d) {
			if t.HasDir(path.Join(d, "vendor", p)) {
				return true
			}
		}
	}
	return false
}

// gopathRecipe lays the tree out as a package of a GOPATH, by a link, since the go command takes import paths from there. The
// toolchain is called by its own name: without modules the go command chooses none.
func gopathRecipe(name string, roots []string) replay.Recipe {
	env := cacheEnv()
	env["GO111MODULE"], env["GOTOOLCHAIN"], env["GOFLAGS"] = "off", "local", "-buildvcs=false"
	env["GOPATH"] = "{env}/gopath"
	for _, r := range roots {
		env["GOPATH"] += ":{tree}/" + r
	}
	const link = `[ "$(readlink "$1")" = "$2" ] || { mkdir -p "$(dirname "$1")" && ln -sfn "$2" "$1"; }`
	lay := replay.Step{Name: "lay out GOPATH", Args: []string{"sh", "-c", link, "sh", gopathDir(name), "{tree}"}, MustPass: true}
	return replay.Recipe{
		Runner: Name, Module: name, Env: env, Base: oldBase(), Install: []replay.Step{lay}, Build: []replay.Step{lay},
		Notes: []string{"the code is older than modules: it runs in a GOPATH, as " + name + ", with " + oldToolchain},
	}
}

func gopathDir(name string) string { return "{env}/gopath/src/" + name }

// oldBase is the environment that all environments without modules start from: the old toolchain with its standard library, compiled.
func oldBase() *replay.Recipe {
	base := &replay.Recipe{Runner: Name, Env: cacheEnv()}
	base.Env["GOFLAGS"], base.Env["GOWORK"] = "-buildvcs=false", "off"
	const find = `root=$(go env GOROOT) && ln -sfn "${root#"$1"/}" "$1/goroot"`
	fetch := replay.Step{Name: "toolchain", Args: []string{"sh", "-c", find, "sh", "{env}"}, MustPass: true}
	fetch.Env = map[string]string{"GOTOOLCHAIN": oldToolchain}
	std := compile([]string{"std"}, map[string]string{"GO111MODULE": "off", "GOTOOLCHAIN": "local"}, "")
	std.Warm = false
	std.Args = oldGo("", std.Args)
	base.Install = []replay.Step{fetch, std}
	return base
}

// oldGo makes a command run in a folder, "" for the step's own, with the old toolchain.
func oldGo(dir string, args []string) []string {
	const script = `PATH=$1/goroot/bin:$PATH && export PATH && cd "${2:-.}" && shift 2 && exec "$@"`
	return append([]string{"sh", "-c", script, "sh", "{env}", dir}, args...)
}

// isOld says that a recipe's project runs in a GOPATH.
func isOld(r replay.Recipe) bool { return r.Env["GO111MODULE"] == "off" }
