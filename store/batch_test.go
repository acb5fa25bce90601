package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// mark writes a mark in a shared transaction, and then fails if it shall.
func mark(ctx context.Context, s *Store, name string, fails error) error {
	return s.together(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO mark (name, value) VALUES (?, '')`, name)
		return errors.Join(err, fails)
	})
}

func marks(t *testing.T, s *Store) []string {
	t.Helper()
	names, err := list(t.Context(), s.r, scanOne[string], `SELECT name FROM mark ORDER BY name`)
	ok(t, err)
	return names
}

// waiting waits until n writes wait for their turn.
func waiting(t *testing.T, s *Store, n int) {
	t.Helper()
	for range 10_000 {
		s.batch.mu.Lock()
		got := len(s.batch.jobs)
		s.batch.mu.Unlock()
		if got == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d writes do not wait", n)
}

// Writes that share a transaction do not share their trouble.
func TestTogether(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	ok(t, s.PutMark(t.Context(), "old", ""))
	s.batch.turn <- struct{}{} // somebody else writes
	trouble := errors.New("trouble")
	gone, cancel := context.WithCancel(t.Context())
	errs := map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, w := range []struct {
		ctx   context.Context
		name  string
		fails error
	}{{t.Context(), "a", nil}, {t.Context(), "b", trouble}, {gone, "c", nil}, {t.Context(), "old", nil}, {t.Context(), "d", nil}} {
		wg.Go(func() {
			err := mark(w.ctx, s, w.name, w.fails)
			mu.Lock()
			defer mu.Unlock()
			errs[w.name] = err
		})
		waiting(t, s, i+1)
	}
	cancel()
	<-s.batch.turn
	wg.Wait()
	for name, want := range map[string]error{"a": nil, "b": trouble, "c": context.Canceled, "old": ErrExists, "d": nil} {
		if !errors.Is(errs[name], want) {
			t.Errorf("%s: got %v, want %v", name, errs[name], want)
		}
	}
	same(t, "marks", marks(t, s), []string{"a", "d", "old"})
}

// When the transaction itself fails, everybody hears of it.
func TestTogetherFails(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	s.batch.turn <- struct{}{}
	errs := make(chan error, 3)
	for i := range 3 {
		go func() {
			errs <- s.together(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				q := `INSERT INTO mark (name, value) VALUES (?, '')`
				if i == 1 {
					q = `ROLLBACK -- ?` // as SQLite does by itself when the disk is full
				}
				_, err := tx.ExecContext(ctx, q, fmt.Sprint(i))
				return err
			})
		}()
		waiting(t, s, i+1)
	}
	<-s.batch.turn
	for range 3 {
		if err := <-errs; err == nil {
			t.Error("a write was lost in silence")
		}
	}
	ok(t, mark(t.Context(), s, "next", nil))
	same(t, "marks", marks(t, s), []string{"next"})
}

func TestTogetherFromManySides(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	const n = 200
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := mark(t.Context(), s, fmt.Sprint(i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, "marks", len(marks(t, s)), n)
}
