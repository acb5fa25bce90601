package store

import (
	"context"
	"fmt"
)

// AllReviews returns the reviews of all candidates of a family and a repository ("" means all), oldest first.
func (s *Store) AllReviews(ctx context.Context, family, repo string) ([]Review, error) {
	cond, args := where(Filter{Family: family, Repo: repo})
	rs, err := list(ctx, s.r, scanReview, `SELECT candidate, decision, note, reviewer, at FROM review
		WHERE candidate IN (SELECT id FROM candidate`+cond+`) ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading reviews: %w", err)
	}
	return rs, nil
}
