// Package native is what the test tools of C and C++ share: which folder is a project's, which of Debian's packages it asks for, what the
// programs of the tools have in common, and how what they leave is read.
//
// It runs nothing. Build descriptions are read as text for a few words that they declare; they are never interpreted. It names no
// package that is not in its table, and never reads a console where a report says the same.
package native

import (
	_ "embed" // the programs' common part
	"encoding/json"
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Language is C with C++: most projects have both, and share their headers.
var Language = project.Language{Name: "C and C++", Extensions: []string{
	".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tcc",
}}

// Image has compilers and build tools.
const Image = "sluice/c:trixie"

// common is the first half of the programs that the tools pass to Python.
//
//go:embed common.py
var common string

// Package is what every test tool of C and C++ knows. Tools embed it.
type Package struct{}

// Language is C and C++.
func (Package) Language() project.Language { return Language }

// Image has compilers and build tools.
func (Package) Image() string { return Image }

// Clock asks the C library the time, as programs in C do.
func (Package) Clock(replay.Recipe) []string { return []string{"date", "+%s"} }

// Owns reports whether an id is a test of the tree: what stands before "::" is a target of the tree's own build.
func (Package) Owns(_ replay.Recipe, id string) bool {
	target, _, ok := strings.Cut(id, "::")
	return ok && target != ""
}

// Settings are what a program gets as JSON.
type Settings struct {
	Do         string   `json:"do"`
	Build      string   `json:"build"` // folder of the build, from the project's
	Tree       string   `json:"tree"`
	Root       string   `json:"root"` // of the project
	Out        string   `json:"out"`
	Reports    []string `json:"reports"` // what is left in any case
	Args       []string `json:"args,omitempty"`
	Googletest []string `json:"googletest,omitempty"` // names under which the project fetches GoogleTest
	Paths      []string `json:"paths,omitempty"`      // of the tree; none: all tests
}

// Files that the programs leave in {out}.
const (
	buildFile = "build.json"
	indexFile = "index.json"
)

// programStep is a step that runs a tool's program.
func programStep(name, root, program string, s Settings) replay.Step {
	s.Tree, s.Out, s.Root = "{tree}", "{out}", root
	s.Reports = []string{"{out}/" + buildFile, "{out}/" + indexFile}
	text, _ := json.Marshal(s) // plain strings: it cannot fail
	return replay.Step{Name: name, Dir: root, Args: []string{"python3", "-I", "-c", common + "\n\n" + program, string(text)}}
}

// Plan is a project's build: the folder it is built in, and what its configuration is told.
type Plan struct {
	Root, Dir  string
	Args       []string
	Googletest []string
}

// Names of the steps before the tests.
const (
	stepConfigure = "configure"
	stepBuild     = "build"
)

// Build are the steps of a recipe that configure and build. The second leaves its report and passes even if targets fail.
func (p Plan) Build(program string) []replay.Step {
	configure := programStep(stepConfigure, p.Root, program, Settings{Do: "configure", Build: p.Dir, Args: p.Args, Googletest: p.Googletest})
	build := programStep(stepBuild, p.Root, program, Settings{Do: "build", Build: p.Dir})
	configure.MustPass, build.MustPass = true, true
	return []replay.Step{configure, build}
}

// Test are the recipe's Build steps and the test step.
func Test(r replay.Recipe, t replay.Target, program string) []replay.Step {
	s := Settings{Do: "test", Build: BuiltIn(r), Paths: sources(t.Paths)}
	return append(slices.Clone(r.Build), programStep(report.StepTest, r.Root, program, s))
}

// dirs are the folders that a build may have, of which the first is taken that the tree does not have.
var dirs = []string{"build", "build-sluice", "sluice-build-of-tests"}

// Dir is the folder that a project is built in: a name that people use, unless the tree has a file there.
func Dir(t *project.Tree, root string) string {
	for _, d := range dirs {
		if p := path.Join(root, d); !t.Has(p) && !t.HasDir(p) {
			return d
		}
	}
	return dirs[len(dirs)-1]
}

// BuiltIn is the folder of a recipe's build, as its step says.
func BuiltIn(r replay.Recipe) string {
	for _, s := range r.Build {
		var set Settings
		if s.Name == stepBuild && json.Unmarshal([]byte(s.Args[len(s.Args)-1]), &set) == nil && set.Build != "" {
			return set.Build
		}
	}
	return dirs[0]
}

// sources are the paths of a target that can choose tests.
func sources(paths []string) []string {
	var list []string
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		if clean != "" && !strings.ContainsAny(clean, "{}\x00") {
			list = append(list, clean)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
