package progress

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/store"
)

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time { return c.add(0) }

func (c *clock) add(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

func newClock() *clock { return &clock{now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)} }

func TestLinesAreSparse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := newClock()
	r := New(Options{Out: &out, Clock: at.read})
	r.Begin(4)
	for range 3 {
		r.Stage("screen", "pass", false)
		at.add(4 * time.Second)
		r.Done(store.Rejected)
	}
	r.Close()
	want := "3 of 4 candidates, 3 rejected; furthest stage screen; about 4s left\n"
	if diff := cmp.Diff(want+want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestGuessRunsOut: a guess counts down while no candidate is done, and ends rather than grows.
func TestGuessRunsOut(t *testing.T) {
	t.Parallel()
	c := newCounts()
	c.total, c.done, c.doneAt = 4, 3, 60*time.Second
	type guess struct {
		Left time.Duration
		OK   bool
	}
	var got []guess
	for _, elapsed := range []time.Duration{60, 75, 80, 600} {
		left, ok := c.left(elapsed * time.Second)
		got = append(got, guess{max(left, 0), ok})
	}
	want := []guess{{20 * time.Second, true}, {5 * time.Second, true}, {}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("guesses (-want +got):\n%s", diff)
	}
}

// TestHeartbeat: a tick makes a line while no candidate moves, and none before the run begins.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at, tick := newClock(), make(chan time.Time)
	r := New(Options{Out: &out, Clock: at.read, Tick: tick})
	tick <- at.read()
	r.Begin(3)
	r.Stage("replay-fix", "pass", false)
	at.add(time.Minute)
	tick <- at.read()
	tick <- at.read() // taken only when the line before is written
	r.Close()
	want := "0 of 3 candidates; furthest stage replay-fix\n"
	if diff := cmp.Diff(want+want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestCloseWithoutBegin(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Lines, Bars, JSON} {
		var out bytes.Buffer
		New(Options{Out: &out, Mode: mode, Clock: newClock().read}).Close()
		if out.Len() != 0 {
			t.Errorf("mode %d wrote %q", mode, out.String())
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := newClock()
	r := New(Options{Out: &out, Mode: JSON, Clock: at.read})
	r.Begin(2)
	r.Stage("screen", "reject", true)
	r.Done(store.Rejected)
	at.add(1500 * time.Millisecond)
	r.Close()
	var got any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "progress", "done": 1.0, "total": 2.0, "elapsed_seconds": 1.5,
		"states": map[string]any{"rejected": 1.0},
		"stages": []any{map[string]any{"name": "screen", "ended": 1.0, "memo": 1.0, "out": 1.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestExpectedShrinks(t *testing.T) {
	t.Parallel()
	c := newCounts()
	c.total = 10
	for range 4 {
		c.stage("screen", "reject", false)
	}
	c.stage("screen", "pass", false)
	c.stage("attribute", "pass", false)
	if got := []int{c.expected(0), c.expected(1)}; !cmp.Equal(got, []int{10, 6}) {
		t.Errorf("expected = %v", got)
	}
}

// TestManyGoroutines is for the race detector; no call may be lost.
func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Lines, Bars, JSON} {
		var out bytes.Buffer
		r := New(Options{Out: &out, Mode: mode, Clock: newClock().read})
		r.Begin(200)
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				r.Stage("screen", "pass", false)
				r.Done(store.Admitted)
			})
		}
		wg.Wait()
		r.Close()
		if r.counts.done != 200 || r.counts.stages[0].Ended != 200 {
			t.Errorf("mode %d counted %+v", mode, r.counts)
		}
		if mode != Bars && !strings.Contains(out.String(), "200") {
			t.Errorf("mode %d wrote %q", mode, out.String())
		}
	}
}
