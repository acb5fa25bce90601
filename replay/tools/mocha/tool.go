// Package mocha is the test tool Mocha, of any version, with a reporter of ours.
//
// Test ids are "path/of/test.js::describe > test"; of tests of one name the second ends in "#2". A failing hook is a failure of
// the tests that it keeps from running, or of the last that ran. It never takes what the package's own reporter prints.
package mocha

import (
	_ "embed"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
)

// Name of the tool in recipes.
const Name = "mocha"

const reportFile = "mocha.jsonl"

//go:embed reporter.js
var reporter string

// Tool runs Mocha.
type Tool struct{ node.Package }

// Name is "mocha".
func (Tool) Name() string { return Name }

// Find takes a package whose tests are Mocha's.
func (Tool) Find(t *project.Tree, paths []string) (string, error) { return node.Find(t, paths, Name) }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"mocha"} }

// CutShort is every test when the process ended in the middle of one.
func (Tool) CutShort(tests []replay.Test) []string { return node.CutShort(tests) }

// kept are the options that decide which tests there are and how they are loaded. Reporters, workers, retries, filters and watching
// are not among them.
var kept = node.Keep{
	Flags: []string{"--check-leaks", "--recursive", "--exit", "--async-only", "-A", "--allow-uncaught", "--delay", "--expose-gc", "--sort", "-S"},
	Values: []string{
		"--require", "-r", "--import", "--loader", "--experimental-loader", "--ui", "-u", "--timeout", "-t", "--timeouts", "--extension",
		"--file", "--config", "--opts", "--package", "--globals", "--global", "--ignore", "--exclude", "--spec", "--node-option", "-n", "--compilers",
	},
	Drops: []string{"--reporter", "-R", "--reporter-options", "--reporter-option", "-O", "--jobs", "-j", "--retries", "--grep", "-g", "--fgrep", "-f", "--slow", "-s"},
}

// Recipe makes the recipe of the package in root.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	env, err := node.Settings(t, root, Name, kept)
	if err != nil {
		return replay.Recipe{}, err
	}
	return node.Recipe(t, root, node.Extra{Runner: Name, Env: env})
}

// Steps runs the recipe's Build steps, then Mocha over the tests of the target, or those that the package's script or settings name.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	words, options := node.Words(r)
	args, files := kept.SplitFiles(words)
	if list := node.Files(r.Root, t.Paths, node.LooseTest); len(list) > 0 {
		files = list
	}
	run := node.Run{
		Package: "mocha", Bin: "mocha", Node: options, Report: reportFile, Reporter: node.ReporterHead + reporter, Each: true, Files: files,
	}
	return node.Steps(r, run, append([]string{"--reporter", "@reporter@"}, args...))
}

// Parse reads the report.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return node.Parse(r, res, Name, reportFile)
}
