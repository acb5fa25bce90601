package store

import (
	"context"
	"database/sql"
	"fmt"
)

const attemptColumns = `id, candidate, stage, version, key, outcome, code, reason, transient, owner, started, ended`

func scanAttempt(s scanner) (a Attempt, err error) {
	var started, ended int64
	err = s.Scan(&a.ID, &a.Candidate, &a.Stage, &a.Version, &a.Key, &a.Outcome, &a.Code, &a.Reason, &a.Transient, &a.Owner,
		&started, &ended)
	a.Started, a.Ended = moment(started), moment(ended)
	return a, err
}

// Commit records an attempt with its evidence and moves the candidate, all or nothing, and returns the attempt's id (a.ID is
// ignored). The blobs of the evidence must have been Put. ErrLeased unless a.Owner holds the candidate now; ErrExists when an
// outcome under the same key is stored already; ErrMissing when a blob is not there.
func (s *Store) Commit(ctx context.Context, a Attempt, p Position) (id int64, err error) {
	err = s.blobs.pin(digests(a.Evidence)...)
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) (err error) {
			id, err = s.commit(ctx, tx, a, p)
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("committing stage %s of candidate %q: %w", a.Stage, a.Candidate, explainFile(err))
	}
	return id, nil
}

func (s *Store) commit(ctx context.Context, tx *sql.Tx, a Attempt, p Position) (int64, error) {
	owner, err := holder(ctx, tx, a.Candidate, s.clock())
	if err != nil {
		return 0, err
	}
	if owner == "" || owner != a.Owner {
		return 0, fmt.Errorf("%w (held by %q, not by %q)", ErrLeased, owner, a.Owner)
	}
	a.ID, err = insertAttempt(ctx, tx, a)
	if err != nil {
		return 0, err
	}
	if err := insertEvidence(ctx, tx, a); err != nil {
		return 0, err
	}
	p.Attempt = a.ID
	return a.ID, setPosition(ctx, tx, a.Candidate, p)
}

func insertAttempt(ctx context.Context, tx *sql.Tx, a Attempt) (id int64, err error) {
	// The generation is the candidate's, read here: a lease holder is the only one who could have changed it since.
	err = tx.QueryRowContext(ctx, `INSERT INTO attempt
		(candidate, generation, stage, version, key, outcome, code, reason, transient, owner, started, ended)
		SELECT id, generation, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM candidate WHERE id = ? RETURNING id`,
		a.Stage, a.Version, a.Key, a.Outcome, a.Code, a.Reason, a.Transient, a.Owner, nanos(a.Started), nanos(a.Ended),
		a.Candidate).Scan(&id)
	return id, err
}

// AttemptByKey returns the attempt with that key and an outcome other than error, with its evidence.
func (s *Store) AttemptByKey(ctx context.Context, candidate, key string) (Attempt, bool, error) {
	a, ok, err := first(ctx, s.r, scanAttempt,
		`SELECT `+attemptColumns+` FROM attempt WHERE candidate = ? AND key = ? AND outcome <> 'error'`, candidate, key)
	if err == nil && ok {
		a.Evidence, err = evidenceOf(ctx, s.r, a.ID)
	}
	if err != nil {
		return a, false, fmt.Errorf("reading the attempt of candidate %q with key %s: %w", candidate, key, err)
	}
	return a, ok, nil
}

// Attempts returns all attempts on a candidate with their evidence, oldest first.
func (s *Store) Attempts(ctx context.Context, candidate string) ([]Attempt, error) {
	as, err := list(ctx, s.r, scanAttempt, `SELECT `+attemptColumns+` FROM attempt WHERE candidate = ? ORDER BY id`, candidate)
	for i := range as {
		if err == nil {
			as[i].Evidence, err = evidenceOf(ctx, s.r, as[i].ID)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the attempts of candidate %q: %w", candidate, err)
	}
	return as, nil
}
