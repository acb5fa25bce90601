package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Many workers of two processes on the same candidates: each candidate goes through each stage once.
func TestConcurrentWorkers(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	stores := [2]*Store{openAt(t, dir, c), openAt(t, dir, c)}
	const stages = 3
	all := numbered(20)
	add(t, stores[0], all...)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range all {
				id := all[(i+w*3)%len(all)]
				if err := work(t, stores[w%2], id, fmt.Sprint("w", w), stages); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, id := range all {
		as, err := stores[0].Attempts(t.Context(), id)
		ok(t, err)
		same(t, id, len(as), stages)
		got, err := stores[1].Lease(t.Context(), id, "last", time.Minute)
		ok(t, err)
		same(t, "free "+id, got, true)
	}
	clean(t, stores[0])
}

// work takes a candidate through its stages unless somebody else does.
func work(t *testing.T, s *Store, id, owner string, stages int) error {
	got, err := s.Lease(t.Context(), id, owner, time.Minute)
	if err != nil || !got {
		return err
	}
	for i := range stages {
		key := fmt.Sprint("k", i)
		if _, done, err := s.AttemptByKey(t.Context(), id, key); err != nil || done {
			return errors.Join(err, s.Unlease(t.Context(), id, owner))
		}
		a := attempt(t, s, id, key, "pass", fmt.Sprint("log of ", key, " by ", owner))
		a.Owner = owner
		if _, err := s.Commit(t.Context(), a, place(a)); err != nil {
			return err
		}
	}
	return s.Unlease(t.Context(), id, owner)
}

func BenchmarkCommit(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		for _, log := range []int{0, 20_000} {
			b.Run(fmt.Sprintf("%s/evidence=%d", mode, log), func(b *testing.B) { benchCommit(b, mode, log) })
		}
	}
}

// benchCommit measures a Put of a new log, if there is one, and the Commit that refers to it.
func benchCommit(b *testing.B, mode string, log int) {
	s, err := OpenDir(b.Context(), b.TempDir(), Options{durability: mode})
	ok(b, err)
	defer s.Close()
	add(b, s, numbered(100)...)
	data := make([]byte, log)
	for i := range data {
		data[i] = "a log of some words that repeat"[(i*i+i/7)%31]
	}
	for n := 0; b.Loop(); n++ {
		id := fmt.Sprintf("is-%04d", n%100)
		if n%100 == n {
			lease(b, s, id, "me")
		}
		copy(data, fmt.Sprint(n))
		a := attempt(b, s, id, fmt.Sprint(n), "reject", string(data))
		commit(b, s, a)
	}
}
