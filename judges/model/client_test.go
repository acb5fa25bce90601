package model_test

import (
	"context"
	"testing"
	"time"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// quick is the sleep of tests: none, but noted.
func quick(slept *[]time.Duration) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		if slept != nil {
			*slept = append(*slept, d)
		}
		return ctx.Err()
	}
}

func newClient(t testing.TB, c model.Config, o model.Options) (*model.Client, *model.Memory) {
	t.Helper()
	ledger, ok := o.Ledger.(*model.Memory)
	if !ok {
		ledger = model.NewMemory(0)
		o.Ledger = ledger
	}
	if o.Sleep == nil {
		o.Sleep = quick(nil)
	}
	client, err := model.New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return client, ledger
}

func ask(text string) model.Request {
	return model.Request{Model: "m", Prompt: "p", Version: 1, Messages: []model.Message{{Role: model.User, Content: text}}}
}

func TestAskOnce(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := modeltest.New(t, modeltest.Always(modeltest.Text("a good answer")))
		config := s.Config("m")
		config.Endpoints[0].Stream = stream
		c, ledger := newClient(t, config, model.Options{})
		first, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
		if err != nil {
			t.Fatal(err)
		}
		if first.Text != "a good answer" || first.Cached || first.MicroUSD != 10 { // 2 tokens of input, 4 of output
			t.Errorf("stream %v: the first answer is %+v", stream, first)
		}
		again, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
		if err != nil {
			t.Fatal(err)
		}
		if again.Text != first.Text || !again.Cached || again.MicroUSD != 0 || again.Key != first.Key {
			t.Errorf("stream %v: the second answer is %+v", stream, again)
		}
		if n := s.Requests(); n != 1 || ledger.Spent() != 10 || ledger.Hits() != 1 {
			t.Errorf("stream %v: %d requests, %d spent, %d hits", stream, n, ledger.Spent(), ledger.Hits())
		}
	}
}
