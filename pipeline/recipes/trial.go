package recipes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
)

// trialVersion is part of every key: it is raised when the same run would be read otherwise.
const trialVersion = 3

// Trial is what a recipe came to on a state.
type Trial struct {
	Failed string `json:"failed,omitempty"` // how installing failed; "" if it did not
	Step   string `json:"step,omitempty"`   // the step of Install that failed
	// Image is the digest of the environment's image, "" where there is none, and Installed the end of what installing printed, which is where
	// tools say which versions they brought; "" if another store's run had installed it.
	Image     string `json:"image,omitempty"`
	Installed string `json:"installed,omitempty"`
	Ran       bool   `json:"-"` // the tests were started; else it was only installed, and Log is what that printed
	Observed
}

// Tests counts those that ran: neither skipped nor missing.
func (t Trial) Tests() int {
	n := 0
	for _, x := range t.Report.Tests {
		switch x.Outcome {
		case replay.Pass, replay.Fail, replay.Error, replay.TimedOut:
			n++
		}
	}
	return n
}

// Result says what a trial came to, and why in a line.
func (t Trial) Result() (Result, string) {
	r := t.Report
	switch {
	case t.Failed != "":
		return InstallFailed, t.Failed
	case !t.Ran:
		return Works, ""
	case r.Stop == replay.Timeout || r.Stop == replay.OOM || r.Stop == replay.DiskFull:
		return Ended, "the tests were ended: " + string(r.Stop)
	case r.Inconsistent != "":
		return NothingRan, r.Inconsistent
	case t.Tests() > 0:
		return Works, fmt.Sprintf("%d tests ran", t.Tests())
	case r.BuildSource == replay.Failed || r.BuildTests == replay.Failed || len(r.Broken) > 0:
		return NothingRan, "what should run does not build, or cannot be loaded"
	}
	return NothingRan, "no test ran"
}

// state is a tree that a recipe is tried on, with the tests that are relevant there.
type state struct {
	commit string
	tree   replay.Tree
	target replay.Target
}

// relevant keeps of a list of test files those that a tree has. None: all tests are relevant.
func relevant(ctx context.Context, t replay.Tree, paths []string) (replay.Target, error) {
	var out replay.Target
	for _, p := range paths {
		_, err := t.ReadFile(ctx, p)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitrepo.ErrNotFile) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("reading the test file %q: %w", p, err)
		}
		out.Paths = append(out.Paths, p)
	}
	return out, nil
}

// try installs a recipe and, if asked to, runs the relevant tests. Both are kept: the first for all states that share the environment.
func (l *Ladder) try(ctx context.Context, q Request, s state, r replay.Recipe, run bool) (Trial, error) {
	t, err := l.install(ctx, q, s, r)
	if err != nil || t.Failed != "" || !run {
		return t, err
	}
	out, err := l.run(ctx, q, s, r)
	out.Image, out.Installed = t.Image, t.Installed
	return out, err
}

func (l *Ladder) install(ctx context.Context, q Request, s state, r replay.Recipe) (Trial, error) {
	// A failure may be that of a limit: with another one it has to be tried again.
	limits := []int64{l.Limits.Memory, l.Limits.Pids, l.Limits.Disk}
	w := pipeline.Work{Kind: "environment", Label: "environment " + r.Fingerprint, Inputs: []any{trialVersion, l.Sandbox.Name(), r.Fingerprint, limits}}
	return once(ctx, q.Once, w, func(ctx context.Context) (Trial, error) {
		env, err := l.Sandbox.Prepare(ctx, r, s.tree)
		var failed *replay.InstallError
		if errors.As(err, &failed) {
			return Trial{Failed: failed.Error(), Step: failed.Step.Name, Observed: Observed{Log: failed.Log}}, nil
		}
		if errors.Is(err, replay.ErrInstallTime) {
			err = pipeline.Permanent(err) // it took long enough: the next run tries again, this one does not
		}
		return Trial{Observed: Observed{Log: env.Log}, Image: env.Digest, Installed: last(env.Log, installedBytes)}, err
	})
}

func (l *Ladder) run(ctx context.Context, q Request, s state, r replay.Recipe) (Trial, error) {
	tool, err := tools.For(r.Runner)
	if err != nil {
		return Trial{}, pipeline.Permanent(err)
	}
	run := Run{r, tool, s.target, replay.Job{
		Name: fmt.Sprintf("state %.12s", s.commit), Tree: s.tree, Steps: tool.Steps(r, s.target), Limits: l.Limits,
	}}
	w := run.Work(l.Sandbox.Name(), fmt.Sprintf("recipe %.12s on %.12s", r.Fingerprint, s.commit), 1)
	t, err := once(ctx, q.Once, w, func(ctx context.Context) (Trial, error) {
		o, _, err := run.Start(ctx, l.Sandbox)
		return Trial{Observed: o}, err
	})
	t.Ran = err == nil
	return t, err
}

func once(ctx context.Context, o Once, w pipeline.Work, f func(context.Context) (Trial, error)) (t Trial, err error) {
	b, err := o(ctx, w, func(ctx context.Context) ([]byte, error) {
		t, err := f(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(t)
	})
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, pipeline.Permanent(fmt.Errorf("decoding %s: %w", w.Label, err))
	}
	return t, nil
}

// What is kept in evidence of the end of a log, where what went wrong is, and of what installing printed.
const (
	logBytes       = 4 << 10
	installedBytes = 32 << 10
)

// End is the end of a log, as text.
func End(s string) string { return last(s, logBytes) }

func last(s string, most int) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > most {
		s = strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}
