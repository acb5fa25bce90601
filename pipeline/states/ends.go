package states

import (
	"maps"
	"slices"
	"strings"

	"sluice/pipeline/evaluate/stats"
	"sluice/pipeline/recipes"
	"sluice/replay"
)

// take takes over what came of the climb. Where nothing works the state is what its heuristic recipe makes of it.
func (s *State) take(f recipes.Found) {
	r := f.Recipe
	s.Tool, s.Image, s.Root, s.Environment, s.Rung = r.Runner, r.Image, r.Root, r.Fingerprint, f.Won()
	if f.Climbed() {
		s.Tries = f.Tries
	}
	switch {
	case len(f.Tries) == 0: // it ended before the first answer
	case r.Runner == "":
		s.End, s.Reason = NoRecipe, f.Tries[0].Reason
	case f.Trial.Failed != "":
		s.End, s.Reason = InstallFailed, f.Trial.Failed+": "+recipes.End(f.Trial.Log)
	default:
		s.fill(f.Trial)
	}
}

// fill takes over what a run came to.
func (s *State) fill(o recipes.Trial) {
	r := o.Report
	s.BuildSource, s.BuildTests, s.Wall = r.BuildSource, r.BuildTests, o.Wall
	s.Counts = count(r)
	s.End, s.Reason = ending(r, s.Counts)
	if s.End != Ran && s.Reason == "" {
		s.Reason = recipes.End(o.Log)
	}
}

func count(r replay.Report) Counts {
	c := Counts{Broken: len(r.Broken)}
	for _, t := range r.Tests {
		switch t.Outcome {
		case replay.Pass:
			c.Passed++
		case replay.Fail, replay.Error, replay.TimedOut:
			c.Failed++
		case replay.Skip:
			c.Skipped++
		}
	}
	c.Tests = c.Passed + c.Failed
	return c
}

// ending says how far a run came. What stopped a run comes before what it had done by then: half of the tests are not the tests.
func ending(r replay.Report, c Counts) (End, string) {
	switch r.Stop {
	case replay.Timeout:
		return Timeout, "the tests did not end within the time limit"
	case replay.OOM:
		return OOM, "the tests took more memory than the limit"
	case replay.DiskFull:
		return DiskFull, "the tests' files took more than the limit"
	}
	switch {
	case r.Inconsistent != "":
		return Inconsistent, r.Inconsistent
	case c.Tests > 0:
		return Ran, ""
	case r.BuildSource == replay.Failed, r.BuildTests == replay.Failed, c.Broken > 0:
		return BuildFailed, firstBroken(r.Broken)
	case r.RunTests == replay.Failed:
		return Inconsistent, "the test tool failed before the first test"
	}
	return NoTests, "no test ran"
}

func firstBroken(broken map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(broken)) {
		return name + ": " + recipes.End(broken[name])
	}
	return ""
}

// Share is a number of states among others, with its interval.
type Share struct {
	N        int            `json:"n"`
	Of       int            `json:"of"`
	Interval stats.Interval `json:"interval"` // Wilson's, at 95 %
}

func newShare(n, of int) Share { return Share{n, of, stats.Wilson(n, of)} }

// Summary is what the states say together. States of which nothing is known count nowhere.
type Summary struct {
	States       int              `json:"states"`
	Unknown      int              `json:"unknown"`   // Infrastructure
	Ran          Share            `json:"ran"`       // states whose tests run
	Installed    Share            `json:"installed"` // states that have a recipe and whose environment installs
	AllPass      Share            `json:"all_pass"`  // of those whose tests run: no test fails, everything builds
	Environments int              `json:"environments"`
	Ends         map[End]int      `json:"ends"`
	Tools        map[string]Share `json:"tools"` // whose tests run, by tool; "" is of those without a recipe
	Rungs        map[string]int   `json:"rungs"` // of the states whose tests run: where their recipes come from
}

// Summarise counts.
func Summarise(list []State) Summary {
	s := Summary{States: len(list), Ends: map[End]int{}, Tools: map[string]Share{}, Rungs: map[string]int{}}
	environments, of, ran := map[string]bool{}, map[string]int{}, map[string]int{}
	known, installed, whole := 0, 0, 0
	for _, st := range list {
		s.Ends[st.End]++
		if st.End == Infrastructure {
			s.Unknown++
			continue
		}
		known++
		of[st.Tool]++
		if st.End != NoRecipe && st.End != InstallFailed {
			installed++
			environments[st.Environment] = true
		}
		if st.End == Ran {
			ran[st.Tool]++
			s.Rungs[st.Rung]++
			if st.Failed == 0 && st.Broken == 0 {
				whole++
			}
		}
	}
	all := 0
	for tool, n := range of {
		s.Tools[tool] = newShare(ran[tool], n)
		all += ran[tool]
	}
	s.Ran, s.Installed, s.AllPass = newShare(all, known), newShare(installed, known), newShare(whole, all)
	s.Environments = len(environments)
	return s
}

// Why is a reason in one line: the last line that is not empty, which is where tools say what went wrong, or the only one.
func (s State) Why() string {
	lines := strings.Split(strings.TrimSpace(s.Reason), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
