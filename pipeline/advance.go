package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/cenkalti/backoff/v5"

	"sluice/store"
)

// The outcomes of an attempt, as the store keeps them.
const (
	outcomePass   = "pass"
	outcomeReject = "reject"
	outcomeHold   = "hold"
	outcomeError  = "error"
)

// step is one candidate at one stage.
type step struct {
	stage     *Stage
	next      string // name of the following stage, "" after the last
	key       string
	candidate store.Candidate
	inputs    map[string]store.Evidence
	slot      *slot
}

// advance walks a candidate through the stages. A stage whose key has a stored outcome does not run again.
func (r *run) advance(ctx context.Context, c store.Candidate) (store.State, error) {
	inputs := map[string]store.Evidence{}
	data := string(c.Data)
	if r.o.Budget.CandidateWall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.o.Budget.CandidateWall, errCandidateTime)
		defer cancel()
	}
	for i := range r.family.Stages {
		s := step{stage: &r.family.Stages[i], candidate: c, inputs: inputs}
		if i+1 < len(r.family.Stages) {
			s.next = r.family.Stages[i+1].Name
		}
		var err error
		if s.key, err = r.key(s, data); err != nil {
			return "", err
		}
		a, err := r.attempt(ctx, s)
		if err != nil {
			return "", fmt.Errorf("stage %s: %w", s.stage.Name, err)
		}
		for _, ev := range a.Evidence {
			inputs[ev.Name] = ev
		}
		if a.Outcome != outcomePass {
			return r.position(s, a).State, nil
		}
	}
	return store.Admitted, nil
}

// key is the memo key of a stage for a candidate (DESIGN §3, Memo).
func (r *run) key(s step, data string) (string, error) {
	parts := []any{s.stage.Name, s.stage.Version, s.stage.Settings, s.candidate.Generation, data}
	for _, name := range s.stage.Reads {
		parts = append(parts, name, s.inputs[name].Digest)
	}
	return digestJSON(parts...)
}

// position is where a candidate stands after an attempt.
func (r *run) position(s step, a store.Attempt) store.Position {
	p := store.Position{Stage: s.stage.Name, Code: a.Code, Reason: a.Reason, Plan: r.plan, Attempt: a.ID}
	switch a.Outcome {
	case outcomePass:
		p.State, p.Stage = store.Open, s.next
		if s.next == "" {
			p.State, p.Stage = store.Admitted, s.stage.Name
		}
	case outcomeReject:
		p.State = store.Rejected
	case outcomeHold:
		p.State = store.Held
	default:
		p.State, p.Transient = store.Failed, a.Transient
	}
	return p
}

// attempt returns the stored attempt of the step's key, or makes one.
func (r *run) attempt(ctx context.Context, s step) (store.Attempt, error) {
	a, ok, err := r.stored(ctx, &s)
	if err != nil {
		return a, err
	}
	if ok {
		r.count(func(t *Summary) { t.Memo++ })
		r.o.Progress.Stage(s.stage.Name, a.Outcome, true)
		return a, r.settle(ctx, s, a)
	}
	s.slot = &slot{pool: r.pools[s.stage.Pool]}
	if err := s.slot.take(ctx); err != nil {
		return r.stopped(ctx, s, err)
	}
	defer s.slot.give()
	if err := r.enoughDisk(); err != nil {
		return a, err
	}
	return r.tries(ctx, s)
}

// stored looks the step's attempt up. One that a budget ended is no answer of the stage: when somebody has opened the candidate again, the
// stage runs once more under a key of its own, with all that it has paid and stored before.
func (r *run) stored(ctx context.Context, s *step) (store.Attempt, bool, error) {
	a, ok, err := r.store.AttemptByKey(ctx, s.candidate.ID, s.key)
	for err == nil && ok && a.Code == BudgetCode {
		var next string
		if next, err = digestJSON(s.key, BudgetCode); err != nil {
			break
		}
		b, again, berr := r.store.AttemptByKey(ctx, s.candidate.ID, next)
		if err = berr; err != nil || !again && s.candidate.State != store.Open {
			break
		}
		a, ok, s.key = b, again, next
	}
	if err != nil {
		return a, false, fmt.Errorf("looking up the attempt: %w", err)
	}
	return a, ok, nil
}

// settle moves the candidate to where a stored attempt puts it, if it stands elsewhere.
func (r *run) settle(ctx context.Context, s step, a store.Attempt) error {
	if a.Outcome == outcomePass && s.next != "" {
		return nil // the following stage will say where it stands
	}
	if err := r.store.SetPosition(ctx, s.candidate.ID, r.position(s, a)); err != nil {
		return fmt.Errorf("setting the position: %w", err)
	}
	return nil
}

