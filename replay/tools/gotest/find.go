package gotest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"sluice/replay/tools/project"
)

// Find finds the module that most touched files are in, or the workspace when they are in several of its modules; else what lies
// at the root, else the module with the most test files. Files that the go command passes over choose nothing.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), ignoredByGo)
	if root, ok, err := spanning(t, paths); ok || err != nil {
		return root, err
	}
	if root, ok := t.Nearest(paths, "go.mod"); ok {
		return root, nil
	}
	if t.Has("go.mod") || t.Has("go.work") || hasOldCode(t, paths) {
		return "", nil
	}
	if m := modules(t); len(m) > 0 {
		return m[0], nil
	}
	if hasOldCode(t, nil) {
		return "", nil
	}
	return "", project.ErrNoRecipe{Reason: "no Go module"}
}

// spanning finds the workspace of files that lie in more than one of its modules.
func spanning(t *project.Tree, paths []string) (root string, ok bool, err error) {
	touched := map[string]bool{}
	for _, p := range paths {
		if m, ok := t.Nearest([]string{p}, "go.mod"); ok && strings.HasSuffix(p, ".go") {
			touched[m] = true
		}
	}
	if len(touched) < 2 {
		return "", false, nil
	}
	root, ok = t.Nearest(paths, "go.work")
	if !ok {
		return "", false, nil
	}
	used, err := usedBy(t, root)
	n := 0
	for _, u := range used {
		if touched[u] {
			n++
		}
	}
	return root, n > 1, err
}

// modules are the folders of modules; the one with the most test files first.
func modules(t *project.Tree) []string {
	tests := map[string]int{}
	for f := range t.Files() {
		if path.Base(f) == "go.mod" && !ignoredByGo(f) {
			tests[path.Dir(f)] += 0
		}
	}
	for f := range t.Files() {
		if !strings.HasSuffix(f, "_test.go") || ignoredByGo(f) {
			continue
		}
		for d := path.Dir(f); d != "."; d = path.Dir(d) {
			if _, is := tests[d]; is {
				tests[d]++
				break
			}
		}
	}
	var list []string
	for d := range tests {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b string) int {
		if c := tests[b] - tests[a]; c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return list
}

// hasOldCode says that one of the paths, or of all files, is Go code that no module holds.
func hasOldCode(t *project.Tree, paths []string) bool {
	old := func(f string) bool {
		_, module := t.Nearest([]string{f}, "go.mod")
		return strings.HasSuffix(f, ".go") && !ignoredByGo(f) && t.Has(f) && !module
	}
	if len(paths) > 0 {
		return slices.ContainsFunc(paths, old)
	}
	for f := range t.Files() {
		if old(f) {
			return true
		}
	}
	return false
}

// ignoredByGo says that the go command does not look into a file's folder.
func ignoredByGo(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(p string) bool {
		return p == "vendor" || p == "testdata" || len(p) > 1 && (p[0] == '_' || p[0] == '.')
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
	if len(names) == 0 && hasOldCode(t, nil) {
		s, err := readSource(t, "")
		if err != nil {
			return nil, err
		}
		name, err := importPath(t, s)
		if err != nil {
			return nil, fmt.Errorf("looking for the project's import path: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}
