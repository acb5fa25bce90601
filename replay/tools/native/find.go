package native

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// Descriptions says which files describe builds of a kind.
type Descriptions struct {
	Marker string         // file of a project's folder: CMakeLists.txt
	Ext    string         // of other files with the same language: .cmake; "" is none
	Starts *regexp.Regexp // what the topmost one of a project holds
	Tests  *regexp.Regexp // what declares a test
}

// maxDescriptions bounds the files that are read for what they declare.
const maxDescriptions = 2000

// Find names the folder of the project that most of the paths are in: of the folders with a description above a path the topmost that
// starts a project. Without one it is the tree's root, or the only project.
func (d Descriptions) Find(t *project.Tree, paths []string) (string, error) {
	roots, err := d.roots(t)
	if err != nil {
		return "", err
	}
	root, err := d.choose(roots, paths)
	if err != nil {
		return "", err
	}
	found := false
	notes, err := d.Each(t, root, func(_, text string) bool {
		found = found || d.Tests.MatchString(text)
		return !found
	})
	if err == nil && !found {
		err = project.ErrNoRecipe{Reason: strings.Join(append([]string{d.Marker + " declares no test"}, notes...), "; ")}
	}
	return root, err
}

// roots are the folders of projects that are in no other, sorted. If too many files would have to be read to know them, that is an ErrNoRecipe.
func (d Descriptions) roots(t *project.Tree) ([]string, error) {
	var all []string
	for f := range t.Files() {
		if path.Base(f) == d.Marker {
			all = append(all, project.Dir(f))
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if n := strings.Count(a, "/") - strings.Count(b, "/"); n != 0 && a != "" && b != "" {
			return n
		}
		return strings.Compare(a, b)
	})
	var roots []string
	read := 0
	for _, dir := range all {
		if slices.ContainsFunc(roots, func(r string) bool { return project.Within(r, dir) }) {
			continue
		}
		if read++; read > maxDescriptions {
			return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("more than %d folders with %s are in no project: which ones start one is not looked for", maxDescriptions, d.Marker)}
		}
		text, err := t.Read(path.Join(dir, d.Marker))
		if err != nil {
			return nil, err
		}
		if d.Starts.MatchString(text) {
			roots = append(roots, dir)
		}
	}
	return roots, nil
}

func (d Descriptions) choose(roots, paths []string) (string, error) {
	votes := map[string]int{}
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		for _, r := range roots {
			if project.Within(r, clean) {
				votes[r]++
				break
			}
		}
	}
	best := ""
	for _, r := range roots { // in order: the nearest to the root of those with as many
		if votes[r] > votes[best] {
			best = r
		}
	}
	switch {
	case votes[best] > 0:
		return best, nil
	case len(roots) == 0:
		return "", project.ErrNoRecipe{Reason: "no " + d.Marker + " starts a project"}
	case len(roots) > 1 && !slices.Contains(roots, ""):
		return "", project.ErrNoRecipe{Reason: fmt.Sprintf("%d projects with %s and none at the root", len(roots), d.Marker)}
	}
	return roots[0], nil
}

// Each calls f with the descriptions of the project in a folder, in order, until it returns false. A note says how many it left unread.
func (d Descriptions) Each(t *project.Tree, root string, f func(name, text string) bool) (notes []string, err error) {
	var names []string
	for n := range t.Files() {
		if project.Within(root, n) && (path.Base(n) == d.Marker || d.Ext != "" && path.Ext(n) == d.Ext) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names[:min(len(names), maxDescriptions)] {
		text, err := t.Read(n)
		if err != nil {
			return nil, err
		}
		if !f(n, text) {
			return nil, nil
		}
	}
	if len(names) > maxDescriptions {
		notes = []string{fmt.Sprintf("of %d files that describe the build the first %d are read", len(names), maxDescriptions)}
	}
	return notes, nil
}

// Without explains a tree without a project by what it has instead.
func Without(t *project.Tree, err error) error {
	var none project.ErrNoRecipe
	if errors.As(err, &none) && t.HasAny("", []string{"configure.ac", "configure.in", "configure"}) {
		none.Reason += "; builds by configure and make are not known"
		return none
	}
	return err
}
