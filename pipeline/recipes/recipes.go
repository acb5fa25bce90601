// Package recipes finds the recipe of a state on a ladder of five rungs: heuristics; what the project's own continuous integration
// says; the versions that the registry had on the state's day; the nearest known-good recipe of the same branch; an agent.
//
// The first four are here, for everybody who needs a state to run; the agent is asked by the stage that has one. Each rung is
// tried only if those before it failed, and each try is evidence, with the reason and the end of the log. Behind each of the first three comes
// the same recipe with what its try said is missing (told.go).
//
// # What works
//
// A recipe works if it installs, and the test tool then writes a report that agrees with itself and in which at least one relevant
// test ran, whatever its outcome. That all tests pass is not asked for; where some do not, another recipe takes the place
// of one that works only if more of them pass with it. A run that a limit of the sandbox ended ends the climb:
// another recipe would not help.
//
// # The order, and why results do not depend on it
//
// Heuristics come first: they are a function of the tree, cost nothing when they work, and most states need no more. Then
// come the two rungs that only this state decides too: its workflow, and its date. A neighbour's recipe comes after them,
// although it may cost less, because it is right for another tree: where both would do, the state's own is the better environment.
//
// A known-good recipe must not depend on what happened to run before, or on how many workers ran. So "known" is not what the store holds
// by chance. The neighbours are a fixed list of positions in first-parent order, both directions, nearest first and the older of two first.
// Whether a neighbour's own first three rungs work on the neighbour is found out when it is asked; the store keeps each answer
// under everything that it depends on (sandbox, fingerprint, tree, steps, limits), so that an earlier run saves the time and changes nothing.
// The climb itself is a function of the history and of those answers, and is computed anew each time, so that a new version of a
// heuristic is never hidden by an old decision. A recipe that an agent found is nobody's neighbour: whether there is one depends on
// which candidates came before.
//
// A neighbour's recipe is data that may read files: it is sealed again for this tree. It never crosses a change of the test tool or of the
// project's folder, and a recipe whose fingerprint was tried here already is not tried again.
//
// The package decides nothing about a candidate, and never runs what a workflow says.
package recipes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/project"
)

// Version is for the memo keys of stages: it is raised when the same answers of the sandbox lead to another recipe.
const Version = 4

// Once runs a piece of work once and keeps its result; pipeline's Case.Once is one.
type Once func(ctx context.Context, w pipeline.Work, f func(context.Context) ([]byte, error)) ([]byte, error)

// Ladder finds recipes in one repository. It is safe for concurrent use.
type Ladder struct {
	History *history.History
	Sandbox replay.Sandbox
	Image   string        // base image of recipes; "" is the tool's
	Limits  replay.Limits // of one run
}

// Request is a state that wants a recipe.
type Request struct {
	Once   Once
	Commit string
	Paths  []string // that choose the project: see tools.Options
	// Tests are the files whose tests are relevant; those that a state does not have are left out. None, or none left: all tests.
	Tests []string
	// Proven are fingerprints of recipes that ran tests on a sister state: of those it is enough here that they install.
	Proven map[string]bool
	// Last is the newest change that may be a neighbour, so that what lands later changes no decision; "" for any.
	Last string
}

// The rungs, as they stand in evidence.
const (
	Heuristic = "heuristic"
	Told      = "told" // From is the rung whose try said what was missing
	Workflow  = "workflow"
	Dated     = "dated" // From is "told" if that is what it is of its day
	Neighbour = "neighbour"
)

// Result says what became of a try.
type Result string

// The results. NothingRan: it installs, and no relevant test ran in a report that can be believed. Ended: at a limit of the sandbox.
const (
	Works         Result = "works"
	NoRecipe      Result = "no-recipe"
	InstallFailed Result = "install-failed"
	NothingRan    Result = "nothing-ran"
	Ended         Result = "ended"
)

// Try is one step of the climb.
type Try struct {
	Rung string `json:"rung"`
	// Commit is the state that the recipe was made for, if that is another one, and Distance how many changes it came later (before:
	// negative). From is that state's rung.
	Commit   string `json:"commit,omitempty"`
	Distance int    `json:"distance,omitempty"`
	From     string `json:"from,omitempty"`
	// Provenance is "original" for what this state's own workflow says, "fallback" for another state's; "" where no workflow spoke.
	Provenance  string        `json:"workflow,omitempty"`
	Hint        *project.Hint `json:"hint,omitempty"`
	Tool        string        `json:"tool,omitempty"`
	Fingerprint string        `json:"fingerprint,omitempty"`
	Result      Result        `json:"result"`
	Reason      string        `json:"reason,omitempty"` // one line
	Log         string        `json:"log,omitempty"`    // the end of what failed
}

// Found is what came of a climb.
type Found struct {
	// OK says that Recipe works, as far as the request asks. Else Recipe is the one whose run a limit ended, or the heuristic one, zero
	// if there is none.
	OK     bool
	Recipe replay.Recipe
	// Trial is what Recipe came to on the state; its report is there only if the tests ran. First is the same of the heuristic recipe.
	Trial, First Trial
	// Tries are in order; the first one is the heuristic's. Winner is the place of the one whose recipe Recipe is, if OK.
	Tries  []Try
	Winner int
}

// Climbed reports whether more was tried than heuristics.
func (f Found) Climbed() bool { return len(f.Tries) > 1 }

// Won names the rung that won, "" if none did.
func (f Found) Won() string {
	if !f.OK || len(f.Tries) == 0 {
		return ""
	}
	return f.Tries[f.Winner].Rung
}

