package store

import (
	"context"
	"fmt"
	"time"
)

// ModelCost sums the model calls of one candidate, stage and model.
type ModelCost struct {
	Candidate string // "" for calls on nobody's account
	State     State  // where the candidate stands now; "" for none
	Stage     string
	Model     string
	Settled   int64 // calls whose reply is stored
	Used      int64 // stored replies that were used instead of a call
	Released  int64 // calls that cost nothing
	Uncertain int64 // calls that may have to be paid
	Reserved  int64 // calls on their way
	Input     int64 // tokens of the settled, like the next two
	Cached    int64 // of Input
	Output    int64
	Latency   time.Duration // of the settled, one after the other

	SettledUSD   int64 // millionths of a dollar, like the next two
	UncertainUSD int64
	ReservedUSD  int64
}

// ModelCosts returns the sums, ordered by candidate, stage and model; an empty family or repo means all, and only then are calls on
// nobody's account among them.
func (s *Store) ModelCosts(ctx context.Context, family, repo string) ([]ModelCost, error) {
	scan := func(s scanner) (m ModelCost, err error) {
		err = s.Scan(&m.Candidate, &m.State, &m.Stage, &m.Model, &m.Settled, &m.Used, &m.Released, &m.Uncertain, &m.Reserved,
			&m.Input, &m.Cached, &m.Output, &m.Latency, &m.SettledUSD, &m.UncertainUSD, &m.ReservedUSD)
		return m, err
	}
	cond, args := where(Filter{Family: family, Repo: repo})
	costs, err := list(ctx, s.r, scan, `WITH line AS (
			SELECT candidate, stage, model, state AS what, tokens_in, tokens_cached, tokens_out, latency, micro_usd FROM model_call
			UNION ALL SELECT u.candidate, u.stage, m.model, 'used', 0, 0, 0, 0, 0 FROM model_use u JOIN model_call m ON m.id = u.call
		) SELECT coalesce(line.candidate, '') AS candidate, coalesce(c.state, ''), line.stage, model,
			sum(CASE what WHEN 'settled' THEN 1 ELSE 0 END), sum(CASE what WHEN 'used' THEN 1 ELSE 0 END),
			sum(CASE what WHEN 'released' THEN 1 ELSE 0 END), sum(CASE what WHEN 'uncertain' THEN 1 ELSE 0 END),
			sum(CASE what WHEN 'reserved' THEN 1 ELSE 0 END), sum(tokens_in), sum(tokens_cached), sum(tokens_out), sum(latency),
			sum(CASE what WHEN 'settled' THEN micro_usd ELSE 0 END), sum(CASE what WHEN 'uncertain' THEN micro_usd ELSE 0 END),
			sum(CASE what WHEN 'reserved' THEN micro_usd ELSE 0 END)
		FROM line LEFT JOIN candidate c ON c.id = line.candidate`+cond+`
		GROUP BY line.candidate, c.state, line.stage, model ORDER BY 1, line.stage, model`, args...)
	if err != nil {
		return nil, fmt.Errorf("summing model calls: %w", err)
	}
	return costs, nil
}
