package pipeline

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/store"
)

// TestFailures: a stage learns how often it failed for good on the same inputs, not how often it was merely interrupted.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a")
	var seen []int
	ends := []error{Permanent(errors.New("void")), errors.New("busy"), Permanent(errors.New("void again")), nil}
	f := &Family{Name: "toy", Stages: []Stage{{Name: "only", Version: 1, Pool: CPU, Run: func(ctx context.Context, c *Case) (Outcome, error) {
		n, err := c.Failures(ctx)
		seen = append(seen, n)
		return Pass(), errors.Join(err, ends[len(seen)-1])
	}}}}
	for range 3 { // the second run meets the transient error and tries again
		if _, err := engine(s, Options{}).Run(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
		if err := s.SetPosition(t.Context(), "a", store.Position{State: store.Open, Stage: "only"}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{0, 1, 1, 2}, seen); diff != "" {
		t.Error(diff)
	}
}
