package evaluate

import (
	"path"
	"strings"

	"sluice/pipeline"
	"sluice/pipeline/canary"
	"sluice/replay"
)

// planted is tests that must fail, laid among the sealed ones. A patch that makes the test tool report passes whatever
// happens makes them pass too, or loses them.
type planted struct {
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

// plant makes the canary of a check: none for a tool of which package canary writes no tests. word is hard to guess, so that a patch cannot
// know the tests by name.
func plant(r replay.Recipe, c pipeline.Check, word string) planted {
	switch r.Runner {
	case "gotest":
		return plantGo(r, c, word)
	case "pytest", "unittest":
		return plantPytest(r, c, word)
	}
	return planted{}
}

// plantGo adds a failing test to every package that has sealed and listed tests: the package's own code runs in the same
// process, so a forger in it cannot tell them apart. Without such a package the canary gets one of its own.
func plantGo(r replay.Recipe, c pipeline.Check, word string) planted {
	var can planted
	fails := canary.Test{Name: "TestZz" + word, Fails: true}
	var sealed []replay.File
	for _, f := range c.Files {
		sealed = append(sealed, replay.File{Path: f.Path, Data: []byte(f.Data)})
	}
	for _, dir := range canary.Folders(sealed) {
		scope := importPath(r, dir.Path) + "::"
		if !anyListed(c, scope) {
			continue
		}
		can.files = append(can.files, canary.Go(canary.GoFile(dir.Path, word), dir.Clause, fails))
		can.tests = append(can.tests, canaryTest{scope + fails.Name, scope, true})
	}
	if len(can.files) == 0 {
		dir := path.Join(r.Root, "zz"+word)
		can.files = []replay.File{canary.Go(path.Join(dir, "zz_test.go"), "zz", fails)}
		can.tests = []canaryTest{{"::" + fails.Name, "", true}}
		if len(c.Target) > 0 {
			can.targets = []string{dir}
		}
	}
	return can
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

// plantPytest adds a failing test module beside the first one of the check.
func plantPytest(r replay.Recipe, c pipeline.Check, word string) planted {
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	named := canary.FirstModule(c.Target)
	first := named
	if first == "" {
		first = canary.FirstModule(paths)
	}
	beside := first
	if beside == "" {
		beside = path.Join(r.Root, "test.py")
	}
	file, fails := canary.PythonFile(beside, word), canary.Test{Name: "test_zz" + word, Fails: true}
	can := planted{files: []replay.File{canary.Writer(r.Runner)(file, fails)}, tests: []canaryTest{{"::" + fails.Name, "", named != ""}}}
	switch dir := path.Dir(first); {
	case named != "":
		can.targets = []string{file}
	case first != "" && dir != ".":
		// Everything runs: to name the canary would leave it the only one. It is collected if its neighbours are.
		can.tests[0].scope, can.tests[0].listed = dir+"/", true
	}
	return can
}

// sings says what is wrong with the canary; "" if every one failed as it must. One that is skipped or absent proves
// nothing where nothing passed: its package may not have built.
func (can planted) sings(c pipeline.Check, outcomes map[string]replay.Outcome) string {
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
