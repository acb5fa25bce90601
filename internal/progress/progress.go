// Package progress tells people, or programs, how far a run of the engine is: live bars on a terminal, a line now and
// then elsewhere, and JSON objects on request.
//
// It implements the engine's Progress and only listens: it never slows the engine down on purpose, and a writer that
// fails is ignored.
package progress

import (
	"io"
	"sync"
	"time"

	"sluice/store"
)

// Mode is how a Reporter writes.
type Mode int

// Bars are for terminals; Lines and JSON write at most once every Options.Every.
const (
	Lines Mode = iota
	Bars
	JSON
)

// Options configure a Reporter.
type Options struct {
	Out   io.Writer // standard error: results go to standard output
	Mode  Mode
	Clock func() time.Time
	Every time.Duration // between lines; default 10 s
	// Tick asks for a line also while nothing happens: a long run of tests must not look dead. Default: every Every.
	Tick <-chan time.Time
}

// Reporter counts and shows. Close it when the run is over.
type Reporter struct {
	mu     sync.Mutex
	counts counts
	show   display
	stop   func()
}

// display is one way to show the counts. Its methods are called one at a time.
type display interface {
	update(c *counts)
	close(c *counts)
}

// New returns a Reporter.
func New(o Options) *Reporter {
	if o.Every == 0 {
		o.Every = 10 * time.Second
	}
	r := &Reporter{counts: newCounts()}
	switch o.Mode {
	case Bars:
		r.show = newBars(o.Out)
	case JSON:
		r.show = &lines{o: o, write: writeJSON}
	default:
		r.show = &lines{o: o, write: writeText}
	}
	r.stop = r.beat(o)
	return r
}

// beat updates at every tick until the returned function is called.
func (r *Reporter) beat(o Options) (stop func()) {
	tick, halt := o.Tick, func() {}
	if tick == nil {
		ticker := time.NewTicker(o.Every)
		tick, halt = ticker.C, ticker.Stop
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-tick:
				r.change(func(*counts) {})
			case <-done:
				return
			}
		}
	}()
	return func() { halt(); close(done); <-ended }
}

// Begin says how many candidates the run has to look at.
func (r *Reporter) Begin(total int) {
	r.change(func(c *counts) { c.begun, c.total = true, total })
}

// Stage says that a stage of a candidate ended. memo: a stored outcome counted and nothing ran.
func (r *Reporter) Stage(stage, outcome string, memo bool) {
	r.change(func(c *counts) { c.stage(stage, outcome, memo) })
}

// Done says that a candidate reached an end.
func (r *Reporter) Done(state store.State) {
	r.change(func(c *counts) { c.done++; c.states[state]++ })
}

// Close shows the last counts and leaves the terminal in order. It is called once.
func (r *Reporter) Close() {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.show.close(&r.counts)
}

func (r *Reporter) change(f func(*counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.counts)
	r.show.update(&r.counts)
}
