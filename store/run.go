package store

import (
	"context"
	"database/sql"
	"fmt"
)

const runColumns = `key, kind, label, digest, candidate, started, ended`

const runRefs = `SELECT 'run ' || key, digest, -1 FROM run`

func scanRun(s scanner) (r Run, err error) {
	var candidate sql.NullString
	var started, ended int64
	err = s.Scan(&r.Key, &r.Kind, &r.Label, &r.Digest, &candidate, &started, &ended)
	r.Candidate, r.Started, r.Ended = candidate.String, moment(started), moment(ended)
	return r, err
}

// Run returns the stored run with that key, if there is one.
func (s *Store) Run(ctx context.Context, key string) (Run, bool, error) {
	r, ok, err := first(ctx, s.r, scanRun, `SELECT `+runColumns+` FROM run WHERE key = ?`, key)
	if err != nil {
		return r, false, fmt.Errorf("reading run %s: %w", key, err)
	}
	return r, ok, nil
}

// PutRun records a run; its blob must have been Put. ErrExists when the key is there: the first result counts. r.Candidate may
// be empty, else it must exist.
func (s *Store) PutRun(ctx context.Context, r Run) error {
	err := s.blobs.pin(r.Digest)
	if err == nil {
		_, err = s.exec(ctx, `INSERT INTO run (`+runColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			r.Key, r.Kind, r.Label, r.Digest, orNull(r.Candidate), nanos(r.Started), nanos(r.Ended))
	}
	if err != nil {
		return fmt.Errorf("recording run %s: %w", r.Key, explainFile(err))
	}
	return nil
}

// Runs returns the runs that were first made for a candidate, oldest first.
func (s *Store) Runs(ctx context.Context, candidate string) ([]Run, error) {
	rs, err := list(ctx, s.r, scanRun, `SELECT `+runColumns+` FROM run WHERE candidate = ? ORDER BY started, key`, candidate)
	if err != nil {
		return nil, fmt.Errorf("reading the runs of candidate %q: %w", candidate, err)
	}
	return rs, nil
}
