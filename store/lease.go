package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Lease takes the candidate for owner until ttl from now, unless another holds it: then false. Taking one's own again
// lengthens it. ErrNotFound when there is no such candidate.
func (s *Store) Lease(ctx context.Context, id, owner string, ttl time.Duration) (bool, error) {
	now := s.clock()
	n, err := s.exec(ctx, `INSERT INTO lease (candidate, owner, until) VALUES (?, ?, ?)
		ON CONFLICT (candidate) DO UPDATE SET owner = excluded.owner, until = excluded.until
		WHERE lease.owner = excluded.owner OR lease.until <= ?`, id, owner, nanos(now.Add(ttl)), nanos(now))
	if err != nil {
		return false, fmt.Errorf("leasing candidate %q: %w", id, err)
	}
	return n > 0, nil
}

// Renew lengthens all leases that owner still holds to ttl from now. Those that expired are lost.
func (s *Store) Renew(ctx context.Context, owner string, ttl time.Duration) error {
	now := s.clock()
	_, err := s.exec(ctx, `UPDATE lease SET until = ? WHERE owner = ? AND until > ?`, nanos(now.Add(ttl)), owner, nanos(now))
	if err != nil {
		return fmt.Errorf("renewing the leases of %s: %w", owner, err)
	}
	return nil
}

// Unlease gives a candidate back; it does nothing when owner does not hold it.
func (s *Store) Unlease(ctx context.Context, id, owner string) error {
	if _, err := s.exec(ctx, `DELETE FROM lease WHERE candidate = ? AND owner = ?`, id, owner); err != nil {
		return fmt.Errorf("giving back candidate %q: %w", id, err)
	}
	return nil
}

// holder returns who holds the candidate now, "" if nobody does.
func holder(ctx context.Context, tx *sql.Tx, id string, now time.Time) (string, error) {
	owner, _, err := first(ctx, tx, scanOne[string], `SELECT owner FROM lease WHERE candidate = ? AND until > ?`, id, nanos(now))
	return owner, err
}
