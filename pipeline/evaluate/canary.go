package evaluate

import (
	"go/parser"
	"go/token"
	"path"
	"sort"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
)

// canary is tests that must fail, laid among the sealed ones. A patch that makes the test tool report passes whatever
// happens makes them pass too, or loses them.
type canary struct {
	files   []replay.File
	targets []string // to be run beside the check's own
	tests   []canaryTest
}

// canaryTest is one test that must fail.
type canaryTest struct {
	suffix string // of its id
	scope  string // prefix of the ids of the tests that run beside it
	// listed: the run is certain to collect it, so that its absence means something.
	listed bool
}

// plant makes the canary of a check. word is hard to guess, so that a patch cannot know the tests by name.
func plant(r replay.Recipe, c pipeline.Check, word string) canary {
	if r.Runner == "gotest" {
		return plantGo(r, c, word)
	}
	return plantPytest(r, c, word)
}

// plantGo adds a failing test to every package that has sealed and listed tests: the package's own code runs in the same
// process, so a forger in it cannot tell them apart. Without such a package the canary gets one of its own.
func plantGo(r replay.Recipe, c pipeline.Check, word string) canary {
	var can canary
	name := "TestZz" + word
	for _, dir := range goFolders(c) {
		scope := importPath(r, dir.path) + "::"
		if !anyListed(c, scope) {
			continue
		}
		// Go runs the tests of the package itself first, file by file in the order of their names: what ends the package
		// early must not end it before the canary.
		file := path.Join(dir.path, "00"+word+"_test.go")
		can.files = append(can.files, goCanary(file, strings.TrimSuffix(dir.clause, "_test"), name))
		can.tests = append(can.tests, canaryTest{scope + name, scope, true})
	}
	if len(can.files) == 0 {
		dir := path.Join(r.Root, "zz"+word)
		can.files = []replay.File{goCanary(path.Join(dir, "zz_test.go"), "zz", name)}
		can.tests = []canaryTest{{"::" + name, "", true}}
		if len(c.Target) > 0 {
			can.targets = []string{dir}
		}
	}
	return can
}

func goCanary(file, clause, name string) replay.File {
	src := "package " + clause + "\n\nimport \"testing\"\n\nfunc " + name + "(t *testing.T) { t.Error(\"this test must fail\") }\n"
	return replay.File{Path: file, Mode: 0o644, Data: []byte(src)}
}

// goFolder is a folder with sealed Go tests, and the package clause of one of them.
type goFolder struct{ path, clause string }

func goFolders(c pipeline.Check) []goFolder {
	clauses := map[string]string{}
	for _, f := range c.Files {
		if !strings.HasSuffix(f.Path, "_test.go") || strings.Contains("/"+f.Path, "/testdata/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", []byte(f.Data), parser.PackageClauseOnly)
		if err == nil {
			clauses[path.Dir(f.Path)] = parsed.Name.Name
		}
	}
	var out []goFolder
	for dir, clause := range clauses {
		out = append(out, goFolder{dir, clause})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out
}

// importPath names the package in a folder of the tree.
func importPath(r replay.Recipe, dir string) string {
	rel := strings.Trim(strings.TrimPrefix(path.Clean(dir)+"/", strings.TrimSuffix(r.Root, "/")+"/"), "/")
	if r.Root == "" {
		rel = path.Clean(dir)
	}
	return path.Join(r.Module, rel)
}

// anyListed reports whether a list of the check holds a test whose id begins with scope.
func anyListed(c pipeline.Check, scope string) bool {
	for _, ids := range [][]string{c.FailToPass, c.PassToPass} {
		for _, id := range ids {
			if strings.HasPrefix(id, scope) {
				return true
			}
		}
	}
	return false
}

// plantPytest adds a failing test module beside the first one of the check, where the same conftest.py files hold, and
// named like it, so that the same settings collect it.
func plantPytest(r replay.Recipe, c pipeline.Check, word string) canary {
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	named := firstModule(c.Target)
	first := named
	if first == "" {
		first = firstModule(paths)
	}
	dir, name := r.Root, "test_zz"+word
	file := name + ".py"
	if first != "" {
		dir = path.Dir(first)
		if strings.HasSuffix(first, "_test.py") {
			file = "zz" + word + "_test.py"
		}
	}
	file = path.Join(dir, file)
	can := canary{
		files: []replay.File{{Path: file, Mode: 0o644, Data: []byte("def " + name + "():\n    assert False, \"this test must fail\"\n")}},
		tests: []canaryTest{{"::" + name, "", named != ""}},
	}
	switch {
	case named != "":
		can.targets = []string{file}
	case first != "" && dir != ".":
		// Everything runs: to name the canary would leave it the only one. It is collected if its neighbours are.
		can.tests[0].scope, can.tests[0].listed = dir+"/", true
	}
	return can
}

// firstModule returns the first path that pytest takes for a test module.
func firstModule(paths []string) string {
	for _, p := range paths {
		stem, ok := strings.CutSuffix(path.Base(p), ".py")
		if ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test")) {
			return p
		}
	}
	return ""
}

// sings says what is wrong with the canary; "" if every one failed as it must. One that is skipped or absent proves
// nothing where nothing passed: its package may not have built.
func (can canary) sings(c pipeline.Check, outcomes map[string]replay.Outcome) string {
	for _, t := range can.tests {
		o := replay.Missing
		for id, got := range outcomes {
			if strings.HasSuffix(id, t.suffix) {
				o = got
			}
		}
		switch {
		case o == replay.Pass:
			return "a test that must fail passed"
		case o == replay.Skip && anyPassed(c, t.scope, outcomes):
			return "a test that must fail was skipped while others passed"
		case o == replay.Missing && t.listed && anyPassed(c, t.scope, outcomes):
			return "a test that must fail is missing while others passed"
		}
	}
	return ""
}

// anyPassed reports whether a listed test whose id begins with scope passed.
func anyPassed(c pipeline.Check, scope string, outcomes map[string]replay.Outcome) bool {
	for _, ids := range [][]string{c.FailToPass, c.PassToPass} {
		for _, id := range ids {
			if strings.HasPrefix(id, scope) && outcomes[id] == replay.Pass {
				return true
			}
		}
	}
	return false
}
