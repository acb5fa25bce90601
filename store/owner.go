package store

import (
	"context"
	"fmt"
)

// Owners lists everybody who holds a lease, expired ones included.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	owners, err := list(ctx, s.r, scanOne[string], `SELECT DISTINCT owner FROM lease ORDER BY owner`)
	if err != nil {
		return nil, fmt.Errorf("listing the owners of leases: %w", err)
	}
	return owners, nil
}

// DropLeases gives back all that an owner holds: the caller knows that it is dead.
func (s *Store) DropLeases(ctx context.Context, owner string) error {
	if _, err := s.exec(ctx, `DELETE FROM lease WHERE owner = ?`, owner); err != nil {
		return fmt.Errorf("dropping the leases of %s: %w", owner, err)
	}
	return nil
}
