package main

import (
	"context"
	"fmt"
	"time"

	"sluice/store"
)

// askStore adds to a store of fillStore what models were asked about its candidates.
func askStore(ctx context.Context, s *store.Store, _ string) error {
	for i, q := range []struct {
		candidate, stage, model string
		end                     store.CallState
		usd                     int64 // what counts in the end
	}{
		{"fs-aaa", "attribute", "small", store.Settled, 1_250},
		{"fs-aaa", "judge", "large", store.Settled, 1_000_000},
		{"fs-bbb", "judge", "large", store.Settled, 500_001},
		{"fs-bbb", "judge", "large", store.Released, 0},
		{"fs-ccc", "judge", "large", store.Uncertain, 2_000_000},
		{"fs-ddd", "judge", "small", store.Reserved, 40},
		{"", "bench", "small", store.Settled, 3},
	} {
		c := store.ModelCall{Request: fmt.Sprint("q", i), Candidate: q.candidate, Stage: q.stage, Model: q.model, Run: "r", Owner: "test", Reserved: q.usd}
		id, err := s.ReserveModelCall(ctx, c, func(store.ModelTotals) error { return nil })
		if err != nil {
			return err
		}
		if err := endCall(ctx, s, id, q.end, q.usd); err != nil {
			return err
		}
	}
	return firstError(s.UseModelCall(ctx, "q1", "fs-bbb", "judge"), s.UseModelCall(ctx, "q1", "fs-ccc", "judge"))
}

func endCall(ctx context.Context, s *store.Store, id int64, end store.CallState, usd int64) error {
	switch end {
	case store.Settled:
		digest, err := s.Put(ctx, []byte("an exchange"))
		if err != nil {
			return err
		}
		return s.SettleModelCall(ctx, store.ModelCall{ID: id, MicroUSD: usd, Tokens: 1100, Input: 1000, Cached: 400, Output: 100,
			Latency: 1250 * time.Millisecond, Exchange: digest})
	case store.Released:
		return s.ReleaseModelCall(ctx, id, "too many requests")
	case store.Uncertain:
		return s.LoseModelCall(ctx, id, "silence")
	}
	return nil
}
