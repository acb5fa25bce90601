// Package meson is the test tool of Meson: `meson test`, with the cases of GoogleTest's programs and the points of TAP as tests of their own
// where the project says that a test speaks so.
//
// Test ids are "target::name": the target of the program that a test starts ("meson" if it starts none of the project's), and the test's
// name; a case has GoogleTest's name in the name's place, a point of TAP follows the name after " > ". A small program (drive.py) configures, builds
// all that can be built, and starts the tests whose programs are there. It never lets Meson fetch anything.
package meson

import (
	_ "embed" // the program
	"regexp"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/native"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "meson"

//go:embed drive.py
var program string

// Tool runs meson test.
type Tool struct{ native.Package }

// Name is "meson".
func (Tool) Name() string { return Name }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"meson"} }

var descriptions = native.Descriptions{
	Marker: "meson.build",
	Starts: regexp.MustCompile(`(?m)^\s*project\s*\(`),
	Tests:  regexp.MustCompile(`(?m)^\s*test\s*\(`),
}

// Find takes a Meson project that declares tests.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	root, err := descriptions.Find(t, paths)
	return root, native.Without(t, err)
}

var (
	dependency = regexp.MustCompile(`\bdependency\s*\(\s*'([A-Za-z0-9_.+-]+)'`)
	tool       = regexp.MustCompile(`\bfind_program\s*\(\s*\[?\s*'([A-Za-z0-9_.+-]+)'`)
	comment    = regexp.MustCompile(`(?m)#[^\n']*$`)
)

// Recipe makes the recipe of the project in root. Install reads no file of the tree: the packages are named by the recipe.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	wants := native.Wants{}
	unread, err := descriptions.Each(t, root, func(_, text string) bool {
		text = comment.ReplaceAllString(text, "")
		for _, m := range dependency.FindAllStringSubmatch(text, -1) {
			wants.Add("pkg", m[1])
		}
		for _, m := range tool.FindAllStringSubmatch(text, -1) {
			if wants.Known("program", m[1]) { // others are mostly scripts of the tree
				wants.Add("program", m[1])
			}
		}
		return true
	})
	if err != nil {
		return replay.Recipe{}, err
	}
	list, notes := wants.Packages()
	args, err := options(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	plan := native.Plan{Root: root, Dir: native.Dir(t, root), Args: args}
	return replay.Recipe{
		Runner: Name, Root: root, Env: map[string]string{"NO_COLOR": "1"},
		Install: native.Install(list), Build: plan.Build(program), Notes: append(notes, unread...),
	}, nil
}

// Steps runs the recipe's Build steps, then the tests whose programs hold the target's files, or all.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step { return native.Test(r, t, program) }

// StepsByHand are the commands that a person would type.
func (Tool) StepsByHand(r replay.Recipe, _ replay.Target) []replay.Step {
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Dir: r.Root, Args: []string{"meson", "test", "-C", native.BuiltIn(r), "--no-rebuild", "--print-errorlogs"}})
}

// Parse reads the reports.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return native.Parse(r, res, readRun)
}
