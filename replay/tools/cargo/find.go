package cargo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Find finds the workspace: the one that most touched files are in, of those that have tests, else the root's, else the only one near the
// root.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	votes := map[string]int{}
	for _, p := range paths {
		if dir, ok := nearest(t, p); ok {
			votes[dir]++
		}
	}
	roots, read := map[string]int{}, readers(t)
	for dir, n := range votes {
		root, err := climb(t, dir, read)
		if err != nil {
			return "", err
		}
		roots[root] += n
	}
	list := slices.SortedFunc(maps.Keys(roots), func(a, b string) int {
		return cmp.Or(cmp.Compare(roots[b], roots[a]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if len(list) == 0 {
		if t.Has(manifestFile) {
			return "", nil
		}
		return only(t)
	}
	for _, root := range list {
		if root == "" {
			return "", nil
		}
		some, err := tested(t, root)
		if some || err != nil {
			return root, err
		}
	}
	if t.Has(manifestFile) { // what was touched measures or fuzzes the package, as a package of its own
		return "", nil
	}
	return list[0], nil
}

var (
	testCode = regexp.MustCompile("#\\[(?:[a-z_]+::)*(?:test|rstest|test_case|quickcheck)\\b|#\\[cfg\\((?:all\\()?test\\b|\\b(?:proptest|quickcheck)! ?\\{|(?m:^\\s*//[/!]\\s*```)")
	errFound = errors.New("found")
)

// tested reports whether there may be tests in a folder: in its sources, or as programs of their own.
func tested(t *project.Tree, root string) (bool, error) {
	inside := func(f string) bool {
		_, ok := below(root, f)
		return ok && (strings.HasSuffix(f, ".rs") || path.Base(f) == manifestFile)
	}
	err := t.Sources(inside, func(f replay.File) error {
		if testCode.Match(f.Data) || bytes.Contains(f.Data, []byte("[[test]]")) {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// nearest is the folder of the package that a file is in. A package that is data of tests is none.
func nearest(t *project.Tree, name string) (string, bool) {
	for dir := parent(path.Clean("/" + name)[1:]); ; dir = parent(dir) {
		if t.Has(path.Join(dir, manifestFile)) && !fixture(dir) {
			return dir, true
		}
		if dir == "" {
			return "", false
		}
	}
}

func fixture(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(p string) bool {
		switch p {
		case "tests", "testdata", "test-data", "test_data", "fixtures", "target", "vendor", "third_party", "node_modules":
			return true
		}
		return false
	})
}

// readers reads each workspace once: a thousand touched packages may be of one.
func readers(t *project.Tree) func(root string) (*workspace, error) {
	type answer struct {
		w   *workspace
		err error
	}
	known := map[string]answer{}
	return func(root string) (*workspace, error) {
		a, ok := known[root]
		if !ok {
			a.w, a.err = readWorkspace(t, root)
			known[root] = a
		}
		return a.w, a.err
	}
}

// climb goes from a package to the root of its workspace.
func climb(t *project.Tree, dir string, read func(string) (*workspace, error)) (string, error) {
	m, err := readManifest(t, dir)
	if err != nil {
		return "", err
	}
	if sub(m, "workspace") != nil {
		return dir, nil
	}
	if up, ok := sub(m, "package")["workspace"].(string); ok {
		if root, in := project.Inside(dir, up); in && t.Has(path.Join(root, manifestFile)) {
			return root, nil
		}
	}
	for up := dir; up != ""; {
		up = parent(up)
		w, err := read(up)
		if errors.As(err, new(project.ErrNoRecipe)) {
			continue // no workspace, or one that nobody can compile
		}
		if err != nil {
			return "", err
		}
		if sub(w.top, "workspace") != nil && slices.ContainsFunc(w.members, func(m member) bool { return m.dir == dir }) {
			return up, nil
		}
	}
	return dir, nil
}

// only is the workspace nearest to the root if there is one at that depth only.
func only(t *project.Tree) (string, error) {
	var found []string
	depth, rust := 0, false
	for f := range t.Files() {
		rust = rust || strings.HasSuffix(f, ".rs")
		dir := parent(f)
		if path.Base(f) != manifestFile || fixture(dir) {
			continue
		}
		switch n := strings.Count(dir, "/"); {
		case len(found) == 0 || n < depth:
			found, depth = []string{dir}, n
		case n == depth:
			found = append(found, dir)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", project.ErrNoRecipe{Reason: fmt.Sprintf("%d packages of Rust and none at the root", len(found))}
	case rust:
		return "", project.ErrNoRecipe{Reason: "Rust without a manifest of cargo"}
	}
	return "", project.ErrNoRecipe{Reason: "no package of Rust"}
}
