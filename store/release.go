package store

import (
	"context"
	"database/sql"
	"fmt"
)

const releaseRefs = `SELECT 'release ' || name, digest, -1 FROM release`

// PutRelease records a release; its manifest must have been Put. ErrExists when the name is taken: a release never changes.
func (s *Store) PutRelease(ctx context.Context, r Release) error {
	err := s.blobs.pin(r.Digest)
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) error { return insertRelease(ctx, tx, r) })
	}
	if err != nil {
		return fmt.Errorf("recording release %q: %w", r.Name, explainFile(err))
	}
	return nil
}

func insertRelease(ctx context.Context, tx *sql.Tx, r Release) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO release (name, digest, created) VALUES (?, ?, ?)`, r.Name, r.Digest, nanos(r.Created))
	if err != nil {
		return err
	}
	for i, id := range r.Candidates {
		_, err := tx.ExecContext(ctx, `INSERT INTO release_instance (release, ord, candidate) VALUES (?, ?, ?)`, r.Name, i, id)
		if err != nil {
			return fmt.Errorf("candidate %q: %w", id, err)
		}
	}
	return nil
}

// Releases returns all releases, oldest first, each with its candidates in the order in which they were given.
func (s *Store) Releases(ctx context.Context) ([]Release, error) {
	scan := func(s scanner) (r Release, err error) {
		var created int64
		err = s.Scan(&r.Name, &r.Digest, &created)
		r.Created = moment(created)
		return r, err
	}
	rs, err := list(ctx, s.r, scan, `SELECT name, digest, created FROM release ORDER BY created, name`)
	for i := range rs {
		if err == nil {
			rs[i].Candidates, err = list(ctx, s.r, scanOne[string],
				`SELECT candidate FROM release_instance WHERE release = ? ORDER BY ord`, rs[i].Name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading releases: %w", err)
	}
	return rs, nil
}
