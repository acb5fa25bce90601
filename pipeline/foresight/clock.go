package foresight

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/tools"
)

// Sensitive says whether the decisive tests hang on the date. Unknown is what is said of tests whose clock could not be set.
type Sensitive string

// The answers.
const (
	ClockSensitive   Sensitive = "true"
	ClockInsensitive Sensitive = "false"
	ClockUnknown     Sensitive = "unknown"
)

// ClockRuns is the evidence of the runs whose clock is ahead: certificates expire, and so do tests.
type ClockRuns struct {
	Sensitive Sensitive `json:"sensitive"`
	Why       string    `json:"why,omitempty"` // why it is unknown
	// Excluded are the tests that pass today and do not ahead, for each run in which that was seen.
	Excluded []pipeline.Excluded `json:"excluded,omitempty"`
	Runs     []Cell              `json:"runs,omitempty"`
}

// aheads are how far the clock is set. A year is a fixed number of days, so that one key is one run.
var aheads = []time.Duration{365 * 24 * time.Hour, 5 * 365 * 24 * time.Hour}

// The steps of a job that is ahead which ask the time: with the machine's clock, and with the job's.
const (
	stepTrueClock = "true clock"
	stepClock     = "clock"
)

// canaries ask the time before the tests of a job that is ahead; a job that is not, or a tool that knows no canary, has none.
func canaries(r replay.Recipe, ahead time.Duration) []replay.Step {
	ask := tools.Clock(r)
	if ahead == 0 || ask == nil {
		return nil
	}
	return []replay.Step{
		{Name: stepTrueClock, Args: []string{"date", "+%s"}, Env: replay.TrueClock(), Timeout: time.Minute},
		{Name: stepClock, Args: ask, Timeout: 3 * time.Minute}, // it may have to compile
	}
}

// told is what the canaries printed.
func told(res replay.Result) []string {
	var out []string
	for _, name := range []string{stepTrueClock, stepClock} {
		if s := res.Step(name); s != nil {
			out = append(out, strings.TrimSpace(string(s.Stdout)))
		}
	}
	return out
}

// moved reports whether the canaries saw the clock ahead.
func (o observed) moved(ahead time.Duration) bool {
	if len(o.Canary) != 2 {
		return false
	}
	now, err1 := strconv.ParseInt(o.Canary[0], 10, 64)
	then, err2 := strconv.ParseInt(o.Canary[1], 10, 64)
	return err1 == nil && err2 == nil && then-now > int64((ahead-24*time.Hour)/time.Second)
}

// clock runs the tests that decide once more with the clock one and five years ahead: the fix's on its head, the task's own on its own.
// It always does, for candidates that passed everything else: that is four runs of a few test files, and none where the tool's programs
// would not notice.
func (f *family) clock() pipeline.Stage {
	return pipeline.Stage{
		Name: "clock", Version: 1, Pool: pipeline.Sandbox,
		Reads: []string{evSplit, evTaskSplit, evEnvironment, evFixRuns, evTaskRuns}, Makes: []string{evClockRuns},
		Settings: f.runSettings(), Run: f.runClock,
	}
}

func (f *family) runClock(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	m, err := f.matrix(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	s, err := readSides(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	out := ClockRuns{Sensitive: ClockUnknown, Why: "the candidate is out already"}
	if s.fixRuns.Verdict == nil && s.taskRuns.Verdict == nil { // only under --all-runs does one with a verdict come so far
		out, err = m.clockRuns(ctx, []decisive{
			{stateH2, s.fix, s.fixRuns.Anticipation, s.fixRuns.After},
			{stateH1, s.task, s.taskRuns.FailToPass, s.taskRuns.After},
		})
	}
	if err != nil {
		return pipeline.Outcome{}, err
	}
	return pipeline.Pass(), c.Write(ctx, evClockRuns, out)
}

// decisive are the tests of a change that decide, on a state where they pass.
type decisive struct {
	state string
	files history.Split
	tests []string
	today Cell // the state's runs with the machine's clock
}

func (m *matrix) clockRuns(ctx context.Context, sides []decisive) (ClockRuns, error) {
	out := ClockRuns{Sensitive: ClockInsensitive}
	for _, d := range sides {
		if tools.Clock(m.env.Recipes[d.state]) == nil {
			out.doubt("no canary is known for " + m.env.Recipes[d.state].Runner + ": its programs may not ask the C library for the time")
			continue
		}
		tests, err := m.History.Overlay(ctx, m.env.Commits[d.state], d.files)
		if err != nil {
			return out, err
		}
		for _, ahead := range aheads {
			s := spec{Name: fmt.Sprintf("%s + %d years", d.state, ahead/aheads[0]), State: d.state, Target: overlayPaths(tests), Ahead: ahead}
			r, err := m.runs(ctx, s, 1)
			if err != nil {
				return out, err
			}
			if out.take(d, m.merge(s, []observed{r}), r.moved(ahead)); !r.moved(ahead) {
				break // it would not be with another one
			}
		}
	}
	if len(out.Excluded) > 0 {
		out.Sensitive, out.Why = ClockSensitive, ""
	}
	return out, nil
}

func (r *ClockRuns) doubt(why string) {
	r.Sensitive = ClockUnknown
	if r.Why == "" {
		r.Why = why
	}
}

// take reads a run that is ahead. Besides the tests that decide, it holds others of their files.
func (r *ClockRuns) take(d decisive, c Cell, moved bool) {
	r.Runs = append(r.Runs, c)
	switch {
	case !moved:
		r.doubt(c.Name + ": the canary did not see the clock ahead: libfaketime is not installed there, or not asked")
		return
	case c.Trouble != nil:
		r.doubt(c.Trouble.Reason)
		return
	}
	exclude := func(id, seen string) {
		r.Excluded = append(r.Excluded, pipeline.Excluded{Test: id, Reason: "clock-sensitive", State: c.Name, Outcomes: []string{seen}})
	}
	for _, id := range sortedKeys(c.Tests) {
		if d.today.passes(id) && !c.passes(id) && c.outcome(id) != replay.Skip {
			exclude(id, ended(c.Tests[id]))
		}
	}
	for _, id := range d.tests {
		switch o := c.outcome(id); {
		case o == replay.Missing && len(c.Broken) > 0 && !c.unknown(id):
			exclude(id, string(replay.Missing)) // the file of the test cannot be loaded then
		case o == replay.Missing, o == replay.Skip:
			r.doubt(c.Name + ": " + id + " did not run")
		}
	}
}
