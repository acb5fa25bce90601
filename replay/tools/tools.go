// Package tools is the table of the test tools that sluice can run, and what is asked of all of them: whose a tree is, which
// runs the files of a change, what a recipe is sealed with.
//
// A tool is a folder below this one and a row of the table; see docs/tools.md. Detection is a function of the tree: it runs nothing,
// asks no network and reads no clock, so one tree always has one recipe. Nobody outside of replay names a tool's folder.
package tools

import (
	"fmt"
	"slices"
	"time"

	"sluice/replay"
	"sluice/replay/narrow"
	"sluice/replay/tools/ava"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/cargo"
	"sluice/replay/tools/ctest"
	"sluice/replay/tools/gotest"
	"sluice/replay/tools/gradle"
	"sluice/replay/tools/jest"
	"sluice/replay/tools/maven"
	"sluice/replay/tools/meson"
	"sluice/replay/tools/mocha"
	"sluice/replay/tools/nodetest"
	"sluice/replay/tools/project"
	"sluice/replay/tools/pytest"
	"sluice/replay/tools/report"
	"sluice/replay/tools/testid"
	"sluice/replay/tools/unittest"
	"sluice/replay/tools/vitest"
)

// Tool is what every test tool knows.
type Tool interface {
	replay.Runner
	// Language is what the tool's tests are written in.
	Language() project.Language
	// Find names the folder of the tool's project in a tree: the one that most of the touched paths are in. An ErrNoRecipe says in
	// a few words why the tool is not for this tree; another error is the machinery's.
	Find(t *project.Tree, paths []string) (root string, err error)
	// Recipe makes the recipe of the project in that folder, without image and fingerprint, or returns an ErrNoRecipe. It is a
	// function of the tree.
	Recipe(t *project.Tree, root string) (replay.Recipe, error)
}

// What a tool may know besides. Who asks for it goes by the functions of this package, which have an answer for tools that do not.
type (
	// CutShorter knows that an end of one test is the end of others.
	CutShorter interface {
		// CutShort lists, sorted, prefixes of the ids of tests that ended early: which of them had run by then is chance.
		CutShort(tests []replay.Test) []string
	}
	// Unbounder knows failures that only name what a state does not have.
	Unbounder interface{ Unbound(replay.Test) bool }
	// Narrower can leave out declarations of tests that do not build: it is a narrow.Func.
	Narrower interface {
		Narrow(files map[string][]byte, output string) narrow.Edit
	}
	// Namer knows under which names registries have a tree's project.
	Namer interface {
		Names(t *project.Tree, paths []string) ([]string, error)
	}
	// Blanker gives the variables with which a recipe begins whose steps somebody else finds.
	Blanker interface{ BlankEnv() map[string]string }
	// CommandWorder gives words that are in every command by which somebody runs the tool's tests.
	CommandWorder interface{ CommandWords() []string }
	// HandStepper knows a command that does what the tool's steps do and that people would type: for those whose steps nobody can read.
	HandStepper interface {
		StepsByHand(replay.Recipe, replay.Target) []replay.Step
	}
	// Imager wants a base image of its own in the docker sandbox, with its language's toolchain: one of those that sluice images
	// build makes. The tools of one language share one.
	Imager interface{ Image() string }
	// Chooser names images in its recipes, by what a tree asks for: all of those that it may name.
	Chooser interface{ Images() []string }
	// Dater can install what registries had at a time.
	Dater interface {
		// Dated changes a recipe's Install so that it takes no version of a package that was published after a time, which is
		// rounded up so that neighbouring states share an environment; it says in a note what it did. False: the recipe installs
		// nothing that a date would change, or its tool knows no way. An index that does not tell when things were published makes the
		// Install fail. The fingerprint is for Seal to make.
		Dated(r replay.Recipe, before time.Time) (replay.Recipe, bool)
	}
	// Clocker knows a canary: a command that asks the time as the tool's tests do and prints it, in seconds since 1970. Tools whose programs
	// do not ask the C library (Go's) have none: nothing is known of what another clock would do to them.
	Clocker interface {
		Clock(r replay.Recipe) []string
	}
	// Warmer compiles what the tests need without starting any: for a tool whose test step would compile it anew in each repeat.
	Warmer interface {
		Warm(replay.Recipe, replay.Target) []replay.Step
	}
	// Owner tells tests of the tree from others by their id, where what stands before "::" is no file.
	Owner interface {
		Owns(r replay.Recipe, id string) bool
	}
	// Hinter can use more of a hint than its packages and variables.
	Hinter interface {
		// Hinted adds to a recipe what a hint says that it lacks. What it makes is no shell of the hint's. False: there is nothing.
		Hinted(t *project.Tree, r replay.Recipe, h project.Hint) (replay.Recipe, bool, error)
	}
	// Teller knows what the output of a try says is missing, besides Debian packages.
	Teller interface {
		// Told adds that to a recipe. Names come from tables of ours. False: there is nothing that it knows.
		Told(t *project.Tree, r replay.Recipe, f project.Failure) (replay.Recipe, bool, error)
	}
	// TestMatcher tells which tests of a report a test function of the sources is: itself, its subtests, its rows and invocations.
	TestMatcher interface {
		Matches(r replay.Recipe, f testid.Function, id string) bool
	}
	// Canarier writes tests of ours that can be laid among a project's.
	Canarier interface {
		// Neighbours are the test files of a recipe's project beside which they may be laid, by path.
		Neighbours(t *project.Tree, r replay.Recipe) []string
		// Canaries writes them. None: the tool knows no place where they are sure to break nothing.
		Canaries(q canary.Request) []canary.File
		// Unloadable is a file in another's place that cannot be loaded, which its report says with the word in it. One without a path:
		// the tool knows none for that place.
		Unloadable(file, word string) replay.File
	}
)

