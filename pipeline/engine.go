package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"sluice/store"
)

// BudgetCode holds a candidate that used up its own budget.
const BudgetCode = "budget"

// ErrBudget says that the run's budget is used up. What was done is stored; the next run goes on. A stage whose error wraps it ends the
// run.
var ErrBudget = errors.New("the budget of this run is used up")

// ErrCandidateBudget says that a candidate's own budget is used up. A stage whose error wraps it holds the candidate with BudgetCode.
var ErrCandidateBudget = errors.New("the candidate's budget is used up")

// Progress hears what the engine does. Its methods are called from many goroutines.
type Progress interface {
	// Begin says how many candidates the run has to look at.
	Begin(total int)
	// Stage says that a stage of a candidate ended: pass, reject, hold or error. memo: nothing ran.
	Stage(stage, outcome string, memo bool)
	// Done says that a candidate reached an end (or was left to another process).
	Done(state store.State)
}

// Budget bounds a run; zero fields do not.
type Budget struct {
	Wall          time.Duration // of the run: reaching it stops cleanly with ErrBudget
	CandidateWall time.Duration // of one candidate: reaching it holds the candidate
	MinFree       uint64        // bytes of disk that must stay free
}

// Options are an engine's settings; zero fields have defaults.
type Options struct {
	Pools    map[Pool]int // default: 2 each
	Tries    uint         // of an attempt with transient errors; default 3
	BackOff  func() backoff.BackOff
	Clock    func() time.Time
	Owner    string                  // names this process in leases
	Lease    time.Duration           // default 2 minutes; renewed while the process lives
	Dead     func(owner string) bool // tells owners that are known to be gone: their leases are taken back at once
	Free     func() (uint64, error)
	Budget   Budget
	Progress Progress
	Log      *slog.Logger
}

// Engine takes candidates through stages.
type Engine struct {
	store *store.Store
	o     Options
	pools map[Pool]*semaphore.Weighted

	mu      sync.Mutex
	spent   map[string]time.Duration
	flights map[string]*flight // work of Once that goes on, by key
}

// New returns an engine over a store.
func New(s *store.Store, o Options) *Engine {
	o = o.withDefaults()
	e := &Engine{store: s, o: o, pools: map[Pool]*semaphore.Weighted{}, spent: map[string]time.Duration{}, flights: map[string]*flight{}}
	for _, p := range []Pool{CPU, Git, GitHub, Model, Sandbox} {
		e.pools[p] = semaphore.NewWeighted(int64(o.Pools[p]))
	}
	return e
}

func (o Options) withDefaults() Options {
	pools := map[Pool]int{CPU: 2, Git: 2, GitHub: 2, Model: 2, Sandbox: 2}
	for p, n := range o.Pools {
		if n > 0 {
			pools[p] = n
		}
	}
	o.Pools = pools
	if o.Tries == 0 {
		o.Tries = 3
	}
	if o.BackOff == nil {
		o.BackOff = func() backoff.BackOff { return backoff.NewExponentialBackOff() }
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Lease == 0 {
		o.Lease = 2 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = silent{}
	}
	return o
}

type silent struct{}

func (silent) Begin(int)                  {}
func (silent) Stage(string, string, bool) {}
func (silent) Done(store.State)           {}

// Summary is what one run of the engine did.
type Summary struct {
	Candidates int                      `json:"candidates"` // that it had to look at
	Ran        int                      `json:"ran"`        // attempts that ran
	Memo       int                      `json:"memo"`       // attempts whose stored outcome counted
	Busy       int                      `json:"busy"`       // candidates that another process holds
	Ends       map[store.State]int      `json:"ends"`
	Spent      map[string]time.Duration `json:"spent_ns"` // sums of Once work that ran, by kind
	Wall       time.Duration            `json:"wall_ns"`
}

// run is the state of one Engine.Run.
type run struct {
	*Engine
	family *Family
	plan   string

	mu      sync.Mutex
	summary Summary
}

// Run takes every unfinished candidate of a family and repository to an end. "" for repo means all. A candidate whose end still
// holds under the family's stages and settings is not looked at again; a failed one is, if its error was transient.
// On a cancelled context, an exhausted budget or a broken store it stops cleanly: Summary says what was done.
func (e *Engine) Run(ctx context.Context, f *Family, repo string) (Summary, error) {
	if err := f.Check(); err != nil {
		return Summary{}, err
	}
	plan, err := f.plan()
	if err != nil {
		return Summary{}, err
	}
	if err := e.takeBack(ctx); err != nil {
		return Summary{}, err
	}
	todo, err := e.unfinished(ctx, f, repo, plan)
	if err != nil {
		return Summary{}, err
	}
	r := &run{Engine: e, family: f, plan: plan}
	r.summary.Ends = map[store.State]int{}
	r.summary.Candidates = len(todo)
	started := e.o.Clock()
	if e.o.Budget.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.o.Budget.Wall, ErrBudget)
		defer cancel()
	}
	e.o.Progress.Begin(len(todo))
	err = r.all(ctx, todo)
	r.summary.Wall = e.o.Clock().Sub(started)
	r.summary.Spent = e.takeSpent()
	return r.summary, err
}

