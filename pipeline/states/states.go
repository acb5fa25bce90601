// Package states says what share of a repository's states run their tests: for each of the last changes it looks for a recipe,
// prepares the environment and runs the tests of the state that the change left.
//
// Recipes come from the ladder of package recipes: no model is asked and no person. Nothing is judged, and no candidate is made. What was installed and run is kept
// in the store, so that a second look runs nothing; a fault of the machinery is kept nowhere and is no verdict on a state.
package states

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/pipeline/recipes"
	"sluice/replay"
	"sluice/store"
)

// Options say what to look at, and where.
type Options struct {
	Store   *store.Store
	History *history.History
	Sandbox replay.Sandbox
	Image   string        // base image of recipes; "" is the tool's
	Limits  replay.Limits // of one run
	N       int           // how many changes, the last ones; 0 is all
	Since   time.Time     // only changes that landed from then on; zero is all
	Files   bool          // run only the test files that the change touches; a change without any has no state here
	Workers int           // states at once; at least 1
	Clock   func() time.Time
	// Begin is told once how many states there are, before the first is looked at; nil: nobody is.
	Begin func(total int)
	// Done is told of each state when it is known, in the order in which that is; nil: nobody is.
	Done func(n, total int, s State)
}

// End says how far a state came.
type End string

// The ends. Only Ran says that tests ran: at least one of them, pass or fail, in a run that agrees with itself.
const (
	Ran            End = "ran"
	NoRecipe       End = "no-recipe"      // no heuristic knows what to do, nor does a neighbour
	InstallFailed  End = "install-failed" // the environment
	BuildFailed    End = "build-failed"   // the source, or all tests
	NoTests        End = "no-tests"       // nothing ran although all built
	Inconsistent   End = "inconsistent"   // report, exit code and log disagree
	Timeout        End = "timeout"        // at the time limit
	OOM            End = "oom"            // at the memory limit
	DiskFull       End = "disk"           // at the limit of what files may take
	Infrastructure End = "infrastructure" // a fault of ours or of the network: says nothing, and is tried again in the next run
)

// State is what became of one state.
type State struct {
	Commit      string       `json:"commit"`
	Title       string       `json:"title"`
	Landed      time.Time    `json:"landed"`
	Tool        string       `json:"tool,omitempty"`
	Image       string       `json:"image,omitempty"`
	Root        string       `json:"root,omitempty"`        // folder of the project in the tree
	Environment string       `json:"environment,omitempty"` // fingerprint
	Shared      bool         `json:"shared"`                // an earlier state has the same environment
	BuildSource replay.Phase `json:"build_source,omitempty"`
	BuildTests  replay.Phase `json:"build_tests,omitempty"`
	Counts
	Rung string `json:"rung,omitempty"` // of the ladder, whose recipe runs tests; the counts are of its run
	// Tries are the steps of the climb where heuristics were not enough.
	Tries  []recipes.Try `json:"tries,omitempty"`
	End    End           `json:"end"`
	Reason string        `json:"reason,omitempty"` // for people, a few lines
	Wall   time.Duration `json:"wall_ns"`          // of the steps of the run that counts
}

// Counts are numbers of tests by outcome, and of files or packages that did not build.
type Counts struct {
	Tests   int `json:"tests"` // that ran: neither skipped nor missing
	Passed  int `json:"passed"`
	Failed  int `json:"failed"` // with those that ended in an error or at their time limit
	Skipped int `json:"skipped"`
	Broken  int `json:"broken"`
}

// Run looks at every state, oldest first. An error ends it only if every further state would meet it; others are the Infrastructure
// of their states.
func Run(ctx context.Context, o Options) ([]State, error) {
	changes, err := o.changes(ctx)
	if err != nil {
		return nil, err
	}
	if o.Begin != nil && len(changes) > 0 {
		o.Begin(len(changes))
	}
	out := make([]State, len(changes))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, o.Workers))
	done := make(chan int)
	told := make(chan struct{})
	go func() {
		defer close(told)
		n := 0
		for i := range done {
			if n++; o.Done != nil {
				o.Done(n, len(out), out[i])
			}
		}
	}()
	for i, c := range changes {
		g.Go(func() error {
			s, err := o.state(ctx, c)
			if err != nil {
				return fmt.Errorf("the state %.12s: %w", c.Head, err)
			}
			out[i] = s
			done <- i
			return nil
		})
	}
	err = g.Wait()
	close(done)
	<-told
	share(out)
	return out, err
}

// share marks the states whose environment an earlier one has too.
func share(list []State) {
	seen := map[string]bool{}
	for i := range list {
		s := &list[i]
		s.Shared = seen[s.Environment]
		seen[s.Environment] = s.Environment != ""
	}
}

// changes are those to look at, oldest first.
func (o Options) changes(ctx context.Context) ([]gitrepo.Change, error) {
	all, _, err := o.History.Changes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	var out []gitrepo.Change
	for i := len(all) - 1; i >= 0 && (o.N == 0 || len(out) < o.N); i-- {
		c := all[i]
		if c.Committed.Before(o.Since) {
			continue
		}
		if o.Files {
			tests, err := o.tests(ctx, c)
			if err != nil {
				return nil, err
			}
			if len(tests) == 0 {
				continue
			}
		}
		out = append([]gitrepo.Change{c}, out...)
	}
	return out, nil
}

// tests are the test files that a change left.
func (o Options) tests(ctx context.Context, c gitrepo.Change) ([]string, error) {
	files, err := o.History.Files(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading the files of %.12s: %w", c.Head, err)
	}
	return history.Strings(history.SplitFiles(files).Test), nil
}

// state looks at one state. An error is one that every state would meet.
func (o Options) state(ctx context.Context, c gitrepo.Change) (State, error) {
	var s State
	for range tries {
		s = State{Commit: c.Head, Title: c.Title, Landed: c.Committed}
		err := o.look(ctx, c, &s)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if pipeline.Aborts(err) {
			return s, err
		}
		s.End, s.Reason = Infrastructure, err.Error()
		if pipeline.IsPermanent(err) {
			break
		}
	}
	return s, nil
}

// tries is how often a state is looked at that the machinery fails on: registries and engines fail now and then.
const tries = 2

func (o Options) look(ctx context.Context, c gitrepo.Change, s *State) error {
	files, err := o.History.Files(ctx, c)
	if err != nil {
		return err
	}
	split := history.SplitFiles(files)
	q := recipes.Request{Once: o.once, Commit: c.Head, Paths: append(split.Tests(), split.Code()...)}
	if o.Files {
		q.Tests = history.Strings(split.Test)
	}
	ladder := recipes.Ladder{History: o.History, Sandbox: o.Sandbox, Image: o.Image, Limits: o.Limits}
	found, err := ladder.Find(ctx, q)
	s.take(found)
	return err
}
