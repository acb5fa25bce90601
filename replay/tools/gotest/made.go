package gotest

import (
	"fmt"
	"path"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// madeModule makes a module of old code whose packages lie elsewhere: go.mod is written while the environment is built, of
// what the lock file pins and, for what it does not or what the proxy does not have, of the newest versions. Each
// state gets a copy. Newest versions may want a newer go line; Steps keeps the meaning that loops had.
func madeModule(t *project.Tree, s *source, name string) (replay.Recipe, error) {
	list, from, err := pins(t)
	if err != nil {
		return replay.Recipe{}, err
	}
	if name == "old.invalid/project" && s.names[""] == "" {
		return replay.Recipe{}, project.ErrNoRecipe{Reason: "the Go code is older than modules, and nothing says under which path it imports itself"}
	}
	env := cacheEnv()
	env["GO111MODULE"], env["GOTOOLCHAIN"], env["GOFLAGS"], env["GOWORK"] = "on", "auto", "-buildvcs=false -mod=mod", "off"
	r := replay.Recipe{
		Runner: Name, Module: name, Env: env, Base: goBase(),
		Install: []replay.Step{shell("write go.mod", `printf '%s' "$1" >go.mod`, "module "+name+"\n\ngo 1.16\n")},
		Build:   []replay.Step{shell("copy go.mod", `cp "$1"/go.* .`, "{env}/module")},
		Notes:   []string{"the code is older than modules: it runs as module " + name},
	}
	if q, all := queries(list); all > 0 {
		const get = `go get "$@" || for q; do go get "$q" || echo "cannot be had: $q"; done`
		r.Install = append(r.Install, shell("get what "+path.Base(from)+" pins", get, q...))
		r.Notes = append(r.Notes, "versions are "+from+"'s where the module proxy has them")
		if all > len(q) {
			r.Notes = append(r.Notes, fmt.Sprintf("of the %d versions that %s pins the first %d are asked for", all, from, len(q)))
		}
	} else {
		r.Notes = append(r.Notes, "no file pins versions: the newest are taken")
	}
	imports := s.foreign([]string{name})
	s.cgo.require(imports)
	if len(imports) > maxImports {
		r.Notes = append(r.Notes, fmt.Sprintf("of the %d packages that are imported the first %d are asked for", len(imports), maxImports))
		imports = imports[:maxImports]
	}
	if len(imports) > 0 {
		const get = `for p; do go list "$p" >/dev/null || go get "$p" || echo "cannot be had: $p"; done`
		r.Install = append(r.Install, shell("get what is imported", get, imports...))
	}
	r.Install = append(r.Install,
		shell("keep go.mod", `go mod download && mkdir -p "$1" && cp go.* "$1"`, "{env}/module"),
		compile(slices.Concat([]string{"std"}, imports), map[string]string{"GOPROXY": "off"}, ""))
	return r, nil
}

// isMade says that a recipe's module was made.
func isMade(r replay.Recipe) bool { return r.Env["GO111MODULE"] == "on" }

// shell is a step that must pass; the arguments are $1 and on.
func shell(name, script string, args ...string) replay.Step {
	return replay.Step{Name: name, Args: append([]string{"sh", "-c", script, "sh"}, args...), MustPass: true}
}
