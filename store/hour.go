package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Hour is what became of one hour file of GH Archive.
type Hour struct {
	Name    string // as the archive writes it: 2015-01-01-8
	State   string // done, partial, gap, missing, suspect, not_gzip, not_expected
	Digest  string // SHA-256 of the compressed file; "" when there is none
	Size    int64  // of the compressed file, in bytes
	Counts  []byte // JSON: events, leads, and what was wrong, by name
	Version int    // of the miner that read it
	At      time.Time
}

const hourColumns = `name, state, digest, size, counts, version, at`

func scanHour(s scanner) (h Hour, err error) {
	var at int64
	err = s.Scan(&h.Name, &h.State, &h.Digest, &h.Size, &h.Counts, &h.Version, &at)
	h.At = moment(at)
	return h, err
}

// FinishHour records an hour in place of what was known of it, and adds the leads that are new, in one transaction: an hour
// that is done has its leads.
func (s *Store) FinishHour(ctx context.Context, h Hour, leads []Lead) (added int, err error) {
	if err := s.pinLeads(leads); err != nil {
		return 0, fmt.Errorf("recording hour %s: %w", h.Name, err)
	}
	err = s.write(ctx, func(tx *sql.Tx) (err error) {
		if added, err = insertLeads(ctx, tx, leads); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO hour (`+hourColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET state = excluded.state, digest = excluded.digest, size = excluded.size,
			counts = excluded.counts, version = excluded.version, at = excluded.at`,
			h.Name, h.State, h.Digest, h.Size, string(h.Counts), h.Version, nanos(h.At))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("recording hour %s: %w", h.Name, err)
	}
	return added, nil
}

// Hour returns what is known of an hour file, if anything.
func (s *Store) Hour(ctx context.Context, name string) (h Hour, ok bool, err error) {
	h, ok, err = first(ctx, s.r, scanHour, `SELECT `+hourColumns+` FROM hour WHERE name = ?`, name)
	if err != nil {
		return h, false, fmt.Errorf("reading hour %s: %w", name, err)
	}
	return h, ok, nil
}

// Hours returns all that is known, in the order of names.
func (s *Store) Hours(ctx context.Context) ([]Hour, error) {
	hours, err := list(ctx, s.r, scanHour, `SELECT `+hourColumns+` FROM hour ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("reading hours: %w", err)
	}
	return hours, nil
}