// takeBack drops the leases of processes that are known to be dead, so that a killed run goes on at once.
func (e *Engine) takeBack(ctx context.Context) error {
	if e.o.Dead == nil {
		return nil
	}
	owners, err := e.store.Owners(ctx)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner != e.o.Owner && e.o.Dead(owner) {
			if err := e.store.DropLeases(ctx, owner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) unfinished(ctx context.Context, f *Family, repo, plan string) ([]store.Candidate, error) {
	all, err := e.store.Candidates(ctx, store.Filter{Family: f.Name, Repo: repo})
	if err != nil {
		return nil, fmt.Errorf("listing candidates: %w", err)
	}
	return slices.DeleteFunc(all, func(c store.Candidate) bool {
		again := c.State == store.Open || c.State == store.Failed && c.Transient
		return c.Plan == plan && !again
	}), nil
}

// all works on the candidates side by side; the pools, not the number of goroutines, bound what runs.
func (r *run) all(ctx context.Context, todo []store.Candidate) error {
	if len(todo) == 0 {
		return nil
	}
	workers := 0
	for _, n := range r.o.Pools {
		workers += n
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	stop := r.keepLeases(gctx)
	defer stop()
	for _, c := range todo {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return r.one(gctx, c) })
	}
	err := g.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// keepLeases renews this process's leases until stop is called: a candidate may take hours.
func (r *run) keepLeases(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ticker := time.NewTicker(r.o.Lease / 3)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := r.store.Renew(ctx, r.o.Owner, r.o.Lease); err != nil && ctx.Err() == nil {
					r.o.Log.Warn("renewing leases", "error", err)
				}
			}
		}
	}()
	return func() { cancel(); ticker.Stop(); <-done }
}

// one leases a candidate and takes it to an end.
func (r *run) one(ctx context.Context, c store.Candidate) error {
	ok, err := r.store.Lease(ctx, c.ID, r.o.Owner, r.o.Lease)
	if err != nil {
		return fmt.Errorf("leasing %s: %w", c.ID, err)
	}
	if !ok {
		r.count(func(s *Summary) { s.Busy++ })
		r.o.Progress.Done(store.Open)
		return nil
	}
	defer func() { _ = r.store.Unlease(context.WithoutCancel(ctx), c.ID, r.o.Owner) }()
	if c, err = r.store.Candidate(ctx, c.ID); err != nil { // another process may have worked on it since it was listed
		return fmt.Errorf("reading %s: %w", c.ID, err)
	}
	state, err := r.advance(ctx, c)
	if err != nil {
		return fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	r.count(func(s *Summary) { s.Ends[state]++ })
	r.o.Progress.Done(state)
	return nil
}

func (r *run) count(f func(*Summary)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.summary)
}

// once is the body of Case.Once; its flight has made sure that this process does it alone.
func (e *Engine) once(ctx context.Context, key, candidate string, w Work, f func(context.Context) ([]byte, error)) ([]byte, error) {
	if b, ok, err := e.stored(ctx, key); ok || err != nil {
		return b, err
	}
	started := e.o.Clock()
	b, err := f(ctx)
	if err != nil {
		return nil, err
	}
	ended := e.o.Clock()
	digest, err := e.store.Put(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("storing %s: %w", w.Label, err)
	}
	err = e.store.PutRun(ctx, store.Run{Key: key, Kind: w.Kind, Label: w.Label, Digest: digest, Candidate: candidate, Started: started, Ended: ended})
	if errors.Is(err, store.ErrExists) { // another process was faster; its result counts
		b, _, err = e.stored(ctx, key)
	}
	if err != nil {
		return nil, fmt.Errorf("storing %s: %w", w.Label, err)
	}
	e.mu.Lock()
	e.spent[w.Kind] += ended.Sub(started)
	e.mu.Unlock()
	return b, nil
}

func (e *Engine) stored(ctx context.Context, key string) ([]byte, bool, error) {
	r, ok, err := e.store.Run(ctx, key)
	if !ok || err != nil {
		return nil, false, err
	}
	b, err := e.store.Get(ctx, r.Digest)
	return b, err == nil, err
}

func (e *Engine) takeSpent() map[string]time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.spent
	e.spent = map[string]time.Duration{}
	return s
}
