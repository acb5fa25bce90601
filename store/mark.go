package store

import (
	"context"
	"fmt"
)

// markRefs: a mark whose value is a digest keeps that blob, but a mark may name a digest of something that is no blob.
const markRefs = `SELECT 'mark ' || name, value, -1 FROM mark`

// PutMark keeps a small named fact, in place of an older one of that name.
func (s *Store) PutMark(ctx context.Context, name, value string) error {
	_, err := s.exec(ctx, `INSERT INTO mark (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	if err != nil {
		return fmt.Errorf("recording mark %q: %w", name, err)
	}
	return nil
}

// Mark returns a named fact, if it is known.
func (s *Store) Mark(ctx context.Context, name string) (value string, ok bool, err error) {
	value, ok, err = first(ctx, s.r, scanOne[string], `SELECT value FROM mark WHERE name = ?`, name)
	if err != nil {
		return "", false, fmt.Errorf("reading mark %q: %w", name, err)
	}
	return value, ok, nil
}
