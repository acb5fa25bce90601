// Package pytest is Python's usual test tool, with a JUnit report.
//
// Test ids are pytest's node ids, relative to the tree. It takes every Python project; tools that know better of a project come before it
// in the table. It never reads the console for outcomes, only to doubt the report.
package pytest

import (
	"path"
	"sort"
	"strings"

	"sluice/replay"
	"sluice/replay/narrow"
	"sluice/replay/tools/project"
	"sluice/replay/tools/python"
	"sluice/replay/tools/python/pynarrow"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "pytest"

// Tool runs pytest with a JUnit report.
type Tool struct{ python.Project }

// Name is "pytest".
func (Tool) Name() string { return Name }

// Find takes every Python project.
func (Tool) Find(t *project.Tree, paths []string) (string, error) { return python.Root(t, paths) }

// Recipe makes the recipe of the project in root. What its configuration cannot do without goes along; what that says about
// reports and order does not.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	cfg, err := configuration(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	x := python.Extra{Runner: Name, Plugins: cfg.plugins, Tool: "pytest"}
	r, err := python.Recipe(t, root, x)
	if err != nil {
		return r, err
	}
	if !cfg.names {
		odd, err := oddFiles(t, root)
		if err != nil {
			return r, err
		}
		if len(odd) > 0 {
			cfg.addopts = append(cfg.addopts, "-o", "python_files="+strings.Join(odd, " "))
		}
	}
	if words := withoutRetries(cfg.addopts, python.Required(r)); len(words) > 0 {
		r.Env["PYTEST_ADDOPTS"] = quoteWords(words)
	}
	return r, nil
}

// CommandWords are in every command that runs the tests with a report.
func (Tool) CommandWords() []string { return []string{"pytest", "--junitxml"} }

// Narrow drops what cannot be imported when pytest collects.
func (Tool) Narrow(files map[string][]byte, output string) narrow.Edit {
	return pynarrow.Narrow(files, collectionErrors(output))
}

// Steps runs the recipe's Build steps, then pytest, under the interpreter of the recipe's VIRTUAL_ENV if it has one.
//
// The project's addopts are switched off: they ask for coverage, workers, retries and reports of their own, which
// change the exit code and the order. What a project cannot do without (an import mode, markers) is for the recipe to
// put into PYTEST_ADDOPTS. Random order is switched off, the cache of an earlier run is not used, and node ids are made relative to the
// step's folder. Every path must exist: pytest runs nothing if one does not.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	args := append(python.Command(r),
		"-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts=",
		"-o", "junit_family=xunit1", "--junitxml={out}/"+junitFile, "--rootdir=.", "--continue-on-collection-errors",
	)
	if paths := pyPaths(r.Root, t.Paths); len(paths) > 0 {
		args = append(args, paths...)
	}
	steps := append([]replay.Step{}, r.Build...)
	return append(steps, replay.Step{Name: report.StepTest, Args: args, Dir: r.Root})
}

// pyPaths keeps the test modules of a target. Helpers (conftest.py, data, plain modules) cannot be run themselves: if
// there is nothing else, everything runs.
func pyPaths(root string, paths []string) []string {
	seen := map[string]bool{}
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		if pyTestModule(path.Base(clean)) {
			seen[project.Relative(root, clean)] = true
		}
	}
	var list []string
	for p := range seen {
		list = append(list, p)
	}
	sort.Strings(list)
	return list
}

func pyTestModule(base string) bool {
	stem, ok := strings.CutSuffix(base, ".py")
	return ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") ||
		strings.HasSuffix(stem, "_tests") || stem == "test" || stem == "tests")
}
