package github

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice/miners/github/githubtest"
)

// fakeTime moves on when somebody sleeps.
type fakeTime struct {
	mu    sync.Mutex
	t     time.Time
	slept []time.Duration
	// onSleep is called after each sleep.
	onSleep func(total time.Duration)
}

func newTime() *fakeTime { return &fakeTime{t: time.Now()} }

func (f *fakeTime) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.t
}

func (f *fakeTime) sleep(ctx context.Context, d time.Duration) error {
	f.mu.Lock()
	f.t = f.t.Add(d)
	f.slept = append(f.slept, d)
	f.mu.Unlock()
	if f.onSleep != nil {
		f.onSleep(f.total())
	}
	return ctx.Err()
}

func (f *fakeTime) total() (sum time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.slept {
		sum += d
	}
	return sum
}

// setup starts a server and a client of it; change sees the options first.
func setup(t *testing.T, change func(*Options)) (*githubtest.Server, *Client, *fakeTime) {
	t.Helper()
	s := githubtest.New()
	t.Cleanup(s.Close)
	c, ft := client(t, s, change)
	return s, c, ft
}

func client(t *testing.T, s *githubtest.Server, change func(*Options)) (*Client, *fakeTime) {
	t.Helper()
	ft := newTime()
	o := Options{
		BaseURL: s.URL, Clock: ft.now, Sleep: ft.sleep, Jitter: func() float64 { return 0.5 },
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, ft
}

var repo = Repository{ID: 7, Name: "o/r", DefaultBranch: "main"}

// numbered adds a list of n elements with ids from 1.
func numbered(s *githubtest.Server, path string, n int) {
	for i := 1; i <= n; i++ {
		s.Add(path, githubtest.Object{"id": i, "body": fmt.Sprint("text ", i)})
	}
}
