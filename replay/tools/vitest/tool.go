// Package vitest is the test tool Vitest, of any version, with a reporter of ours.
//
// Test ids are "path/of/a.test.js::describe > test"; of tests of one name the second ends in "#2". A snapshot that a test wants and
// the tree lacks is a failure. It never takes what the package's own reporters print.
package vitest

import (
	_ "embed"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
)

// Name of the tool in recipes.
const Name = "vitest"

const reportFile = "vitest.jsonl"

//go:embed reporter.js
var reporter string

// Tool runs Vitest.
type Tool struct{ node.Package }

// Name is "vitest".
func (Tool) Name() string { return Name }

// Find takes a package whose tests are Vitest's.
func (Tool) Find(t *project.Tree, paths []string) (string, error) { return node.Find(t, paths, Name) }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"vitest"} }

// kept are the options that decide which tests there are and how they are loaded. Reporters, workers, filters, coverage and watching are
// not among them.
var kept = node.Keep{
	Flags:  []string{"--globals", "--dom", "--no-isolate", "--isolate", "--no-threads", "--threads", "--single-thread", "--no-file-parallelism", "--passWithNoTests"},
	Values: []string{"--config", "-c", "--root", "-r", "--dir", "--environment", "--pool", "--project", "--mode", "--testTimeout", "--hookTimeout", "--exclude", "--workspace"},
	Drops:  []string{"--reporter", "--outputFile", "--testNamePattern", "-t", "--shard", "--maxWorkers", "--minWorkers", "--coverage.reporter", "--bail", "--retry"},
}

// Recipe makes the recipe of the package in root.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	env, err := node.Settings(t, root, Name, kept)
	if err != nil {
		return replay.Recipe{}, err
	}
	return node.Recipe(t, root, node.Extra{Runner: Name, Env: env})
}

// Steps runs the recipe's Build steps, then Vitest over the tests of the target, or all.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	words, options := node.Words(r)
	args, _ := kept.SplitFiles(words)
	args = append([]string{"run", "--no-color", "--reporter=@reporter@", "--coverage.enabled=false"}, args...)
	run := node.Run{Package: "vitest", Bin: "vitest", Node: options, Report: reportFile, Reporter: node.ReporterHead + reporter}
	run.Files = node.Files(r.Root, t.Paths, node.StrictTest)
	return node.Steps(r, run, args)
}

// Parse reads the report.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return node.Parse(r, res, Name, reportFile)
}
