package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// State is what became of a reservation.
type State string

// The states of a reservation.
const (
	Reserved  State = "reserved"
	Settled   State = "settled"
	Released  State = "released"
	Uncertain State = "uncertain"
)

// Entry is one line of a ledger in memory.
type Entry struct {
	Reservation
	ID    int64
	State State
	Spent int64 // millionths of a dollar: the cost when settled, all that was reserved when reserved or uncertain, else 0
	Note  string
}

// Memory is a ledger that lives as long as the process, for tests and for tools without a store.
type Memory struct {
	limit int64

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when money comes back
	last    int64
	entries map[int64]Entry
	open    map[string]int64 // reservations by key
	pending int64            // reserved
	spent   int64            // settled and uncertain
	replies map[string]Exchange
	hits    map[string]int
}

// NewMemory makes an empty ledger with a budget in millionths of a dollar; 0: none.
func NewMemory(budget int64) *Memory {
	return &Memory{limit: budget, changed: make(chan struct{}), entries: map[int64]Entry{},
		open: map[string]int64{}, replies: map[string]Exchange{}, hits: map[string]int{}}
}

// Lookup is as the Ledger has it.
func (m *Memory) Lookup(ctx context.Context, key string) (Exchange, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.replies[key]
	return e, ok, ctx.Err()
}

// Reserve is as the Ledger has it. When only questions under way stand between it and the budget, it waits for their end.
func (m *Memory) Reserve(ctx context.Context, r Reservation) (int64, error) {
	for {
		id, changed, err := m.reserve(r)
		if err != nil || changed == nil {
			return id, err
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for the budget: %w", context.Cause(ctx))
		case <-changed:
		}
	}
}

func (m *Memory) reserve(r Reservation) (int64, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, busy := m.open[r.Key]; busy {
		return 0, nil, fmt.Errorf("reserving for %s: %w", r.Key, ErrBusy)
	}
	if _, answered := m.replies[r.Key]; answered {
		return 0, nil, fmt.Errorf("reserving for %s: %w: its reply is there", r.Key, ErrBusy)
	}
	switch left := m.limit - m.spent; {
	case m.limit == 0:
	case r.MicroUSD > left:
		return 0, nil, fmt.Errorf("reserving %d millionths of a dollar where %d of %d are left: %w", r.MicroUSD, left, m.limit, ErrBudget)
	case r.MicroUSD > left-m.pending:
		return 0, m.changed, nil
	}
	m.last++
	m.open[r.Key] = m.last
	m.pending += r.MicroUSD
	m.entries[m.last] = Entry{Reservation: r, ID: m.last, State: Reserved, Spent: r.MicroUSD}
	return m.last, nil, nil
}

// end closes a reservation.
func (m *Memory) end(id int64, s State, spent int64, note string) (Entry, error) {
	e, ok := m.entries[id]
	if !ok || e.State != Reserved {
		return e, fmt.Errorf("reservation %d is not open", id)
	}
	m.pending -= e.Spent
	m.spent += spent
	delete(m.open, e.Key)
	e.State, e.Spent, e.Note = s, spent, note
	m.entries[id] = e
	close(m.changed)
	m.changed = make(chan struct{})
	return e, nil
}

// Settle is as the Ledger has it.
func (m *Memory) Settle(_ context.Context, id int64, s Settlement) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.end(id, Settled, s.MicroUSD, s.Exchange.Note)
	if err == nil {
		m.replies[e.Key] = s.Exchange
	}
	return err
}

// Release is as the Ledger has it.
func (m *Memory) Release(_ context.Context, id int64, why string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.end(id, Released, 0, why)
	return err
}

// Uncertain is as the Ledger has it.
func (m *Memory) Uncertain(_ context.Context, id int64, why string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.end(id, Uncertain, m.entries[id].Spent, why)
	return err
}

// Hit is as the Ledger has it.
func (m *Memory) Hit(_ context.Context, key string, _ Charge) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.replies[key]; !ok {
		return fmt.Errorf("noting the use of %s: %w", key, ErrNotStored)
	}
	m.hits[key]++
	return nil
}

// Entries returns all reservations in the order in which they were made.
func (m *Memory) Entries() []Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Entry
	for _, id := range slices.Sorted(maps.Keys(m.entries)) {
		out = append(out, m.entries[id])
	}
	return out
}

// Hits returns how often stored replies were used.
func (m *Memory) Hits() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.hits {
		n += k
	}
	return n
}

// Spent is what was settled, what is uncertain and what is reserved, in millionths of a dollar.
func (m *Memory) Spent() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent + m.pending
}
