package runner

import (
	"path"
	"path/filepath"
	"sort"
	"strings"

	"sluice/replay"
)

// goTest runs `go test -json`. Test ids are "import/path::TestX/sub".
type goTest struct{}

func (goTest) Name() string { return "gotest" }

// goTimeout bounds one package's test binary. It is below the time that a job usually has, so that a hanging test is
// named by its binary instead of taking the whole run with it.
const goTimeout = "5m"

// Steps runs the recipe's Build steps, then the tests, then, if they failed, `go list -export`, which compiles the same
// packages without their tests: `go build` refuses a list that has a package of tests only. -e makes the compiler
// report all errors. Modules come from the environment only; the checksum database is the default one, of which Install
// left there what it looked up: switched off, it would forbid a toolchain that is a module.
func (goTest) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	packages := goPackages(r.Root, t.Paths)
	env := map[string]string{"GOPROXY": "off", "GOSUMDB": ""}
	test := []string{"go", "test", "-json", "-count=1", "-vet=off", "-gcflags=-e", "-timeout=" + goTimeout}
	list := []string{"go", "list", "-e", "-export", "-gcflags=-e", "-json=ImportPath,Error,DepsErrors"}
	steps := append([]replay.Step{}, r.Build...)
	return append(steps,
		replay.Step{Name: StepTest, Args: append(test, packages...), Env: env, Dir: r.Root},
		replay.Step{Name: StepExplain, Args: append(list, packages...), Env: env, Dir: r.Root, IfFailed: StepTest},
	)
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
			dirs[strings.TrimSuffix(path.Dir(clean), ".")] = true
		case strings.HasSuffix(p, "/") || path.Ext(clean) == "":
			dirs[clean] = true
		}
	}
	var patterns []string
	for d := range dirs {
		patterns = append(patterns, relativeTo(root, d))
	}
	for d := range fixtures {
		if !dirs[d] {
			patterns = append(patterns, relativeTo(root, d)+"/...")
		}
	}
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	sort.Strings(patterns)
	return patterns
}

// relativeTo names dir from inside root the way the go command wants it: with a leading dot.
func relativeTo(root, dir string) string {
	rel, err := filepath.Rel("/"+root, "/"+dir)
	if err != nil {
		return "./" + dir // cannot happen: both are absolute
	}
	rel = filepath.ToSlash(rel)
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return rel
	}
	return "./" + rel
}
