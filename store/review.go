package store

import (
	"context"
	"database/sql"
	"fmt"
)

func scanReview(s scanner) (r Review, err error) {
	var at int64
	err = s.Scan(&r.Candidate, &r.Decision, &r.Note, &r.By, &at)
	r.At = moment(at)
	return r, err
}

// Reopen records the review of a candidate and opens it in a new generation, so that every stage runs anew. r.Candidate is
// ignored. ErrLeased while a process works on it, ErrNotFound.
func (s *Store) Reopen(ctx context.Context, id string, r Review) error {
	r.Candidate = id
	err := s.write(ctx, func(tx *sql.Tx) error {
		owner, err := holder(ctx, tx, id, s.clock())
		if err != nil {
			return err
		}
		if owner != "" {
			return fmt.Errorf("%w (%q)", ErrLeased, owner)
		}
		if err := insertReview(ctx, tx, r); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE candidate SET generation = generation + 1, state = 'open', stage = '', code = '',
			reason = '', transient = 0, plan = '', attempt = 0 WHERE id = ?`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("re-opening candidate %q: %w", id, err)
	}
	return nil
}

// AddReview records a person's decision that does not move the candidate.
func (s *Store) AddReview(ctx context.Context, r Review) error {
	if err := insertReview(ctx, s.w, r); err != nil {
		return fmt.Errorf("recording a review of candidate %q: %w", r.Candidate, explain(err))
	}
	return nil
}

func insertReview(ctx context.Context, q querier, r Review) error {
	_, err := q.ExecContext(ctx, `INSERT INTO review (candidate, decision, note, reviewer, at) VALUES (?, ?, ?, ?, ?)`,
		r.Candidate, r.Decision, r.Note, r.By, nanos(r.At))
	return err
}

// Reviews returns the reviews of a candidate, oldest first.
func (s *Store) Reviews(ctx context.Context, id string) ([]Review, error) {
	rs, err := list(ctx, s.r, scanReview, `SELECT candidate, decision, note, reviewer, at FROM review
		WHERE candidate = ? ORDER BY id`, id)
	if err != nil {
		return nil, fmt.Errorf("reading the reviews of candidate %q: %w", id, err)
	}
	return rs, nil
}
