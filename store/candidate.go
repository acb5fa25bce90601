package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

const candidateColumns = `id, family, repo, ord, generation, state, stage, code, reason, transient, plan, attempt, data`

// chunk bounds a transaction of AddCandidates, so that others get their turn and an interrupted import keeps most of its work.
const chunk = 500

func scanCandidate(s scanner) (c Candidate, err error) {
	err = s.Scan(&c.ID, &c.Family, &c.Repo, &c.Order, &c.Generation, &c.State, &c.Stage, &c.Code, &c.Reason, &c.Transient,
		&c.Plan, &c.Attempt, &c.Data)
	return c, err
}

// AddCandidates adds those whose id is new and leaves the others as they are. An empty State means open.
func (s *Store) AddCandidates(ctx context.Context, cs []Candidate) (added int, err error) {
	for part := range slices.Chunk(cs, chunk) {
		n := 0
		err := s.write(ctx, func(tx *sql.Tx) (err error) {
			n, err = insertCandidates(ctx, tx, part)
			return err
		})
		if err != nil {
			return added, fmt.Errorf("adding candidates: %w", err)
		}
		added += n
	}
	return added, nil
}

func insertCandidates(ctx context.Context, tx *sql.Tx, cs []Candidate) (added int, err error) {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO candidate (`+candidateColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`)
	if err != nil {
		return 0, err
	}
	defer stmt.Close() //nolint:errcheck // the transaction's end says what went wrong
	for _, c := range cs {
		if c.State == "" {
			c.State = Open
		}
		res, err := stmt.ExecContext(ctx, c.ID, c.Family, c.Repo, c.Order, c.Generation, c.State, c.Stage, c.Code, c.Reason,
			c.Transient, c.Plan, c.Attempt, string(c.Data))
		if err != nil {
			return 0, fmt.Errorf("candidate %q: %w", c.ID, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, err
		}
		added += int(n)
	}
	return added, nil
}

// Candidate returns the candidate with that id, or ErrNotFound.
func (s *Store) Candidate(ctx context.Context, id string) (Candidate, error) {
	c, ok, err := first(ctx, s.r, scanCandidate, `SELECT `+candidateColumns+` FROM candidate WHERE id = ?`, id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return c, fmt.Errorf("reading candidate %q: %w", id, err)
	}
	return c, nil
}

// CandidateByPrefix returns the only candidate whose id starts with prefix, or whose id it is: ErrNotFound, ErrAmbiguous.
func (s *Store) CandidateByPrefix(ctx context.Context, prefix string) (Candidate, error) {
	cond, args := where(Filter{IDPrefix: prefix})
	cs, err := list(ctx, s.r, scanCandidate, `SELECT `+candidateColumns+` FROM candidate`+cond+` ORDER BY id LIMIT 4`, args...)
	if err == nil && (len(cs) == 0 || prefix == "") {
		err = ErrNotFound
	}
	if err != nil {
		return Candidate{}, fmt.Errorf("reading candidate %q: %w", prefix, err)
	}
	if len(cs) == 1 || cs[0].ID == prefix {
		return cs[0], nil
	}
	ids := make([]string, len(cs))
	for i, c := range cs {
		ids[i] = c.ID
	}
	return Candidate{}, fmt.Errorf("candidate %q is %w: %s …", prefix, ErrAmbiguous, strings.Join(ids, ", "))
}

// Candidates returns those that fit, ordered by family, repository, order and id.
func (s *Store) Candidates(ctx context.Context, f Filter) ([]Candidate, error) {
	cond, args := where(f)
	cs, err := list(ctx, s.r, scanCandidate,
		`SELECT `+candidateColumns+` FROM candidate`+cond+` ORDER BY family, repo, ord, id`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading candidates: %w", err)
	}
	return cs, nil
}

// where is the condition of a filter.
func where(f Filter) (cond string, args []any) {
	var conds []string
	add := func(c string, as ...any) { conds, args = append(conds, c), append(args, as...) }
	for _, eq := range [][2]string{{"family", f.Family}, {"repo", f.Repo}, {"stage", f.Stage}, {"code", f.Code}} {
		if eq[1] != "" {
			add(eq[0]+" = ?", eq[1])
		}
	}
	if p := f.IDPrefix; p != "" {
		// A range uses the index, and is case-sensitive on every database. The bound is the largest code point.
		add("id >= ? AND id < ?", p, p+"\U0010FFFF")
	}
	if len(f.States) > 0 {
		states := make([]any, len(f.States))
		for i, st := range f.States {
			states[i] = string(st)
		}
		add("state IN (?"+strings.Repeat(", ?", len(states)-1)+")", states...)
	}
	if len(conds) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(conds, " AND "), args
}

// SetPosition moves a candidate without an attempt: when a stored outcome settles where it stands.
func (s *Store) SetPosition(ctx context.Context, id string, p Position) error {
	if err := setPosition(ctx, s.w, id, p); err != nil {
		return fmt.Errorf("moving candidate %q: %w", id, explain(err))
	}
	return nil
}

func setPosition(ctx context.Context, q querier, id string, p Position) error {
	res, err := q.ExecContext(ctx, `UPDATE candidate SET state = ?, stage = ?, code = ?, reason = ?, transient = ?, plan = ?,
		attempt = ? WHERE id = ?`, p.State, p.Stage, p.Code, p.Reason, p.Transient, p.Plan, p.Attempt, id)
	if err != nil {
		return err
	}
	return must(res.RowsAffected())
}

// FunnelRow counts the candidates of a family that stand at the same place for the same reason.
type FunnelRow struct {
	Family string
	Stage  string
	State  State
	Code   string
	N      int
}

// Funnel counts candidates by place; an empty family or repo means all.
func (s *Store) Funnel(ctx context.Context, family, repo string) ([]FunnelRow, error) {
	cond, args := where(Filter{Family: family, Repo: repo})
	scan := func(s scanner) (f FunnelRow, err error) {
		err = s.Scan(&f.Family, &f.Stage, &f.State, &f.Code, &f.N)
		return f, err
	}
	rows, err := list(ctx, s.r, scan, `SELECT family, stage, state, code, count(*) FROM candidate`+cond+`
		GROUP BY family, stage, state, code ORDER BY family, stage, state, code`, args...)
	if err != nil {
		return nil, fmt.Errorf("counting candidates: %w", err)
	}
	return rows, nil
}

// positionProblems finds candidates that are out or held with no attempt of their generation that says so.
const positionProblems = `SELECT c.id, c.state || ' at stage ' || c.stage || ' with code ' || c.code || ', but no attempt says so'
	FROM candidate c WHERE c.state IN ('rejected', 'held') AND NOT EXISTS (
		SELECT 1 FROM attempt a WHERE a.candidate = c.id AND a.generation = c.generation AND a.stage = c.stage
		AND a.code = c.code AND a.outcome = CASE c.state WHEN 'rejected' THEN 'reject' ELSE 'hold' END)
	ORDER BY c.id`
