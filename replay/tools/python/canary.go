package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/project"
)

// Neighbours are the modules of tests of the recipe's project.
func (Project) Neighbours(t *project.Tree, r replay.Recipe) []string {
	var out []string
	for f := range t.Files() {
		if runnable(f) && project.Within(r.Root, f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// isModule reports whether pytest takes a path for a test module.
func isModule(p string) bool {
	stem, ok := strings.CutSuffix(path.Base(p), ".py")
	return ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test"))
}

// runnable reports whether pytest runs a path as a module of tests when it is named.
func runnable(p string) bool {
	stem, ok := strings.CutSuffix(path.Base(p), ".py")
	return isModule(p) || ok && (strings.HasSuffix(stem, "_tests") || stem == "test" || stem == "tests")
}

// canaryPath names a module beside another one, where the same conftest.py files hold, and like it, so that the same settings collect it.
// It ends in ".py".
func canaryPath(beside, word string) string {
	if strings.HasSuffix(beside, "_test.py") {
		return path.Join(path.Dir(beside), "zz"+word+"_test.py")
	}
	return path.Join(path.Dir(beside), "test_zz"+word+".py")
}

// Canaries lays modules beside those of the target, or beside any that pytest collects by itself. All run in one process, so one of them is
// enough for that. class is the class in which write's text has the tests, with "::"; "" for functions.
func Canaries(q canary.Request, class string, write func(q canary.Request, names []string) string) []canary.File {
	var beside []string
	for _, t := range q.Target {
		if runnable(t) {
			beside = append(beside, path.Clean(t))
		}
	}
	named := len(beside) > 0
	for _, f := range q.Files {
		if !named && isModule(f.Path) {
			beside = append(beside, f.Path)
		}
	}
	alone := len(beside) == 0 && len(q.Files) == 0
	if alone {
		beside = []string{path.Join(q.Recipe.Root, "test.py")}
	}
	var names []string
	for _, t := range q.Tests {
		names = append(names, "test_zz"+q.Word+t.Part)
	}
	text := write(q, names)
	q.Max = max(1, q.Max)
	var out []canary.File
	for _, b := range canary.Places(q, firstOfFolders(beside)) {
		// Two modules of one name in two folders would be one for pytest.
		f := canary.File{File: canary.Text(canaryPath(b, fmt.Sprint(q.Word, len(out))), text), Names: names, Only: b, Broken: unloadable(b, q.Word)}
		for _, n := range names {
			f.Ends = append(f.Ends, path.Base(f.Path)+"::"+class+n)
		}
		switch dir := path.Dir(b); {
		case named:
			f.Target, f.Listed = f.Path, true
		case !alone && dir != ".":
			// Everything runs: to name ours would leave them the only ones. They are collected if their neighbours are.
			f.Beside, f.Listed = canary.Below(dir+"/"), true
		}
		out = append(out, f)
	}
	return out
}

// firstOfFolders is the first path of each folder.
func firstOfFolders(paths []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		again := seen[path.Dir(p)]
		seen[path.Dir(p)] = true
		return again
	})
}

func unloadable(file, word string) replay.File {
	return canary.Text(file, "raise RuntimeError(\"zz"+word+"\")\n")
}

// Unloadable is a module that raises an error.
func (Project) Unloadable(file, word string) replay.File { return unloadable(file, word) }
