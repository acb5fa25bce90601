package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// Options are what a client needs besides its configuration.
type Options struct {
	Ledger     Ledger // required
	ReplayOnly bool   // nothing is sent: what is not stored is ErrNotStored
	Log        *slog.Logger
	Clock      func() time.Time                                 // nil: the machine's
	Sleep      func(ctx context.Context, d time.Duration) error // between tries; nil: a timer
	Getenv     func(string) string                              // where keys are looked up; nil: the process' environment
	HTTP       *http.Client                                     // its transport is used; nil: one of our own, with the environment's proxy
}

// Client asks the configured models. It is safe for concurrent use. Keys are read when something is sent for the first time, so that
// stored answers need none.
type Client struct {
	o         Options
	http      *http.Client
	models    map[string]*chosen
	mu        sync.Mutex
	flights   map[string]*flight
	habits    map[string]habit
	endpoints map[string]*server
}

// chosen is a model with what its configuration says, ready for use.
type chosen struct {
	spec   Spec
	params Parameters
	price  price
	server *server
}

// server is an endpoint with its limits and its key.
type server struct {
	Endpoint
	gate *gate
	key  func() (secret, error)
}

// New checks the configuration and makes a client. It sends nothing.
func New(c Config, o Options) (*Client, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("the configuration of models: %w: %w", ErrConfig, err)
	}
	if o.Ledger == nil {
		return nil, errors.New("a client of models needs a ledger")
	}
	o = o.withDefaults()
	out := &Client{o: o, http: bare(o.HTTP), models: map[string]*chosen{}, flights: map[string]*flight{}, habits: map[string]habit{},
		endpoints: map[string]*server{}}
	for _, e := range c.Endpoints {
		e = e.withDefaults()
		key := sync.OnceValues(func() (secret, error) { return e.readKey(o.Getenv) })
		out.endpoints[e.Name] = &server{e, newGate(e), key}
	}
	for _, s := range c.Models {
		params, err := s.Parameters()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		p, err := s.price()
		if err != nil {
			return nil, fmt.Errorf("%w: model %s: %w", ErrConfig, s.Name, err)
		}
		out.models[s.Name] = &chosen{s, params, p, out.endpoints[s.Endpoint]}
	}
	return out, nil
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Transport: transport()}
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// transport keeps as many connections as requests may be under way: go's default keeps two, and the others would shake hands anew.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}
}

// bare is a client that goes nowhere else: a redirect would carry the question, and perhaps the key, to another server.
func bare(h *http.Client) *http.Client {
	out := *h
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	out.Jar, out.Timeout = nil, 0
	return &out
}

// Spec returns a model's configuration, for what depends on its size.
func (c *Client) Spec(name string) (Spec, bool) {
	m, ok := c.models[name]
	if !ok {
		return Spec{}, false
	}
	return m.spec, true
}

// question is a request that can be sent.
type question struct {
	Request
	Charge
	*chosen
	key  string
	most Usage
}

func (c *Client) question(r Request, charge Charge) (question, error) {
	m, ok := c.models[r.Model]
	if !ok {
		return question{}, fmt.Errorf("%w: there is no model %q in the configuration", ErrConfig, r.Model)
	}
	if err := r.check(); err != nil {
		return question{}, fmt.Errorf("%w: it was not sent: %w", ErrRejected, err)
	}
	key, err := r.Key(m.params)
	return question{r, charge, m, key, bound(r, m.spec.MaxOutput)}, err
}

func (r Request) check() error {
	if len(r.Messages) == 0 {
		return errors.New("it has no message")
	}
	for i, m := range r.Messages {
		if !slices.Contains([]string{System, User, Assistant}, m.Role) {
			return fmt.Errorf("message %d has the role %q", i+1, m.Role)
		}
		if m.Content == "" {
			return fmt.Errorf("message %d is empty", i+1)
		}
	}
	var object map[string]json.RawMessage
	if len(r.Schema) > 0 && json.Unmarshal(r.Schema, &object) != nil {
		return errors.New("its schema is no JSON object")
	}
	return nil
}

// Ask answers from the ledger, or asks the model, pays and stores. A question that is asked twice at once is sent once. An answer whose
// reply did not end well comes with its error: it is paid and stored, and asking again costs nothing.
//
// When ctx ends, Ask sends nothing more; but what was sent is waited for within the endpoint's time-outs, and settled.
func (c *Client) Ask(ctx context.Context, r Request, charge Charge) (Answer, error) {
	a, err := c.answer(ctx, r, charge)
	if err == nil {
		err = a.end()
	}
	if err != nil {
		return a, fmt.Errorf("asking %s (prompt %s, version %d): %w", r.Model, r.Prompt, r.Version, err)
	}
	return a, nil
}

func (c *Client) answer(ctx context.Context, r Request, charge Charge) (Answer, error) {
	q, err := c.question(r, charge)
	if err != nil {
		return Answer{Key: q.key}, err
	}
	for {
		f, mine := c.board(q.key)
		if mine {
			a, err := c.resolve(ctx, q)
			c.land(q.key, f, err)
			return a, err
		}
		select {
		case <-ctx.Done():
			return Answer{Key: q.key}, context.Cause(ctx)
		case <-f.done:
		}
		if f.err != nil && !ofCaller(f.err) {
			return Answer{Key: q.key}, f.err
		}
		// The answer is in the ledger now, or whoever was first gave up or had no money left.
	}
}

// ofCaller reports whether an error concerns only the one who met it.
func ofCaller(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrBudget)
}

// flight is a question under way in this process.
type flight struct {
	done chan struct{}
	err  error
}

// board joins the flight of a key, or starts it.
func (c *Client) board(key string) (f *flight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flights[key]; f != nil {
		return f, false
	}
	f = &flight{done: make(chan struct{})}
	c.flights[key] = f
	return f, true
}

func (c *Client) land(key string, f *flight, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.err = err
	delete(c.flights, key)
	close(f.done)
}
