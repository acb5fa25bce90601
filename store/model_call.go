package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrAsked: the same question is reserved already.
var ErrAsked = errors.New("the question is being asked")

// CallState is where a question to a model stands.
type CallState string

// A call begins Reserved and ends in one of the other three.
const (
	Reserved  CallState = "reserved"  // money is put aside, the request is on its way
	Settled   CallState = "settled"   // the reply is stored, the money is spent
	Released  CallState = "released"  // refused before any work was done: nothing is to pay
	Uncertain CallState = "uncertain" // it may have been worked on: what was put aside counts as spent
)

// ModelCall is one question to a model on its way, from the money put aside for it to its end.
type ModelCall struct {
	ID        int64
	Request   string // digest of all that decides the answer; at most one call of it is reserved, and at most one settled
	Candidate string // on whose account it goes; may be empty
	Stage     string // the same
	Run       string // names the run of a program
	Owner     string // the process that asks
	Prompt    string
	Version   int // of the prompt
	Model     string
	State     CallState
	Reserved  int64 // millionths of a dollar that were put aside
	MicroUSD  int64 // what counts now, in millionths of a dollar: put aside, or paid
	Tokens    int64 // what counts now, both ways
	Input     int64 // tokens as the endpoint reported them, like the next two
	Cached    int64 // of Input
	Output    int64
	Latency   time.Duration
	Exchange  string // digest of the blob with request and reply; Settled only
	Note      string
	Began     time.Time
	Ended     time.Time
}

const modelCallColumns = `id, request, candidate, stage, run, owner, prompt, version, model, state, reserved, micro_usd, tokens,
	tokens_in, tokens_cached, tokens_out, latency, exchange, note, began, ended`

const modelCallRefs = `SELECT 'exchange of model call ' || id, exchange, -1 FROM model_call WHERE exchange <> ''`

func scanModelCall(s scanner) (m ModelCall, err error) {
	var candidate sql.NullString
	var began, ended int64
	err = s.Scan(&m.ID, &m.Request, &candidate, &m.Stage, &m.Run, &m.Owner, &m.Prompt, &m.Version, &m.Model, &m.State, &m.Reserved,
		&m.MicroUSD, &m.Tokens, &m.Input, &m.Cached, &m.Output, &m.Latency, &m.Exchange, &m.Note, &began, &ended)
	m.Candidate, m.Began, m.Ended = candidate.String, moment(began), moment(ended)
	return m, err
}

// ModelCall returns the settled call of a request, if there is one.
func (s *Store) ModelCall(ctx context.Context, request string) (ModelCall, bool, error) {
	m, ok, err := first(ctx, s.r, scanModelCall,
		`SELECT `+modelCallColumns+` FROM model_call WHERE request = ? AND state = 'settled'`, request)
	if err != nil {
		return m, false, fmt.Errorf("reading model call %s: %w", request, err)
	}
	return m, ok, nil
}

// ModelCalls returns all calls, oldest first; a candidate chooses its own, "" all.
func (s *Store) ModelCalls(ctx context.Context, candidate string) ([]ModelCall, error) {
	cond, args := "", []any(nil)
	if candidate != "" {
		cond, args = " WHERE candidate = ?", []any{candidate}
	}
	ms, err := list(ctx, s.r, scanModelCall, `SELECT `+modelCallColumns+` FROM model_call`+cond+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading model calls: %w", err)
	}
	return ms, nil
}

// ReserveModelCall puts c.Reserved and c.Tokens aside for c.Request and returns the call's id. ErrExists when the reply is stored,
// ErrAsked while the request is reserved. allow sees what counts so far in all that the call would count in, inside the
// transaction and never for two calls at once, and must not use the store; its error refuses and passes unchanged.
func (s *Store) ReserveModelCall(ctx context.Context, c ModelCall, allow func(ModelTotals) error) (id int64, err error) {
	err = s.together(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		id, err = s.reserve(ctx, tx, c, allow)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reserving for model call %s: %w", c.Request, err)
	}
	return id, nil
}

func (s *Store) reserve(ctx context.Context, tx *sql.Tx, c ModelCall, allow func(ModelTotals) error) (int64, error) {
	same, ok, err := first(ctx, tx, scanModelCall, `SELECT `+modelCallColumns+` FROM model_call
		WHERE request = ? AND state IN ('settled', 'reserved') ORDER BY state DESC LIMIT 1`, c.Request)
	switch {
	case err != nil:
		return 0, err
	case ok && same.State == Settled:
		return 0, ErrExists
	case ok:
		return 0, fmt.Errorf("%w by %s", ErrAsked, same.Owner)
	}
	totals, err := modelTotals(ctx, tx, c)
	if err == nil {
		err = allow(totals)
	}
	if err != nil {
		return 0, err
	}
	return s.insertModelCall(ctx, tx, c)
}

