package recipes

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/project"
)

// maxTold bounds how often what a try says is missing is added: a compiler names one header at a time.
const maxTold = 4

// told tries a rung's recipe again with what its try said is missing.
func (c *climb) told(ctx context.Context, from Try, r replay.Recipe, t Trial) (done bool, err error) {
	for range maxTold {
		next, ok, err := c.l.told(ctx, c.tree, r, t.failure())
		if err != nil || !ok || c.tried[next.Fingerprint] {
			return false, err
		}
		if t, err = c.l.try(ctx, c.q, c.state(), next, true); err != nil {
			return false, err
		}
		if c.note(fromRung(from), next, t) {
			return true, nil
		}
		r = next
	}
	return false, nil
}

// fromRung is the try that another one's words led to.
func fromRung(t Try) Try {
	return Try{Rung: Told, From: t.Rung, Provenance: t.Provenance, Hint: t.Hint}
}

// more is for a recipe that works, and of whose tests some do not pass: it is tried with what they name as missing and, if files of tests cannot
// even be loaded, as of the state's day. The other recipe is taken only if more tests pass.
func (c *climb) more(ctx context.Context, r replay.Recipe, t Trial) error {
	if !t.Ran || t.whole() {
		return nil
	}
	next, ok, err := c.l.told(ctx, c.tree, r, t.failure())
	if err != nil {
		return err
	}
	if ok {
		if better, err := c.rival(ctx, fromRung(Try{Rung: Heuristic}), next, t); better || err != nil {
			return err
		}
	}
	if len(t.Report.Broken) == 0 {
		return nil
	}
	day, err := c.date(ctx)
	if err != nil {
		return err
	}
	list, err := c.l.rungs(ctx, c.tree, c.base, day)
	if err != nil {
		return err
	}
	for _, g := range list {
		if g.rung == Dated && !c.tried[g.recipe.Fingerprint] {
			_, err = c.rival(ctx, g.asTry("original"), g.recipe, t)
		}
	}
	return err
}

// rival tries a recipe beside one that works. better says that it took that one's place.
func (c *climb) rival(ctx context.Context, as Try, r replay.Recipe, than Trial) (better bool, err error) {
	t, err := c.l.try(ctx, c.q, c.state(), r, true)
	if err != nil {
		return false, err
	}
	before := c.found
	c.note(as, r, t)
	last := &c.found.Tries[len(c.found.Tries)-1]
	if last.Result == Works && t.passed() > than.passed() {
		return true, nil
	}
	if last.Result == Works {
		last.Reason += ", and no more of them pass"
	}
	before.Tries = c.found.Tries
	c.found = before
	return false, nil
}

func (l *Ladder) told(ctx context.Context, tree replay.Tree, r replay.Recipe, f project.Failure) (replay.Recipe, bool, error) {
	return tools.Told(ctx, tree, r, f, replay.IsDocker(l.Sandbox))
}

// failure is what a trial says of what is missing: the log of what failed before any test; else the words of what failed only, since what
// passes may speak of much.
func (t Trial) failure() project.Failure {
	f := project.Failure{Output: t.Log, Step: t.Step, Build: t.Ran && t.Report.BuildSource == replay.Failed}
	if !t.Ran || t.Tests() == 0 || f.Build {
		return f
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.Report.Broken)) {
		b.WriteString(t.Report.Broken[name] + "\n")
	}
	for _, x := range t.Report.Tests {
		if x.Outcome == replay.Fail || x.Outcome == replay.Error {
			b.WriteString(x.Message + "\n")
		}
	}
	f.Output = b.String()
	return f
}

// passed counts the tests that pass.
func (t Trial) passed() int {
	n := 0
	for _, x := range t.Report.Tests {
		if x.Outcome == replay.Pass {
			n++
		}
	}
	return n
}

// whole says that everything that ran passes.
func (t Trial) whole() bool { return len(t.Report.Broken) == 0 && t.passed() == t.Tests() }
