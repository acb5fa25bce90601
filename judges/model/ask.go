package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// mostWait caps what a server may ask for between two tries.
const mostWait = 2 * time.Minute

// growing are the waits between tries: they double, and differ from client to client.
func growing(first, most time.Duration) *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: first, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: most}
	b.Reset()
	return b
}

// patience is how long the answer of another process is waited for: as long as our own might take.
type patience struct {
	*backoff.ExponentialBackOff
	most   time.Duration
	waited time.Duration
}

// next is the time until the next look: none the first time.
func (p *patience) next() (d time.Duration) {
	if p.waited > 0 {
		d = p.NextBackOff()
	}
	p.waited += max(d, 1)
	return d
}

func (p *patience) out() bool { return p.waited > p.most }

// resolve finds the answer in the ledger or gets it from the endpoint.
func (c *Client) resolve(ctx context.Context, q question) (Answer, error) {
	waits, busy := growing(time.Second, 30*time.Second), patience{growing(100*time.Millisecond, 5*time.Second), q.server.Total, 0}
	for try := 1; ; {
		if a, ok, err := c.stored(ctx, q); ok || err != nil {
			return a, err
		}
		if c.o.ReplayOnly {
			return Answer{Key: q.key}, ErrNotStored
		}
		a, err := c.try(ctx, q)
		if err == nil {
			return a, nil
		}
		var f *fault
		var wait time.Duration
		switch {
		case errors.As(err, &f) && f.refuses != refusesNothing && c.adapt(q, f):
			continue // in another form; refused at once, so that it is no try
		case errors.Is(err, ErrBusy):
			// Another process asks the same, or has just stored the answer.
			if wait = busy.next(); busy.out() {
				return a, err
			}
		case f != nil && errors.Is(f, ErrTransient) && try < q.server.Tries:
			try++
			next := waits.NextBackOff()
			wait = max(next, min(f.wait, mostWait)+next/8)
			c.o.Log.Info("the model did not answer; trying again", "model", q.Model, "try", try, "wait", wait, "why", f.text)
		default:
			return a, err
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return a, fmt.Errorf("waiting to try again: %w", err)
		}
	}
}

// stored looks for the answer in the ledger.
func (c *Client) stored(ctx context.Context, q question) (Answer, bool, error) {
	e, ok, err := c.o.Ledger.Lookup(ctx, q.key)
	if err != nil || !ok {
		return Answer{Key: q.key}, false, err
	}
	if err := c.o.Ledger.Hit(ctx, q.key, q.Charge); err != nil {
		return Answer{Key: q.key}, false, err
	}
	return Answer{Reply: e.Reply, Key: q.key, Cached: true}, true, nil
}

// try reserves, sends once and closes the reservation, whatever happens.
func (c *Client) try(ctx context.Context, q question) (Answer, error) {
	key, err := q.server.key()
	if err != nil {
		return Answer{Key: q.key}, err
	}
	leave, err := q.server.gate.enter(ctx, likely(q.most))
	if err != nil {
		return Answer{Key: q.key}, err
	}
	defer leave()
	reserved := q.price.most(q.most)
	id, err := c.o.Ledger.Reserve(ctx, Reservation{Key: q.key, Prompt: q.Prompt, Version: q.Version, Model: q.Request.Model, MicroUSD: reserved,
		Tokens: q.most.Input + q.most.Output, Charge: q.Charge})
	if err != nil {
		return Answer{Key: q.key}, err
	}
	keep := context.WithoutCancel(ctx) // the ledger is told the end in any case
	if ctx.Err() != nil {
		return Answer{Key: q.key}, joined(context.Cause(ctx), c.o.Ledger.Release(keep, id, "interrupted before it was sent"))
	}
	e, latency, err := c.send(ctx, q, key)
	leave() // the next may go while this one is written down
	if err != nil {
		return Answer{Key: q.key}, c.close(keep, id, err, context.Cause(ctx))
	}
	return c.settle(keep, q, Settlement{Exchange: e, Latency: latency}, id)
}

// close ends a reservation that brought no reply. given is why the caller gave up, if it did.
func (c *Client) close(ctx context.Context, id int64, err, given error) error {
	var f *fault
	if errors.As(err, &f) && !f.paid {
		if given != nil && errors.Is(f, ErrTransient) {
			err = given
		}
		return joined(err, c.o.Ledger.Release(ctx, id, f.text))
	}
	why := err.Error()
	if f != nil {
		why = f.text
	}
	return joined(err, c.o.Ledger.Uncertain(ctx, id, why))
}

