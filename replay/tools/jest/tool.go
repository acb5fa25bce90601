// Package jest is the test tool Jest, of any version, with a reporter of ours.
//
// Test ids are "path/of/a.test.js::describe > test"; of tests of one name the second ends in "#2". A snapshot that a test wants and
// the tree lacks is a failure. It never takes what the package's own reporters print.
package jest

import (
	_ "embed"

	"sluice/replay"
	"sluice/replay/tools/node"
	"sluice/replay/tools/project"
)

// Name of the tool in recipes.
const Name = "jest"

const reportFile = "jest.jsonl"

//go:embed reporter.js
var reporter string

// Tool runs Jest.
type Tool struct{ node.Package }

// Name is "jest".
func (Tool) Name() string { return Name }

// Find takes a package whose tests are Jest's.
func (Tool) Find(t *project.Tree, paths []string) (string, error) { return node.Find(t, paths, Name) }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"jest"} }

// CutShort is every test when the process ended in the middle of one.
func (Tool) CutShort(tests []replay.Test) []string { return node.CutShort(tests) }

// kept are the options that decide which tests there are and how they are loaded. Reporters, workers, filters, coverage and watching are
// not among them.
var kept = node.Keep{
	Flags: []string{"--injectGlobals", "--resetModules", "--resetMocks", "--restoreMocks", "--clearMocks", "--no-cache", "--automock", "--browser"},
	Values: []string{
		"--config", "-c", "--env", "--testEnvironment", "--rootDir", "--roots", "--preset", "--projects", "--setupFilesAfterEnv", "--setupFiles",
		"--testRunner", "--testTimeout", "--selectProjects", "--testMatch", "--testRegex", "--transform", "--modulePathIgnorePatterns",
		"--testPathIgnorePatterns", "--ignoreProjects", "--globals", "--setupTestFrameworkScriptFile",
	},
	Drops: []string{
		"--reporters", "--maxWorkers", "-w", "--testNamePattern", "-t", "--outputFile", "--coverageDirectory", "--coverageReporters", "--collectCoverageFrom",
		"--changedSince", "--shard", "--testPathPattern", "--testPathPatterns", "--testResultsProcessor",
	},
}

// Recipe makes the recipe of the package in root.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	env, err := node.Settings(t, root, Name, kept)
	if err != nil {
		return replay.Recipe{}, err
	}
	return node.Recipe(t, root, node.Extra{Runner: Name, Env: env})
}

// Steps runs the recipe's Build steps, then Jest in one process over the tests of the target, or all.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	words, options := node.Words(r)
	args, _ := kept.SplitFiles(words)
	args = append(args, "--ci", "--runInBand", "--forceExit", "--coverage=false", "--watchAll=false", "--bail=0", "--reporters=@reporter@")
	run := node.Run{Package: "jest", Bin: "jest", Node: options, Report: reportFile, Reporter: node.ReporterHead + reporter, Ext: ".js"}
	if list := node.Files(r.Root, t.Paths, node.StrictTest); len(list) > 0 {
		args, run.Files = append(args, "--runTestsByPath"), list
	}
	return node.Steps(r, run, args)
}

// Parse reads the report.
func (Tool) Parse(r replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	return node.Parse(r, res, Name, reportFile)
}
