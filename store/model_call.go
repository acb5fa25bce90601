package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// ModelCall is one question to a model and its answer, paid once.
type ModelCall struct {
	Request       string // digest of everything that was sent; the key
	Candidate     string // for which it was asked first; may be empty
	Prompt        string // name of the prompt
	PromptVersion string
	Model         string
	Reply         string // digest of the reply's blob
	TokensIn      int64
	TokensOut     int64
	MicroUSD      int64 // cost in millionths of a dollar
	Latency       time.Duration
	At            time.Time
}

const modelCallColumns = `request, candidate, prompt, prompt_version, model, reply, tokens_in, tokens_out, micro_usd, latency, at`

const modelCallRefs = `SELECT 'reply to model call ' || request, reply, -1 FROM model_call`

func scanModelCall(s scanner) (m ModelCall, err error) {
	var candidate sql.NullString
	var at int64
	err = s.Scan(&m.Request, &candidate, &m.Prompt, &m.PromptVersion, &m.Model, &m.Reply, &m.TokensIn, &m.TokensOut, &m.MicroUSD,
		&m.Latency, &at)
	m.Candidate, m.At = candidate.String, moment(at)
	return m, err
}

// AddModelCall records a call; its reply must have been Put. ErrExists when the request is there: the first reply counts.
func (s *Store) AddModelCall(ctx context.Context, m ModelCall) error {
	err := s.blobs.pin(m.Reply)
	if err == nil {
		_, err = s.exec(ctx, `INSERT INTO model_call (`+modelCallColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			m.Request, orNull(m.Candidate), m.Prompt, m.PromptVersion, m.Model, m.Reply, m.TokensIn, m.TokensOut, m.MicroUSD,
			int64(m.Latency), nanos(m.At))
	}
	if err != nil {
		return fmt.Errorf("recording model call %s: %w", m.Request, explainFile(err))
	}
	return nil
}

// ModelCall returns the stored call with that request digest, if there is one.
func (s *Store) ModelCall(ctx context.Context, request string) (ModelCall, bool, error) {
	m, ok, err := first(ctx, s.r, scanModelCall, `SELECT `+modelCallColumns+` FROM model_call WHERE request = ?`, request)
	if err != nil {
		return m, false, fmt.Errorf("reading model call %s: %w", request, err)
	}
	return m, ok, nil
}
