// Package ctest is the test tool of CMake: ctest, with the cases of GoogleTest's programs as tests of their own.
//
// Test ids are "target::name": the target of the program that a test starts ("ctest" if it starts none of the project's), and the name
// that CMake or GoogleTest knows the test by. A small program (drive.py) configures, builds all that can be built, and runs ctest, whose
// JUnit report is read; a program that ends before its report is run once for each case. It needs CMake 3.21. It never asks the
// network for what a project fetches.
package ctest

import (
	_ "embed" // the program
	"slices"

	"sluice/replay"
	"sluice/replay/tools/native"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "ctest"

//go:embed drive.py
var program string

// Tool runs ctest.
type Tool struct{ native.Package }

// Name is "ctest".
func (Tool) Name() string { return Name }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"ctest"} }

// Find takes a CMake project that declares tests.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	root, err := descriptions.Find(t, paths)
	return root, native.Without(t, err)
}

// Recipe makes the recipe of the project in root. Install reads no file of the tree: the packages are named by the recipe.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	d, err := read(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	list, notes := d.wants.Packages()
	plan := native.Plan{Root: root, Dir: native.Dir(t, root), Args: d.args(), Googletest: d.googletest}
	return replay.Recipe{
		Runner: Name, Root: root, Env: map[string]string{"CTEST_OUTPUT_ON_FAILURE": "1", "CMAKE_COLOR_DIAGNOSTICS": "OFF"},
		Install: native.Install(list), Build: plan.Build(program), Notes: append(notes, d.notes()...),
	}, nil
}

// Steps runs the recipe's Build steps, then the tests whose programs hold the target's files, or all.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step { return native.Test(r, t, program) }

// StepsByHand are the commands that a person would type.
func (Tool) StepsByHand(r replay.Recipe, _ replay.Target) []replay.Step {
	dir := native.BuiltIn(r)
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Dir: r.Root, Args: []string{"ctest", "--test-dir", dir, "--output-on-failure"}})
}

// Parse reads the reports.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return native.Parse(r, res, readRun)
}
