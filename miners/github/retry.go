package github

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// retrier sends a request again when it failed in passing: no answer, a cut one, a server error. The last answer counts. Limits are no
// failures, and are not its business.
type retrier struct {
	next  http.RoundTripper
	tries int
	sleep func(ctx context.Context, reason string, d time.Duration) error
	count *atomic.Int64
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	waits := &backoff.ExponentialBackOff{InitialInterval: time.Second, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: time.Minute}
	waits.Reset()
	for try := 1; ; try++ {
		resp, err := r.next.RoundTrip(req)
		if try == r.tries || !passing(resp, err) {
			return resp, err
		}
		if err := r.sleep(req.Context(), "after a failure in passing", waits.NextBackOff()); err != nil {
			return nil, err
		}
		r.count.Add(1)
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

func passing(resp *http.Response, err error) bool {
	if err != nil {
		return errors.Is(err, ErrNetwork) || errors.Is(err, ErrBadAnswer)
	}
	return resp.StatusCode >= 500
}
