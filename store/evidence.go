package store

import (
	"context"
	"database/sql"
	"fmt"
)

const evidenceColumns = `name, media_type, digest, size`

// evidenceRefs are the digests that evidence refers to: where, digest, size.
const evidenceRefs = `SELECT 'evidence ' || name || ' of attempt ' || attempt, digest, size FROM evidence`

func scanEvidence(s scanner) (e Evidence, err error) {
	err = s.Scan(&e.Name, &e.MediaType, &e.Digest, &e.Size)
	return e, err
}

func insertEvidence(ctx context.Context, tx *sql.Tx, a Attempt) error {
	for _, e := range a.Evidence {
		_, err := tx.ExecContext(ctx, `INSERT INTO evidence (attempt, name, media_type, digest, size) VALUES (?, ?, ?, ?, ?)`,
			a.ID, e.Name, e.MediaType, e.Digest, e.Size)
		if err != nil {
			return fmt.Errorf("evidence %s: %w", e.Name, err)
		}
	}
	return nil
}

// evidenceOf returns an attempt's evidence in the order of the names.
func evidenceOf(ctx context.Context, q querier, attempt int64) ([]Evidence, error) {
	return list(ctx, q, scanEvidence, `SELECT `+evidenceColumns+` FROM evidence WHERE attempt = ? ORDER BY name`, attempt)
}

// LatestEvidence returns the evidence of that name: of the attempt that decided where the candidate stands if that made it
// (an older attempt may count again when settings return), else of the newest one with an outcome other than error.
func (s *Store) LatestEvidence(ctx context.Context, candidate, name string) (Evidence, bool, error) {
	e, ok, err := first(ctx, s.r, scanEvidence, `SELECT `+evidenceColumns+` FROM evidence JOIN attempt a ON a.id = evidence.attempt
		JOIN candidate c ON c.id = a.candidate WHERE a.candidate = ? AND name = ? AND a.outcome <> 'error'
		ORDER BY CASE WHEN a.id = c.attempt THEN 0 ELSE 1 END, a.id DESC LIMIT 1`, candidate, name)
	if err != nil {
		return e, false, fmt.Errorf("reading evidence %s of candidate %q: %w", name, candidate, err)
	}
	return e, ok, nil
}

func digests(es []Evidence) []string {
	ds := make([]string, len(es))
	for i, e := range es {
		ds[i] = e.Digest
	}
	return ds
}
