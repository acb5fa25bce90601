package pytest

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// What makes a file one of tests, where its name is not what pytest looks for: a word in its name, and a test in it.
var (
	testWord = regexp.MustCompile(`(?i)test`)
	holdsOne = regexp.MustCompile(`(?m)^class \w+\(.*TestCase\b.*\):|^(?:async )?def test_\w+\(`)
	plain    = regexp.MustCompile(`^[\w-]{1,80}\.py$`)
)

// maxOdd bounds the names that a recipe gives pytest.
const maxOdd = 50

// oddFiles are names of the project's test files, sorted, if pytest would find no file of tests by its own rule. Such projects have a
// program that runs them.
func oddFiles(t *project.Tree, root string) ([]string, error) {
	below := func(p string) bool {
		return project.Within(root, p) && path.Ext(p) == ".py"
	}
	for f := range t.Files() {
		if base := path.Base(f); below(f) && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py")) {
			return nil, nil
		}
	}
	var names []string
	odd := func(p string) bool {
		return below(p) && testWord.MatchString(p) && plain.MatchString(path.Base(p)) && path.Base(p) != "setup.py"
	}
	err := t.Sources(odd, func(f replay.File) error {
		if holdsOne.Match(f.Data) {
			names = append(names, path.Base(f.Path))
		}
		return nil
	})
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxOdd)], err
}
