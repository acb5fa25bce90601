// Package unittest is Python's own test tool, for projects that do without pytest.
//
// Python brings no machine-readable report for it, so a small program (runner.py) runs unittest and writes one: a line of JSON for
// each test that starts and ends. Test ids are as pytest's would be, "tests/test_a.py::TestC::test_x"; what a subtest does counts for its
// test. It takes a project only where nothing speaks of pytest, and never reads the console where the report says the same.
package unittest

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/narrow"
	"sluice/replay/tools/project"
	"sluice/replay/tools/python"
	"sluice/replay/tools/python/pynarrow"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "unittest"

const reportFile = "unittest.jsonl"

// program runs the tests. It is part of the test step and so of the key of every run.
//
//go:embed runner.py
var program string

// Tool runs unittest.
type Tool struct{ python.Project }

// Name is "unittest".
func (Tool) Name() string { return Name }

// Recipe makes the recipe of the project in root: what it asks for, and no test tool. Of a Django project it names the settings.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	settings, err := python.Django(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	x := python.Extra{Runner: Name}
	if settings != "" {
		x.Env = map[string]string{settingsVariable: settings}
	}
	r, err := python.Recipe(t, root, x)
	if settings != "" {
		r.Notes = append(r.Notes, "Django's own databases of tests are made; a server's database is replaced by SQLite in memory")
	}
	return r, err
}

// settingsVariable is how Django, and the program, are told which settings to take.
const settingsVariable = "DJANGO_SETTINGS_MODULE"

// Steps runs the recipe's Build steps, then the program, over the test files of the target or all that it finds.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	args := append(python.Command(r), "-c", program, "{out}/"+reportFile)
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Args: append(args, files(r.Root, t.Paths)...), Dir: r.Root})
}

// StepsByHand is the command that a person would type.
func (Tool) StepsByHand(r replay.Recipe, t replay.Target) []replay.Step {
	args := append(python.Command(r), "-m", "unittest")
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Args: append(args, files(r.Root, t.Paths)...), Dir: r.Root})
}

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"unittest"} }

// files keeps the test files of a target, named from the project's folder. Helpers cannot be run themselves: if there is nothing else,
// everything runs.
func files(root string, paths []string) []string {
	var list []string
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		below, ok := strings.CutPrefix(clean, root+"/")
		if root == "" {
			below, ok = clean, true
		}
		if ok && testFile(path.Base(clean)) {
			list = append(list, below)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// testFile goes by the name of a file; the program does too when it looks for tests.
func testFile(base string) bool {
	stem, ok := strings.CutSuffix(base, ".py")
	return ok && (strings.HasPrefix(stem, "test") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests"))
}

// CutShort is every test when the interpreter ended in the middle of one: all run in one process.
func (Tool) CutShort(tests []replay.Test) []string {
	if slices.ContainsFunc(tests, func(t replay.Test) bool { return t.Kind == replay.Crash || t.Outcome == replay.TimedOut }) {
		return []string{""}
	}
	return nil
}

// Narrow drops what cannot be imported.
func (Tool) Narrow(files map[string][]byte, output string) narrow.Edit {
	return pynarrow.Narrow(files, importErrors(output))
}
