// Package nodetest is the test tool that comes with node, from version 18.15 on, with a reporter of ours.
//
// Test ids are "path/of/test.js::describe > test"; of tests of one name the second ends in "#2". A failing hook is a failure of
// the tests that it keeps from running, or of the last that ran. It never takes what the package's own reporter prints.
package nodetest

import (
	_ "embed"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
)

// Name of the tool in recipes.
const Name = "nodetest"

const reportFile = "nodetest.jsonl"

//go:embed reporter.js
var reporter string

// Tool runs node.
type Tool struct{ node.Package }

// Name is "nodetest".
func (Tool) Name() string { return Name }

// Find takes a package whose tests are node's.
func (Tool) Find(t *project.Tree, paths []string) (string, error) { return node.Find(t, paths, Name) }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"node", "--test"} }

// kept are the options that decide how tests are loaded. Coverage, filters, watching and other reporters are not among them. borp is a
// program around node's tool: the patterns after its -p are files.
var kept = node.Keep{
	Flags: []string{"--expose-gc", "--no-warnings", "--enable-source-maps", "--experimental-strip-types", "--experimental-test-module-mocks",
		"--experimental-vm-modules", "--experimental-sqlite", "--test-force-exit", "--test-only", "--experimental-transform-types"},
	Values: []string{"--import", "--require", "-r", "--loader", "--experimental-loader", "--conditions", "-C", "--test-isolation", "--experimental-test-isolation"},
	Drops: []string{"--test-reporter", "--test-reporter-destination", "--test-name-pattern", "--test-concurrency", "--test-shard", "--timeout", "-t",
		"--concurrency", "-c", "--reporter"},
}

// Recipe makes the recipe of the package in root.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	env, err := node.Settings(t, root, Name, kept)
	if err != nil {
		return replay.Recipe{}, err
	}
	return node.Recipe(t, root, node.Extra{Runner: Name, Env: env})
}

// Steps runs the recipe's Build steps, then node over the tests of the target, or those that the package's script names, else all that it
// finds, a process for each file.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	words, options := node.Words(r)
	args, files := kept.SplitFiles(words)
	if list := node.Files(r.Root, t.Paths, node.LooseTest); len(list) > 0 {
		files = list
	}
	args = slices.Concat(options, args, []string{"--test", "--test-reporter=@reporter@", "--test-reporter-destination=stdout"})
	run := node.Run{Report: reportFile, Reporter: node.ReporterHead + reporter, Files: files, Glob: true}
	return node.Steps(r, run, args)
}

// Parse reads the report.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return node.Parse(r, res, Name, reportFile)
}