// joined is err alone where the ledger has nothing to say against it.
func joined(err, ledger error) error {
	if ledger == nil {
		return err
	}
	return fmt.Errorf("closing a reservation: %w (after: %w)", ledger, err)
}

// settle stores the reply with what it cost.
func (c *Client) settle(ctx context.Context, q question, s Settlement, id int64) (Answer, error) {
	s.MicroUSD, s.Exchange.Note = q.price.charge(s.Exchange.Reply, q.most)
	if s.Exchange.Note != "" {
		c.o.Log.Warn(s.Exchange.Note, "model", q.Model, "prompt", q.Prompt, "input", s.Exchange.Reply.Usage.Input, "output", s.Exchange.Reply.Usage.Output)
	}
	if err := c.o.Ledger.Settle(ctx, id, s); err != nil {
		// Not stored: it is as if no reply had come, and it is paid.
		return Answer{Key: q.key}, errors.Join(err, c.o.Ledger.Uncertain(ctx, id, "its reply could not be stored"))
	}
	return Answer{Reply: s.Exchange.Reply, Key: q.key, MicroUSD: s.MicroUSD}, nil
}

// send makes one HTTP request. Its errors are faults.
func (c *Client) send(ctx context.Context, q question, key secret) (Exchange, time.Duration, error) {
	f := c.form(q)
	one := &call{http: c.http, endpoint: q.server.Endpoint, key: key, params: q.params, form: f, now: c.o.Clock}
	work, stop := one.timed(ctx)
	defer stop()
	started := c.o.Clock()
	h, err := one.ask(work, q.protocol(q.params, f, q.server.Stream))
	var r Reply
	if err == nil {
		c.compare(q, h)
		r, err = h.reply(key)
	}
	if err != nil {
		return Exchange{}, 0, named(err, key, f)
	}
	return Exchange{Parameters: q.params, Request: q.Request, Structured: f.structured, Reply: r}, c.o.Clock().Sub(started), nil
}

// named makes sure that an error is a fault and shows no key.
func named(err error, key secret, asked form) error {
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{kind: ErrTransient, text: oneLine(err.Error()), paid: true}
	}
	f.text, f.form = key.scrub(f.text), asked
	return f
}

// compare says so when further choices, which nobody asked for, differ from the first.
func (c *Client) compare(q question, h heard) {
	for _, other := range h.others {
		if other != h.text {
			c.o.Log.Warn("several choices came, and they differ; the first counts", "model", q.Model, "prompt", q.Prompt, "choices", 1+len(h.others))
			return
		}
	}
}

// habit is what was learned of a model while the process lives.
type habit struct {
	mode       int // how many ways of making it follow a schema were refused
	completion bool
}

var modes = []string{BySchema, ByObject, ByPrompt}

// form is how the question is put, after what was learned of the model and of the schema.
func (c *Client) form(q question) form {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.habits[q.habit(refusesFormat)]
	f := form{limit: maxTokens}
	if h.completion {
		f.limit = maxCompletionTokens
	}
	switch {
	case len(q.Schema) == 0:
	case q.server.Structured != "":
		f.structured = q.server.Structured
	default:
		f.structured = modes[max(h.mode, c.habits[q.habit(refusesSchema)].mode)]
	}
	return f
}

// habit is the name under which something is remembered: of the model, or of one schema of it.
func (q question) habit(r refusal) string {
	name := q.server.Name + "\x00" + q.params.ID
	if r == refusesSchema {
		name += "\x00" + string(q.Schema)
	}
	return name
}

// adapt learns from a refusal. False: there is no other form.
func (c *Client) adapt(q question, f *fault) bool {
	used := f.form
	c.mu.Lock()
	defer c.mu.Unlock()
	name := q.habit(f.refuses)
	h := c.habits[name]
	switch {
	case f.refuses == refusesMaxTokens:
		if used.limit == maxCompletionTokens {
			return false
		}
		h.completion = true
	case q.server.Structured != "" || used.structured == "" || used.structured == ByPrompt:
		return false
	default:
		for i, m := range modes {
			if m == used.structured {
				h.mode = max(h.mode, i+1) // others may have learned it meanwhile
			}
		}
	}
	c.habits[name] = h
	c.o.Log.Info("the endpoint refuses this form of request; trying the next", "model", q.Model, "form", used.structured, "why", f.text)
	return true
}
