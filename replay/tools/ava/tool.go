// Package ava is the test tool AVA, whose TAP is read for one file after the other: of several files it shortens their names.
//
// Test ids are "path/of/test.js::title"; of tests of one name the second ends in "#2". A hook that fails before all tests breaks its file,
// since AVA does not say which tests it kept from running. A file that ends its process is broken too.
package ava

import (
	_ "embed"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
)

// Name of the tool in recipes.
const Name = "ava"

const reportFile = "ava.jsonl"

//go:embed tap.js
var reader string

// Tool runs AVA.
type Tool struct{ node.Package }

// Name is "ava".
func (Tool) Name() string { return Name }

// Find takes a package whose tests are AVA's.
func (Tool) Find(t *project.Tree, paths []string) (string, error) { return node.Find(t, paths, Name) }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"ava"} }

// kept are the options that decide which tests there are and how they are loaded.
var kept = node.Keep{
	Flags:  []string{"--serial", "-s", "--no-worker-threads"},
	Values: []string{"--config", "--timeout", "-T", "--node-arguments"},
	Drops:  []string{"--concurrency", "-c", "--match", "-m"},
}

// usual are where AVA looks for tests of itself.
var usual = []string{
	"{test,src/test,source/test}.{js,cjs,mjs,ts}", "**/test-*.{js,cjs,mjs,ts}", "**/*.{spec,test}.{js,cjs,mjs,ts}",
	"**/{test,tests,__tests__}/**/*.{js,cjs,mjs,ts}",
}

// Recipe makes the recipe of the package in root.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	env, err := node.Settings(t, root, Name, kept)
	if err != nil {
		return replay.Recipe{}, err
	}
	return node.Recipe(t, root, node.Extra{Runner: Name, Env: env})
}

// Steps runs the recipe's Build steps, then AVA over the tests of the target, or those that the package's script names, or those in the usual
// places, one after the other.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	words, options := node.Words(r)
	args, files := kept.SplitFiles(words)
	if list := node.Files(r.Root, t.Paths, node.LooseTest); len(list) > 0 {
		files = list
	}
	if len(files) == 0 {
		files = usual
	}
	run := node.Run{Package: "ava", Bin: "ava", Node: options, Report: reportFile, Reporter: node.ReporterHead + reader, Read: true, Glob: true, Files: files}
	return node.Steps(r, run, append([]string{"--tap"}, args...))
}

// Parse reads the report.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return node.Parse(r, res, Name, reportFile)
}
