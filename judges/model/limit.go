package model

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// gate keeps requests to one endpoint within its limits.
type gate struct {
	slots    *semaphore.Weighted
	requests *rate.Limiter
	tokens   *rate.Limiter
}

func newGate(e Endpoint) *gate {
	return &gate{semaphore.NewWeighted(int64(e.Concurrent)), perMinuteLimiter(e.RequestsPerMinute), perMinuteLimiter(e.TokensPerMinute)}
}

// perMinuteLimiter lets a sixth of a minute's share through at once, and spreads the rest: servers count in windows of their own.
func perMinuteLimiter(n float64) *rate.Limiter {
	if n == 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(n/60), max(1, int(n/6)))
}

// enter waits for a slot and for the rates. The caller gives the slot back, once or more often.
func (g *gate) enter(ctx context.Context, tokens int64) (leave func(), err error) {
	if err := g.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("waiting for the endpoint: %w", err)
	}
	leave = sync.OnceFunc(func() { g.slots.Release(1) })
	if err = wait(ctx, g.requests, 1); err == nil {
		err = wait(ctx, g.tokens, tokens)
	}
	if err != nil {
		leave()
		return nil, fmt.Errorf("waiting for the endpoint's rate: %w", err)
	}
	return leave, nil
}

// wait takes n from the limiter, in parts no larger than it gives out at once.
func wait(ctx context.Context, l *rate.Limiter, n int64) error {
	if l.Limit() == rate.Inf {
		return nil
	}
	for n > 0 {
		part := min(n, int64(l.Burst()))
		if err := l.WaitN(ctx, int(part)); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: %w", context.DeadlineExceeded, err) // the wait would outlast the caller's deadline
		}
		n -= part
	}
	return nil
}

// likely is how many tokens a request counts for in the rate: about three bytes each, and the whole reply that it asks for, as servers count.
func likely(most Usage) int64 { return most.Input/3 + most.Output }
