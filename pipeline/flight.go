package pipeline

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// flight is work of Once that goes on: whoever wants its result too waits for it.
type flight struct {
	done   chan struct{}
	result []byte
	err    error
}

// board returns the flight of a key; first says that the caller has to do the work and land it.
func (e *Engine) board(key string) (fl *flight, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if fl, ok := e.flights[key]; ok {
		return fl, false
	}
	fl = &flight{done: make(chan struct{})}
	e.flights[key] = fl
	return fl, true
}

func (e *Engine) land(key string, fl *flight, result []byte, err error) {
	e.mu.Lock()
	delete(e.flights, key)
	e.mu.Unlock()
	fl.result, fl.err = result, err
	close(fl.done)
}

// slot is a stage's place in its pool. It may be given back for a while.
type slot struct {
	pool *semaphore.Weighted

	mu   sync.Mutex
	held bool
}

func (s *slot) take(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		return nil
	}
	err := s.pool.Acquire(ctx, 1)
	s.held = err == nil
	return err
}

func (s *slot) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		s.pool.Release(1)
		s.held = false
	}
}
