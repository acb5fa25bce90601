package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/judges/model"
)

// The tests of this file run on a clock of their own, so that minutes cost nothing and times are exact.

// drip is a transport whose server answers after a while, one event of a stream at a time.
type drip struct {
	header time.Duration // before the header
	pause  time.Duration // before each event
	events []string
	status []int // of the first answers; then 200
	after  string

	mu    sync.Mutex
	times []time.Time
}

func (d *drip) RoundTrip(req *http.Request) (*http.Response, error) {
	d.mu.Lock()
	n := len(d.times)
	d.times = append(d.times, time.Now())
	d.mu.Unlock()
	if err := hold(req.Context(), d.header); err != nil {
		return nil, err
	}
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: req,
		Body: &dripping{ctx: req.Context(), pause: d.pause, events: d.events}}
	if n < len(d.status) {
		resp.StatusCode, resp.Body = d.status[n], io.NopCloser(strings.NewReader("busy"))
		resp.Header.Set("Retry-After", d.after)
	}
	return resp, nil
}

func hold(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

type dripping struct {
	ctx    context.Context
	pause  time.Duration
	events []string
}

func (d *dripping) Read(p []byte) (int, error) {
	if len(d.events) == 0 {
		return 0, io.EOF
	}
	if err := hold(d.ctx, d.pause); err != nil {
		return 0, err
	}
	n := copy(p, d.events[0])
	d.events = d.events[1:]
	return n, nil
}

func (*dripping) Close() error { return nil }

// answer is a stream of that many words.
func answer(words int) []string {
	var out []string
	for range words {
		out = append(out, `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}`+"\n\n")
	}
	return append(out, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// over makes a client over the transport. change may be nil.
func over(t *testing.T, d *drip, change func(*model.Endpoint)) (*model.Client, *model.Memory) {
	e := model.Endpoint{Name: "e", URL: "http://model.test/v1", Stream: true, Concurrent: 100, Tries: 1}
	if change != nil {
		change(&e)
	}
	ledger := model.NewMemory(0)
	c, err := model.New(model.Config{Endpoints: []model.Endpoint{e}, Models: []model.Spec{{Name: "m", Endpoint: "e", MaxOutput: 100, InputUSD: "1", OutputUSD: "1"}}},
		model.Options{Ledger: ledger, HTTP: &http.Client{Transport: d}})
	if err != nil {
		t.Fatal(err)
	}
	return c, ledger
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		drip *drip
		took time.Duration
		err  string
	}{
		{"no header", &drip{header: time.Hour}, 3 * time.Minute, "no byte for 3m0s"},
		{"silence after the header", &drip{pause: time.Hour, events: answer(1)}, 3 * time.Minute, "no byte for 3m0s"},
		{"always just in time", &drip{header: 179 * time.Second, pause: 179 * time.Second, events: answer(3)}, 5 * 179 * time.Second, ""},
		{"for ever", &drip{pause: time.Minute, events: answer(100)}, 15 * time.Minute, "no whole reply within 15m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, ledger := over(t, tt.drip, nil)
				start := time.Now()
				_, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
				took := time.Since(start)
				if took != tt.took || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v after %v, want %q after %v", err, took, tt.err, tt.took)
				}
				want := "settled"
				if tt.err != "" {
					want = "uncertain"
				}
				if states(ledger) != want {
					t.Errorf("reservations: %s", states(ledger))
				}
			})
		})
	}
}

// TestBackoff waits as long as it should, each time longer, and as the server wants.
func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		after       string
		least, most []time.Duration
	}{
		{"", []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, []time.Duration{1500 * time.Millisecond, 3 * time.Second, 6 * time.Second}},
		{"20", []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second}, []time.Duration{21 * time.Second, 21 * time.Second, 21 * time.Second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &drip{status: []int{503, 503, 503}, after: tt.after, events: answer(1)}
			c, _ := over(t, d, func(e *model.Endpoint) { e.Tries = 4 })
			if _, err := c.Ask(t.Context(), ask("why?"), model.Charge{}); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if wait := d.times[i+1].Sub(d.times[i]); wait < tt.least[i] || wait > tt.most[i] {
					t.Errorf("Retry-After %q: wait %d is %v, want between %v and %v", tt.after, i, wait, tt.least[i], tt.most[i])
				}
			}
		})
	}
}

// TestRates: no minute has more than the share at once and what flows in a minute.
func TestRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*model.Endpoint)
		ask    int
		took   time.Duration
	}{
		{"no limit", func(*model.Endpoint) {}, 70, 0},
		{"requests", func(e *model.Endpoint) { e.RequestsPerMinute = 60 }, 70, time.Minute},                   // ten at once, then one each second
		{"tokens", func(e *model.Endpoint) { e.TokensPerMinute = 7740 }, 70, 60 * time.Second},                // 129 each: ten at once, then one each second
		{"large", func(e *model.Endpoint) { e.TokensPerMinute = 60 }, 1, 119 * time.Second},                   // more than the share at once
		{"slots", func(e *model.Endpoint) { e.Concurrent = 1 }, 10, 10 * 2 * time.Second},                     // two seconds each
		{"less than one a minute", func(e *model.Endpoint) { e.RequestsPerMinute = 0.5 }, 2, 2 * time.Minute}, // one at once
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &drip{events: answer(1)}
				if tt.name == "slots" {
					d.pause = time.Second
				}
				c, _ := over(t, d, tt.change)
				start := time.Now()
				var wg sync.WaitGroup
				for i := range tt.ask {
					wg.Go(func() {
						if _, err := c.Ask(t.Context(), ask(fmt.Sprintf("%03d", i)), model.Charge{}); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if took := time.Since(start); took < tt.took || took > tt.took+time.Second/2 {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

// TestLeavesTheQueue: who waits for the rate or a slot can leave, and has reserved nothing.
func TestLeavesTheQueue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*model.Endpoint){
		"rate": func(e *model.Endpoint) { e.RequestsPerMinute = 1 },
		"slot": func(e *model.Endpoint) { e.Concurrent = 1 },
	} {
		synctest.Test(t, func(t *testing.T) {
			c, ledger := over(t, &drip{pause: 30 * time.Second, events: answer(1)}, change)
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := c.Ask(t.Context(), ask("first"), model.Charge{}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			wg.Go(func() {
				time.Sleep(5 * time.Second)
				cancel()
			})
			start := time.Now()
			_, err := c.Ask(ctx, ask("second"), model.Charge{})
			if !errors.Is(err, context.Canceled) || time.Since(start) != 5*time.Second || len(ledger.Entries()) != 1 {
				t.Errorf("%s: %v after %v, %s", name, err, time.Since(start), states(ledger))
			}
			wg.Wait()
		})
	}
}