// Find climbs. That nothing works is no error: Found says so. With an error it holds what was known by then.
func (l *Ladder) Find(ctx context.Context, q Request) (Found, error) {
	tree, err := l.History.Tree(ctx, q.Commit)
	if err != nil {
		return Found{}, err
	}
	c := &climb{l: l, q: q, tree: tree, tried: map[string]bool{}}
	if c.target, err = relevant(ctx, tree, q.Tests); err != nil {
		return Found{}, err
	}
	for _, rung := range []func(context.Context) (done bool, err error){c.heuristic, c.own, c.neighbours} {
		done, err := rung(ctx)
		if err != nil {
			return c.found, err
		}
		if done {
			break
		}
	}
	return c.found, nil
}

// climb is one state's.
type climb struct {
	l      *Ladder
	q      Request
	tree   replay.Tree
	target replay.Target
	base   *replay.Recipe // the heuristic one
	tried  map[string]bool
	found  Found
}

// heuristic is the first rung. done says that nothing better is wanted.
func (c *climb) heuristic(ctx context.Context) (done bool, err error) {
	r, err := tools.Detect(ctx, c.tree, tools.Options{Image: c.l.Image, Paths: c.q.Paths})
	var none tools.ErrNoRecipe
	if errors.As(err, &none) {
		c.found.Tries = append(c.found.Tries, Try{Rung: Heuristic, Result: NoRecipe, Reason: none.Reason})
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("detecting the recipe of %.12s: %w", c.q.Commit, err)
	}
	c.base, c.found.Recipe = &r, r
	t, err := c.l.try(ctx, c.q, c.state(), r, !c.q.Proven[r.Fingerprint])
	if err != nil {
		return false, err
	}
	c.found.Trial, c.found.First = t, t
	if !c.note(Try{Rung: Heuristic}, r, t) {
		if done, err = c.told(ctx, Try{Rung: Heuristic}, r, t); done && err == nil {
			err = c.ofItsDay(ctx)
		}
		return done, err
	}
	return true, c.more(ctx, Try{Rung: Heuristic}, r, t)
}

// note writes a try down. done says that the climb is over.
func (c *climb) note(t Try, r replay.Recipe, trial Trial) (done bool) {
	c.tried[r.Fingerprint] = true
	t.Tool, t.Fingerprint = r.Runner, r.Fingerprint
	t.Result, t.Reason = trial.Result()
	if t.Result == Works && !trial.Ran {
		t.Reason = "it installs"
	}
	if t.Result != Works {
		t.Log = End(trial.Log)
	}
	c.found.Tries = append(c.found.Tries, t)
	done = t.Result == Works || t.Result == Ended
	if done {
		c.found.Winner = len(c.found.Tries) - 1
		c.found.OK, c.found.Recipe, c.found.Trial = t.Result == Works, r, trial
	}
	return done
}

// own are the rungs that this state alone decides.
func (c *climb) own(ctx context.Context) (done bool, err error) {
	day, err := c.date(ctx)
	if err != nil {
		return false, err
	}
	list, err := c.l.rungs(ctx, c.tree, c.base, day)
	if err != nil {
		return false, err
	}
	for _, g := range list {
		if c.tried[g.recipe.Fingerprint] {
			continue
		}
		t, err := c.l.try(ctx, c.q, c.state(), g.recipe, true)
		if err != nil {
			return false, err
		}
		if c.note(g.asTry("original"), g.recipe, t) {
			return true, c.more(ctx, g.asTry("original"), g.recipe, t)
		}
		if done, err := c.told(ctx, g.asTry("original"), g.recipe, t); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// state is the climber's own.
func (c *climb) state() state { return state{commit: c.q.Commit, tree: c.tree, target: c.target} }

// date is when the state's change landed; zero if its commit is none of the branch's.
func (c *climb) date(ctx context.Context) (time.Time, error) {
	_, index, err := c.l.History.Changes(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the history: %w", err)
	}
	change, _ := index.ByCommit(c.q.Commit)
	return change.Committed, nil
}

// made is a recipe with the rung that made it.
type made struct {
	rung   string
	recipe replay.Recipe
	hint   *project.Hint
}

func (g made) asTry(provenance string) Try {
	t := Try{Rung: g.rung, Hint: g.hint}
	if g.hint != nil {
		t.Provenance = provenance
	}
	return t
}

// rungs are the second and the third rung of a state: functions of its tree, of its date, and of the sandbox's kind.
func (l *Ladder) rungs(ctx context.Context, tree replay.Tree, base *replay.Recipe, day time.Time) ([]made, error) {
	if base == nil {
		return nil, nil
	}
	var out []made
	packages := replay.IsDocker(l.Sandbox)
	list, hint, err := tools.Hinted(ctx, tree, *base, packages)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		out = append(out, made{rung: Workflow, recipe: r, hint: &hint})
	}
	dated, ok := tools.Dated(*base, day)
	if !ok {
		return out, nil
	}
	last := made{rung: Dated}
	if last.recipe, err = tools.Seal(ctx, tree, dated); err != nil {
		return nil, err
	}
	// With the smaller of the hinted ones: what else a workflow installs is of its day anyway. A tool dates the recipes that it made.
	if list, _, err = tools.Hinted(ctx, tree, last.recipe, packages); err != nil {
		return nil, err
	}
	if len(list) > 0 {
		last.recipe, last.hint = list[0], &hint
	}
	return append(out, last), nil
}
