package recipes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/project"
)

// maxTold bounds how often what a try says is missing is added: a compiler names one header at a time.
const maxTold = 4

// told tries a rung's recipe again with what its try said is missing, and goes on after a win, since what could not be loaded before may
// lack more. done says that the climb is over: a recipe works, or a limit ended one before any did.
func (c *climb) told(ctx context.Context, from Try, r replay.Recipe, t Trial) (done bool, err error) {
	for range maxTold {
		next, ok, err := c.l.told(ctx, c.tree, r, t.failure())
		if err != nil || !ok || c.tried[next.Fingerprint] {
			return c.found.OK, err
		}
		t, err = c.l.try(ctx, c.q, c.state(), next, true)
		if c.slow(fromRung(from), next, err) {
			return true, nil
		}
		if err != nil {
			return c.found.OK, err
		}
		if c.found.OK {
			c.beside(fromRung(from), next, t)
		} else if c.note(fromRung(from), next, t) && !c.found.OK {
			return true, nil
		}
		if result, _ := t.Result(); result == Ended || result == Works && t.whole() {
			return true, nil
		}
		r = next
	}
	return c.found.OK, nil
}

// fromRung is the try that another one's words led to.
func fromRung(t Try) Try {
	return Try{Rung: Told, From: t.Rung, Provenance: t.Provenance, Hint: t.Hint}
}

// more is for a recipe that works, and of whose tests some do not pass: it is tried with what they name as missing. Another recipe is taken
// only if more tests pass.
func (c *climb) more(ctx context.Context, from Try, r replay.Recipe, t Trial) error {
	if !c.found.OK || !t.Ran || t.whole() {
		return nil
	}
	if _, err := c.told(ctx, from, r, t); err != nil || from.Rung != Heuristic {
		return err
	}
	return c.ofItsDay(ctx)
}

// ofItsDay tries the recipe that works as of the state's day, if files of tests cannot even be loaded.
func (c *climb) ofItsDay(ctx context.Context) error {
	if !c.found.OK || len(c.found.Trial.Report.Broken) == 0 {
		return nil
	}
	as, r, ok, err := c.dated(ctx)
	if err != nil || !ok || c.tried[r.Fingerprint] {
		return err
	}
	t, err := c.l.try(ctx, c.q, c.state(), r, true)
	if c.slow(as, r, err) {
		return nil
	}
	if err == nil {
		c.beside(as, r, t)
	}
	return err
}

// dated is the heuristic recipe as of the state's day, with what it was told if that is what works; false if there is none.
func (c *climb) dated(ctx context.Context) (as Try, r replay.Recipe, ok bool, err error) {
	day, err := c.date(ctx)
	if err != nil {
		return as, r, false, err
	}
	if c.found.Won() == Told {
		if r, ok = tools.Dated(c.found.Recipe, day); !ok {
			return as, r, false, nil
		}
		as = made{rung: Dated}.asTry("original")
		as.From = Told
		r, err = tools.Seal(ctx, c.tree, r)
		return as, r, err == nil, err
	}
	list, err := c.l.rungs(ctx, c.tree, c.base, day)
	if err != nil || len(list) == 0 || list[len(list)-1].rung != Dated {
		return as, r, false, err
	}
	last := list[len(list)-1]
	return last.asTry("original"), last.recipe, true, nil
}

// slow writes down that installing took too long beside a recipe that works, which stays: for want of a better one it is not unknown.
func (c *climb) slow(as Try, r replay.Recipe, err error) bool {
	if !c.found.OK || !errors.Is(err, replay.ErrInstallTime) {
		return false
	}
	as.Tool, as.Fingerprint, as.Result, as.Reason = r.Runner, r.Fingerprint, Ended, "installing took too long"
	c.found.Tries = append(c.found.Tries, as)
	return true
}

// beside writes a try down that was made beside a recipe that works. It takes that one's place only if more tests pass.
func (c *climb) beside(as Try, r replay.Recipe, t Trial) {
	before := c.found
	c.note(as, r, t)
	last := &c.found.Tries[len(c.found.Tries)-1]
	if last.Result == Works && t.passed() > before.Trial.passed() {
		return
	}
	if last.Result == Works {
		last.Reason += ", and no more of them pass"
	}
	before.Tries = c.found.Tries
	c.found = before
}

func (l *Ladder) told(ctx context.Context, tree replay.Tree, r replay.Recipe, f project.Failure) (replay.Recipe, bool, error) {
	return tools.Told(ctx, tree, r, f, replay.IsDocker(l.Sandbox))
}

// saidBytes bounds the words of failed tests that are looked through: a report may hold a gigabyte of them.
const saidBytes = 4 << 20

// failure is what a trial says of what is missing: the log of what failed before any test; else the words of what failed only, since what
// passes may speak of much.
func (t Trial) failure() project.Failure {
	f := project.Failure{Output: t.Log, Step: t.Step, Build: t.Ran && t.Report.BuildSource == replay.Failed}
	if !t.Ran || t.Tests() == 0 || f.Build {
		return f
	}
	var b strings.Builder
	say := func(words string) {
		if b.Len() < saidBytes {
			b.WriteString(words + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Report.Broken)) {
		say(t.Report.Broken[name])
	}
	for _, x := range t.Report.Tests {
		if x.Outcome == replay.Fail || x.Outcome == replay.Error {
			say(x.Message)
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