// tries runs a stage until it gives an outcome, a permanent error, or the last of its tries fails. Every try is recorded.
func (r *run) tries(ctx context.Context, s step) (store.Attempt, error) {
	var last store.Attempt
	n := uint(0)
	try := func() (store.Attempt, error) {
		n++
		a, made, err := r.try(ctx, s)
		if ctx.Err() != nil {
			return a, backoff.Permanent(context.Cause(ctx))
		}
		if Aborts(err) {
			return a, backoff.Permanent(&endOfRun{err})
		}
		a.Transient = err != nil && !IsPermanent(err)
		a.Evidence = made
		p := r.position(s, a)
		if err != nil && a.Transient && n < r.o.Tries {
			p = store.Position{State: store.Open, Stage: s.stage.Name, Plan: r.plan}
		}
		if _, cerr := r.store.Commit(ctx, a, p); cerr != nil {
			return a, backoff.Permanent(&endOfRun{fmt.Errorf("committing: %w", cerr)})
		}
		last = a
		r.count(func(t *Summary) { t.Ran++ })
		r.o.Progress.Stage(s.stage.Name, a.Outcome, false)
		if err != nil && !a.Transient {
			return a, backoff.Permanent(err)
		}
		return a, err
	}
	a, err := backoff.Retry(ctx, try, backoff.WithBackOff(r.o.BackOff()), backoff.WithMaxTries(r.o.Tries), backoff.WithMaxElapsedTime(0))
	var end *endOfRun
	switch {
	case errors.As(err, &end):
		return a, end.error
	case err != nil && ctx.Err() != nil:
		return r.stopped(ctx, s, err)
	}
	return last, nil
}

// endOfRun tells trouble that every candidate would meet (the store, the disk, no sandbox) from trouble of a stage.
type endOfRun struct{ error }

// try runs a stage once. A panic is a fault of ours that no repetition cures.
func (r *run) try(ctx context.Context, s step) (a store.Attempt, made []store.Evidence, err error) {
	c := &Case{candidate: s.candidate, stage: s.stage, engine: r.Engine, key: s.key, inputs: s.inputs, slot: s.slot}
	a = store.Attempt{Candidate: s.candidate.ID, Stage: s.stage.Name, Version: s.stage.Version, Key: s.key, Owner: r.o.Owner, Started: r.o.Clock()}
	defer func() {
		if p := recover(); p != nil {
			r.o.Log.Error("panic in a stage", "stage", s.stage.Name, "candidate", s.candidate.ID, "panic", p, "stack", string(debug.Stack()))
			err = Permanent(fmt.Errorf("panic: %v", p))
		}
		a.Ended = r.o.Clock()
		switch {
		case errors.Is(err, ErrCandidateBudget):
			a.Outcome, a.Code, a.Reason, err = outcomeHold, BudgetCode, err.Error(), nil
		case err != nil:
			a.Outcome, a.Code, a.Reason = outcomeError, "error", err.Error()
		}
		made = c.made
	}()
	o, err := s.stage.Run(ctx, c)
	if err == nil {
		if kerr := s.stage.knows(o); kerr != nil {
			err = Permanent(kerr)
		}
	}
	a.Outcome, a.Code, a.Reason = o.kind, o.Code, o.Reason
	return a, nil, err
}

var errCandidateTime = errors.New("the candidate's time budget is used up")

// stopped handles a context that ended while a step waited or ran: a candidate that used up its own budget is held, anything
// else (Ctrl-C, the run's budget) leaves it open for the next run.
func (r *run) stopped(ctx context.Context, s step, err error) (store.Attempt, error) {
	if !errors.Is(context.Cause(ctx), errCandidateTime) {
		return store.Attempt{}, err
	}
	now := r.o.Clock()
	a := store.Attempt{Candidate: s.candidate.ID, Stage: s.stage.Name, Version: s.stage.Version, Key: s.key, Owner: r.o.Owner,
		Outcome: outcomeHold, Code: BudgetCode, Reason: errCandidateTime.Error(), Started: now, Ended: now}
	if _, err := r.store.Commit(context.WithoutCancel(ctx), a, r.position(s, a)); err != nil {
		return a, fmt.Errorf("committing: %w", err)
	}
	return a, nil
}

func (r *run) enoughDisk() error {
	if r.o.Budget.MinFree == 0 || r.o.Free == nil {
		return nil
	}
	free, err := r.o.Free()
	if err != nil {
		return fmt.Errorf("asking for free disk space: %w", err)
	}
	if free < r.o.Budget.MinFree {
		return fmt.Errorf("%w: %d MB of disk are free, the limit is %d MB: free some and run again", ErrBudget, free/1e6, r.o.Budget.MinFree/1e6)
	}
	return nil
}
