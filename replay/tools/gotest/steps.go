// Package gotest is the test tool of Go: `go test -json`.
//
// Test ids are "import/path::TestX/sub". It knows modules, vendor folders, workspaces, and code older than modules, which runs in a GOPATH
// or as a module that is made for it. It never reads the console where an event says the same.
package gotest

import (
	"path"
	"sort"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "gotest"

// StepExplain says, after a failure, whether the source builds without its tests.
const StepExplain = "build source"

// Tool runs `go test -json`.
type Tool struct{}

// Name is "gotest".
func (Tool) Name() string { return Name }

// Language is Go.
func (Tool) Language() project.Language {
	return project.Language{Name: "Go", Extensions: []string{".go"}}
}

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"go", "test"} }

// Owns reports whether a test's package is one of the recipe's module; a workspace has many.
func (Tool) Owns(r replay.Recipe, id string) bool {
	pkg, _, ok := strings.Cut(id, "::")
	return ok && (r.Module == "" || isWide(r) || pkg == r.Module || strings.HasPrefix(pkg, r.Module+"/"))
}

// isWide says that a recipe is for all modules of a workspace.
func isWide(r replay.Recipe) bool { return strings.HasSuffix(r.Env["GOWORK"], "/go.work") }

// goTimeout bounds one package's test binary. It is below the time that a job usually has, so that a hanging test is
// named by its binary instead of taking the whole run with it.
const goTimeout = "5m"

// Steps runs the recipe's Build steps, then the tests, then, if they failed, `go list -export`, which compiles the same
// packages without their tests: `go build` refuses a list that has a package of tests only. -e makes the compiler
// report all errors. Modules come from the environment only; the checksum database is the default one, of which Install
// left there what it looked up: switched off, it would forbid a toolchain that is a module.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	test := []string{"go", "test", "-json", "-count=1", "-vet=off", gcflags(r), "-timeout=" + goTimeout}
	list := []string{"go", "list", "-e", "-export", gcflags(r), "-json=ImportPath,Error,DepsErrors"}
	steps := append([]replay.Step{}, r.Build...)
	return append(steps,
		command(replay.Step{Name: report.StepTest, Args: test}, r, t),
		command(replay.Step{Name: StepExplain, Args: list, IfFailed: report.StepTest}, r, t),
	)
}

// Warm compiles the packages and their tests as the tests will find them in the build cache, and links nothing: what is linked is not
// kept there.
func (Tool) Warm(r replay.Recipe, t replay.Target) []replay.Step {
	list := []string{"go", "list", "-e", "-test", "-export", gcflags(r), "-f="}
	return []replay.Step{command(replay.Step{Name: "compile tests", Args: list}, r, t)}
}

func gcflags(r replay.Recipe) string {
	if isMade(r) {
		return "-gcflags=-e -lang=go1.20"
	}
	return "-gcflags=-e"
}

// command makes a step of the go command one over the packages of a target.
func command(s replay.Step, r replay.Recipe, t replay.Target) replay.Step {
	s.Env, s.Dir = map[string]string{"GOPROXY": "off", "GOSUMDB": ""}, r.Root
	s.Args = withTags(r, t.Paths, everyModule(r, s.Args, goPackages(r.Root, t.Paths)))
	if isOld(r) {
		s.Args = oldGo(gopathDir(r.Module), s.Args)
	}
	return s
}

// everyModule adds the packages to a command. ./... ends where another module begins: all of a workspace are the modules that the
// go command lists.
func everyModule(r replay.Recipe, args, packages []string) []string {
	if !isWide(r) || len(packages) != 1 || packages[0] != "./..." {
		return append(args, packages...)
	}
	const all = `dirs=$(go list -m -f '{{.Dir}}/...') && IFS='
' && set -f && exec "$@" $dirs`
	return append([]string{"sh", "-c", all, "sh"}, args...)
}

// goPackages turns paths of the tree into package patterns for a command that runs in root. A Go file or folder selects
// its package. A file below testdata selects the folder that holds testdata, and what is below it when no Go file
// says that the folder is a package. Other files select nothing; if nothing is selected, everything runs.
func goPackages(root string, paths []string) []string {
	dirs, fixtures := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		before, _, below := strings.Cut("/"+clean+"/", "/testdata/")
		switch {
		case below:
			fixtures[strings.TrimPrefix(before, "/")] = true
		case strings.HasSuffix(clean, ".go"):
			dirs[project.Dir(clean)] = true
		case strings.HasSuffix(p, "/") || path.Ext(clean) == "":
			dirs[clean] = true
		}
	}
	var patterns []string
	for d := range dirs {
		patterns = append(patterns, project.Relative(root, d))
	}
	for d := range fixtures {
		if !dirs[d] {
			patterns = append(patterns, project.Relative(root, d)+"/...")
		}
	}
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	sort.Strings(patterns)
	return patterns
}
