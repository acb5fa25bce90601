package model_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// states are the ends of a ledger's reservations, in order.
func states(m *model.Memory) string {
	var out []string
	for _, e := range m.Entries() {
		out = append(out, string(e.State))
	}
	return strings.Join(out, " ")
}

// TestAskedTwiceAtOnce: a question is sent once, whoever asks it, in one process and in two.
func TestAskedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Reply{Text: "good", Wait: 30 * time.Millisecond}))
	short := func(ctx context.Context, d time.Duration) error {
		time.Sleep(d / 1000)
		return ctx.Err()
	}
	one, ledger := newClient(t, s.Config("m"), model.Options{Sleep: short})
	two, _ := newClient(t, s.Config("m"), model.Options{Ledger: ledger, Sleep: short})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			c := []*model.Client{one, two}[i%2]
			a, err := c.Ask(t.Context(), ask(fmt.Sprint("question ", i/2%5)), model.Charge{})
			if err != nil || a.Text != "good" || a.Cached != (a.MicroUSD == 0) {
				t.Errorf("got %+v, %v", a, err)
			}
		})
	}
	wg.Wait()
	if s.Requests() != 5 || ledger.Hits() != 35 || states(ledger) != strings.TrimSpace(strings.Repeat("settled ", 5)) {
		t.Errorf("%d requests, %d hits, %s", s.Requests(), ledger.Hits(), states(ledger))
	}
}

// TestBusyElsewhere: a process that never ends its question is waited for, but not for ever.
func TestBusyElsewhere(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	config := s.Config("m")
	config.Endpoints[0].Total = time.Minute
	var slept []time.Duration
	c, ledger := newClient(t, config, model.Options{Sleep: quick(&slept)})
	p, err := config.Models[0].Parameters()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ask("why?").Key(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Reserve(t.Context(), modeltest.Reservation(key, 1)); err != nil {
		t.Fatal(err)
	}
	_, err = c.Ask(t.Context(), ask("why?"), model.Charge{})
	var sum time.Duration
	for _, d := range slept {
		sum += d
	}
	if !errors.Is(err, model.ErrBusy) || s.Requests() != 0 || sum < 20*time.Second || sum > time.Minute {
		t.Errorf("%v after %v, %d requests", err, sum, s.Requests())
	}
}

// TestInterrupted: a context that ends after the request left does not lose the reply.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		s := modeltest.New(t, func(modeltest.Request) modeltest.Reply {
			cancel()
			return modeltest.Reply{Text: "a good answer", Wait: 50 * time.Millisecond}
		})
		config := s.Config("m")
		config.Endpoints[0].Stream = stream
		c, ledger := newClient(t, config, model.Options{})
		a, err := c.Ask(ctx, ask("why?"), model.Charge{})
		if err != nil || a.Text != "a good answer" || states(ledger) != "settled" {
			t.Errorf("got %+v, %v; %s", a, err, states(ledger))
		}
		if _, err := c.Ask(ctx, ask("another"), model.Charge{}); !errors.Is(err, context.Canceled) || s.Requests() != 1 {
			t.Errorf("after the end: %v, %d requests", err, s.Requests())
		}
	}
}

// TestInterruptedFault: after the end of the context there is no other try.
func TestInterruptedFault(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]modeltest.Reply{"released": modeltest.Down(), "uncertain": {Drop: true}} {
		ctx, cancel := context.WithCancel(t.Context())
		s := modeltest.New(t, func(modeltest.Request) modeltest.Reply { cancel(); return r })
		c, ledger := newClient(t, s.Config("m"), model.Options{})
		_, err := c.Ask(ctx, ask("why?"), model.Charge{})
		if !errors.Is(err, context.Canceled) || s.Requests() != 1 || states(ledger) != name {
			t.Errorf("%s: %v, %d requests, %s", name, err, s.Requests(), states(ledger))
		}
	}
}

// TestInterruptedConnecting: as long as nothing was sent, the end of the context is the end.
func TestInterruptedConnecting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	config := model.Config{Endpoints: []model.Endpoint{{Name: "e", URL: "http://127.0.0.1:9/v1"}}, Models: []model.Spec{{Name: "m", Endpoint: "e", MaxOutput: 1,
		InputUSD: "1", OutputUSD: "1"}}}
	c, ledger := newClient(t, config, model.Options{HTTP: &http.Client{Transport: &http.Transport{DialContext: dial}}})
	_, err := c.Ask(ctx, ask("why?"), model.Charge{})
	if !errors.Is(err, context.Canceled) || states(ledger) != "released" {
		t.Errorf("%v, %s", err, states(ledger))
	}
}