func (s *Store) insertModelCall(ctx context.Context, tx *sql.Tx, c ModelCall) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO model_call (request, candidate, stage, run, owner, prompt, version, model, state, reserved,
		micro_usd, tokens, tokens_in, tokens_cached, tokens_out, latency, exchange, note, began, ended)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?, 0, 0, 0, 0, '', '', ?, 0) RETURNING id`,
		c.Request, orNull(c.Candidate), c.Stage, c.Run, c.Owner, c.Prompt, c.Version, c.Model, c.Reserved, c.Reserved, c.Tokens,
		nanos(s.clock())).Scan(&id)
	return id, err
}

// end writes the end of a reserved call: of c its state, what counts, what was reported, latency, exchange and note.
func (s *Store) end(ctx context.Context, c ModelCall) error {
	return s.together(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE model_call SET state = ?, micro_usd = ?, tokens = ?, tokens_in = ?, tokens_cached = ?,
			tokens_out = ?, latency = ?, exchange = ?, note = ?, ended = ? WHERE id = ? AND state = 'reserved'`,
			c.State, c.MicroUSD, c.Tokens, c.Input, c.Cached, c.Output, int64(c.Latency), c.Exchange, c.Note, nanos(s.clock()), c.ID)
		if err != nil {
			return err
		}
		return must(res.RowsAffected())
	})
}

// SettleModelCall ends a reserved call with its reply: of c it reads ID, MicroUSD, Tokens, Input, Cached, Output, Latency,
// Exchange (which must have been Put) and Note. ErrNotFound when that call is not reserved (any more).
func (s *Store) SettleModelCall(ctx context.Context, c ModelCall) error {
	c.State = Settled
	err := s.blobs.pin(c.Exchange)
	if err == nil {
		err = s.end(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("settling model call %d: %w", c.ID, explainFile(err))
	}
	return nil
}

// ReleaseModelCall ends a reserved call that costs nothing. ErrNotFound when it is not reserved (any more).
func (s *Store) ReleaseModelCall(ctx context.Context, id int64, note string) error {
	if err := s.end(ctx, ModelCall{ID: id, State: Released, Note: note}); err != nil {
		return fmt.Errorf("releasing model call %d: %w", id, err)
	}
	return nil
}

// LoseModelCall ends a reserved call of which nobody knows whether it is to pay: what was put aside stays counted.
// ErrNotFound when it is not reserved (any more).
func (s *Store) LoseModelCall(ctx context.Context, id int64, note string) error {
	err := s.together(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE model_call SET state = 'uncertain', note = ?, ended = ? WHERE id = ? AND state = 'reserved'`,
			note, nanos(s.clock()), id)
		if err != nil {
			return err
		}
		return must(res.RowsAffected())
	})
	if err != nil {
		return fmt.Errorf("marking model call %d uncertain: %w", id, err)
	}
	return nil
}

// AbandonModelCalls makes the reserved calls uncertain that dead chooses, with a note, and returns how many there were.
func (s *Store) AbandonModelCalls(ctx context.Context, note string, dead func(ModelCall) bool) (n int, err error) {
	open, err := list(ctx, s.r, scanModelCall, `SELECT `+modelCallColumns+` FROM model_call WHERE state = 'reserved' ORDER BY id`)
	if err != nil {
		return 0, fmt.Errorf("looking for model calls of dead processes: %w", err)
	}
	for _, c := range open {
		if !dead(c) {
			continue
		}
		err := s.LoseModelCall(ctx, c.ID, note)
		if errors.Is(err, ErrNotFound) { // another process met it too
			continue
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// UseModelCall notes that the stored reply to a request was used for a candidate (which may be empty) and stage; noting it again
// changes nothing and writes nothing. ErrNotFound when there is no such reply, or no such candidate. A killed process loses no note; a
// machine that loses power may lose the last ones, which no money depends on.
func (s *Store) UseModelCall(ctx context.Context, request, candidate, stage string) error {
	type call struct {
		id   int64
		used bool
	}
	c, ok, err := first(ctx, s.r, func(s scanner) (c call, err error) {
		err = s.Scan(&c.id, &c.used)
		return c, err
	}, `SELECT id, EXISTS (SELECT 1 FROM model_use WHERE call = model_call.id AND stage = ? AND coalesce(candidate, '') = ?)
		FROM model_call WHERE request = ? AND state = 'settled'`, stage, candidate, request)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err == nil && !c.used {
		err = s.execLightly(ctx, `INSERT INTO model_use (call, candidate, stage, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			c.id, orNull(candidate), stage, nanos(s.clock()))
	}
	if err != nil {
		return fmt.Errorf("recording a use of model call %s: %w", request, err)
	}
	return nil
}
