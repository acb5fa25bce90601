package cargo

import (
	_ "embed"
	"encoding/json"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// The programs of ours. They are parts of steps, and so of fingerprints and keys.
var (
	//go:embed common.py
	commonProgram string
	//go:embed install.py
	installPart string
	//go:embed compile.py
	compilePart string
	//go:embed run.py
	runPart string

	installProgram = commonProgram + "\n\n" + installPart
	runProgram     = commonProgram + "\n\n" + compilePart + "\n\n" + runPart
)

// told is what the program that compiles and runs tests is told.
type told struct {
	Root  string   `json:"root"`
	Paths []string `json:"paths"`
}

// Steps runs the recipe's Build steps, then compiles the tests of the target, runs them, and, if something did not compile, compiles the
// same packages without their tests. All that is compiled is compiled in the step before the tests, which runs none.
//
// The folder of compiled things lies in the environment, where the dependencies already are; a job writes into its own view of it, so that
// no state sees what another compiled.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	paths := slices.Compact(slices.Sorted(slices.Values(t.Paths)))
	if paths == nil {
		paths = []string{}
	}
	text, _ := json.Marshal(told{r.Root, paths}) // strings: it cannot fail
	run := func(way string, files ...string) []string {
		return slices.Concat([]string{"python3", "-c", runProgram, way, "{env}", "{tree}"}, files, []string{string(text)})
	}
	return append(slices.Clone(r.Build),
		replay.Step{Name: stepBuild, Args: run("build", "{out}/"+madeFile)},
		replay.Step{Name: report.StepTest, Args: run("test", "{out}/"+reportFile, "{out}/"+madeFile)},
		replay.Step{Name: stepExplain, Args: run("source", "{out}/"+reportFile, "{out}/"+madeFile), IfFailed: report.StepTest},
	)
}
