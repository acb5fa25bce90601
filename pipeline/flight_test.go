package pipeline

import (
	"context"
	"testing"
	"time"

	"sluice/store"
)

// TestWaitingKeepsNobodyFromWorking: two candidates want the same run, and there are two sandboxes. The one that only waits leaves its own
// to a third candidate: here the run ends only once that has worked.
func TestWaitingKeepsNobodyFromWorking(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	add(t, s, "a", "b", "c")
	third, waiting := make(chan struct{}), make(chan struct{}, 2)
	f := &Family{Name: "toy", Stages: []Stage{{Name: "run", Version: 1, Pool: Sandbox, Run: func(ctx context.Context, c *Case) (Outcome, error) {
		if c.ID() == "c" {
			<-waiting // both of the others are in their stage, or one of them has left it for a while
			close(third)
			return Pass(), nil
		}
		waiting <- struct{}{}
		_, err := c.Once(ctx, Work{Kind: "work", Label: "shared", Inputs: 1}, func(ctx context.Context) ([]byte, error) {
			select {
			case <-third:
				return []byte("done"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		return Pass(), err
	}}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sum, err := engine(s, Options{Pools: map[Pool]int{Sandbox: 2}}).Run(ctx, f, "")
	if err != nil || sum.Ends[store.Admitted] != 3 {
		t.Errorf("%v %+v", err, sum)
	}
}
