package store

import (
	"context"
	"database/sql"
	"sync"
)

// batch lets writes that wait at the same time share a transaction, and so one wait for the disk. The zero batch needs its turn made.
type batch struct {
	turn chan struct{} // whoever puts something in runs all that waits
	mu   sync.Mutex
	jobs []*job
}

// job is one write.
type job struct {
	ctx  context.Context //nolint:containedctx // looked at before the job runs: cancelling a statement would undo the others' work
	f    func(ctx context.Context, tx *sql.Tx) error
	err  error
	done chan struct{}
}

// together is write for what is written often and by many at once. f is undone alone if it fails; its context is never cancelled. When
// together returns nil, what f did is on disk; when it returns an error, it is undone.
func (s *Store) together(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	b, j := &s.batch, &job{ctx: ctx, f: f, done: make(chan struct{})}
	b.mu.Lock()
	b.jobs = append(b.jobs, j)
	b.mu.Unlock()
	select {
	case <-j.done: // another ran it
	case b.turn <- struct{}{}:
		b.mu.Lock()
		jobs := b.jobs
		b.jobs = nil
		b.mu.Unlock()
		s.run(jobs)
		<-b.turn
		<-j.done // by this run, or by one that ended just before
	}
	return explain(j.err)
}

// run runs jobs in one transaction and tells each its end.
func (s *Store) run(jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	err := s.write(context.WithoutCancel(jobs[0].ctx), func(tx *sql.Tx) error {
		for _, j := range jobs {
			if j.err = j.ctx.Err(); j.err != nil {
				continue
			}
			if err := j.run(context.WithoutCancel(j.ctx), tx); err != nil {
				return err
			}
		}
		return nil
	})
	for _, j := range jobs {
		if j.err == nil {
			j.err = err
		}
		close(j.done)
	}
}

// run runs a job so that it can be undone alone. An error is trouble of the whole transaction.
func (j *job) run(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `SAVEPOINT job`); err != nil {
		return err
	}
	if j.err = j.f(ctx, tx); j.err != nil {
		if _, err := tx.ExecContext(ctx, `ROLLBACK TO job`); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `RELEASE job`)
	return err
}