// table holds the tools. Of one language's tools the first that finds its project is taken: those that look for their own signs
// come before the one that takes what is left. Between languages the order decides only what nothing else does.
var table = []Tool{
	gotest.Tool{},
	unittest.Tool{},
	pytest.Tool{},
	vitest.Tool{},
	jest.Tool{},
	ava.Tool{},
	mocha.Tool{},
	nodetest.Tool{},
	maven.Tool{},
	gradle.Tool{},
	ctest.Tool{},
	meson.Tool{},
	cargo.Tool{},
}

// StepTest is the name of the step that runs the tests.
const StepTest = report.StepTest

// ErrNoRecipe says that no recipe is known for a tree. It is a verdict about the tree and no fault.
type ErrNoRecipe = project.ErrNoRecipe

// For returns the tool that a recipe names.
func For(name string) (replay.Runner, error) { return byName(name) }

func byName(name string) (Tool, error) {
	for _, t := range table {
		if t.Name() == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("no test tool is named %q", name)
}

// ability finds a tool that knows something besides.
func ability[A any](name string) (A, bool) {
	t, err := byName(name)
	if err != nil {
		var none A
		return none, false
	}
	a, ok := t.(A)
	return a, ok
}

// CutShort lists, sorted, prefixes of the ids of tests that ended early because another test ended all of them. That such a
// test is missing says nothing about it.
func CutShort(tool string, tests []replay.Test) []string {
	if a, ok := ability[CutShorter](tool); ok {
		return a.CutShort(tests)
	}
	return nil
}

// Unbound reports whether a test failed only because it names what the state does not have.
func Unbound(tool string, t replay.Test) bool {
	a, ok := ability[Unbounder](tool)
	return ok && a.Unbound(t)
}

// Narrow is how a tool's tests are narrowed; nil if it knows no way.
func Narrow(tool string) narrow.Func {
	if a, ok := ability[Narrower](tool); ok {
		return a.Narrow
	}
	return nil
}

// BlankEnv are the variables with which a recipe of the tool begins whose steps somebody else finds.
func BlankEnv(tool string) map[string]string {
	if a, ok := ability[Blanker](tool); ok {
		return a.BlankEnv()
	}
	return map[string]string{}
}

// Owns reports whether a test's id is one of the tree's by itself; known is false if what stands before "::" is a file of the tree.
func Owns(r replay.Recipe, id string) (owns, known bool) {
	a, known := ability[Owner](r.Runner)
	return known && a.Owns(r, id), known
}

// Clock is the canary that asks the time as a recipe's tests do; nil where there is none.
func Clock(r replay.Recipe) []string {
	if a, ok := ability[Clocker](r.Runner); ok {
		return a.Clock(r)
	}
	return nil
}

// TestsOf lists, in their order, those of a report's ids that are a test function's; known is false if the tool does not tell.
func TestsOf(r replay.Recipe, f testid.Function, ids []string) (mine []string, known bool) {
	a, known := ability[TestMatcher](r.Runner)
	if !known {
		return nil, false
	}
	for _, id := range ids {
		if a.Matches(r, f, id) {
			mine = append(mine, id)
		}
	}
	return mine, true
}

// Language is what a tool's tests are written in; without a name for a tool that there is not.
func Language(tool string) project.Language {
	t, err := byName(tool)
	if err != nil {
		return project.Language{}
	}
	return t.Language()
}

// Image is the base image of a tool's recipes that name none: its own, or DefaultImage.
func Image(tool string) string {
	if a, ok := ability[Imager](tool); ok {
		return a.Image()
	}
	return DefaultImage
}

// Images are the base images that recipes of all tools may name, sorted: the test of package images looks that each can be made.
func Images() []string {
	var all []string
	for _, t := range table {
		all = append(all, Image(t.Name()))
		if a, ok := t.(Chooser); ok {
			all = append(all, a.Images()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// CommandWords are in every command by which somebody runs the tool's tests: at least the tool's name.
func CommandWords(tool string) []string {
	if a, ok := ability[CommandWorder](tool); ok {
		return a.CommandWords()
	}
	return []string{tool}
}

// Share is what repeats of a job with a tool's steps may have in common: the steps before the one that runs the tests.
func Share(r replay.Recipe, t replay.Target, steps []replay.Step) replay.Share {
	s := replay.Share{Steps: slices.IndexFunc(steps, func(s replay.Step) bool { return s.Name == StepTest })}
	if s.Steps < 0 {
		return replay.Share{}
	}
	if a, ok := ability[Warmer](r.Runner); ok {
		s.Warm = a.Warm(r, t)
	}
	return s
}

// StepsByHand are the steps of a tool as people would type them. They may leave no report.
func StepsByHand(r replay.Recipe, t replay.Target) ([]replay.Step, error) {
	tool, err := byName(r.Runner)
	if err != nil {
		return nil, err
	}
	if a, ok := tool.(HandStepper); ok {
		return a.StepsByHand(r, t), nil
	}
	return tool.Steps(r, t), nil
}

// Dated is a recipe that installs what the registry had at a time, rounded up; without a fingerprint: see Dater and Seal. False: there
// is no such recipe. The recipe that was given is not changed.
func Dated(r replay.Recipe, before time.Time) (replay.Recipe, bool) {
	a, ok := ability[Dater](r.Runner)
	if !ok || before.IsZero() {
		return replay.Recipe{}, false
	}
	dated, ok := a.Dated(r, before)
	if !ok {
		return replay.Recipe{}, false
	}
	dated.Fingerprint = ""
	return dated, true
}