// TestFollowers: who waits for another's question may leave, and goes on when the other gives up.
func TestFollowers(t *testing.T) {
	t.Parallel()
	first, giveUp := context.WithCancel(t.Context())
	started := make(chan struct{})
	var once sync.Once
	s := modeltest.New(t, modeltest.PerQuestion(modeltest.Down(), modeltest.Text("good")))
	c, ledger := newClient(t, s.Config("m"), model.Options{Sleep: func(ctx context.Context, _ time.Duration) error {
		once.Do(func() { close(started) })
		<-ctx.Done() // only the first is made to wait
		return ctx.Err()
	}})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Ask(first, ask("why?"), model.Charge{}); !errors.Is(err, context.Canceled) {
			t.Errorf("the first got %v", err)
		}
	})
	<-started
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Ask(gone, ask("why?"), model.Charge{}); !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	wg.Go(func() {
		if a, err := c.Ask(t.Context(), ask("why?"), model.Charge{}); err != nil || a.Text != "good" {
			t.Errorf("the second got %+v, %v", a, err)
		}
	})
	giveUp()
	wg.Wait()
	if states(ledger) != "released settled" {
		t.Errorf("reservations: %s", states(ledger))
	}
}

// TestConcurrency: no more requests at once than configured.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Reply{Text: "good", Wait: 5 * time.Millisecond}))
	config := s.Config("m")
	config.Endpoints[0].Concurrent = 3
	c, _ := newClient(t, config, model.Options{})
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			if _, err := c.Ask(t.Context(), ask(fmt.Sprint(i)), model.Charge{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.AtOnce(); n != 3 {
		t.Errorf("%d requests at once, want 3", n)
	}
}

// TestReplayOnly: nothing is sent, and no key is needed.
func TestReplayOnly(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	config := s.Config("m")
	c, ledger := newClient(t, config, model.Options{})
	if _, err := c.Ask(t.Context(), ask("known"), model.Charge{}); err != nil {
		t.Fatal(err)
	}
	config.Endpoints[0].KeyEnv = "NOT_SET"
	replay, _ := newClient(t, config, model.Options{Ledger: ledger, ReplayOnly: true, Getenv: func(string) string { return "" }})
	if a, err := replay.Ask(t.Context(), ask("known"), model.Charge{}); err != nil || a.Text != "good" || !a.Cached {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := replay.Ask(t.Context(), ask("unknown"), model.Charge{}); !errors.Is(err, model.ErrNotStored) {
		t.Errorf("got %v", err)
	}
	live, _ := newClient(t, config, model.Options{Ledger: ledger, Getenv: func(string) string { return "" }})
	if _, err := live.Ask(t.Context(), ask("unknown"), model.Charge{}); !errors.Is(err, model.ErrConfig) || !strings.Contains(err.Error(), "NOT_SET") {
		t.Errorf("without a key: %v", err)
	}
	if s.Requests() != 1 {
		t.Errorf("%d requests", s.Requests())
	}
}

// TestBudget: nothing leaves that could pass the budget.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	c, ledger := newClient(t, s.Config("m"), model.Options{Ledger: model.NewMemory(2500)}) // a question is bounded by some 2,090
	for i, want := range []error{nil, nil, nil} {
		if _, err := c.Ask(t.Context(), ask(fmt.Sprint(i)), model.Charge{}); !errors.Is(err, want) {
			t.Errorf("question %d: %v, want %v", i, err, want)
		}
	}
	if _, err := c.Ask(t.Context(), ask(strings.Repeat("long ", 200)), model.Charge{}); !errors.Is(err, model.ErrBudget) {
		t.Errorf("got %v", err)
	}
	if s.Requests() != 3 || ledger.Spent() > 2500 {
		t.Errorf("%d requests, %d spent", s.Requests(), ledger.Spent())
	}
}

// broke is a ledger whose disk is full when a reply is to be stored.
type broke struct{ *model.Memory }

var errFull = errors.New("no space left")

func (broke) Settle(context.Context, int64, model.Settlement) error { return errFull }

// TestNotStored: a reply that cannot be stored is no answer, and its money is spent.
func TestNotStored(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	ledger := model.NewMemory(0)
	c, err := model.New(s.Config("m"), model.Options{Ledger: broke{ledger}, Sleep: quick(nil)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
	if !errors.Is(err, errFull) || a.Text != "" || states(ledger) != "uncertain" || s.Requests() != 1 {
		t.Errorf("%+v, %v, %s, %d requests", a, err, states(ledger), s.Requests())
	}
}

// TestBadQuestions: what cannot be sent is not.
func TestBadQuestions(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	c, ledger := newClient(t, s.Config("m"), model.Options{})
	for name, tt := range map[string]struct {
		change func(*model.Request)
		want   error
	}{
		"model":   {func(r *model.Request) { r.Model = "other" }, model.ErrConfig},
		"nothing": {func(r *model.Request) { r.Messages = nil }, model.ErrRejected},
		"role":    {func(r *model.Request) { r.Messages[0].Role = "tool" }, model.ErrRejected},
		"empty":   {func(r *model.Request) { r.Messages[0].Content = "" }, model.ErrRejected},
		"schema":  {func(r *model.Request) { r.Schema = []byte(`[1]`) }, model.ErrRejected},
		"no JSON": {func(r *model.Request) { r.Schema = []byte(`{`) }, model.ErrRejected},
	} {
		r := ask("why?")
		tt.change(&r)
		if _, err := c.Ask(t.Context(), r, model.Charge{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	if s.Requests() != 0 || len(ledger.Entries()) != 0 {
		t.Errorf("%d requests, %s", s.Requests(), states(ledger))
	}
}
