package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// querier is a pool or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type scanner interface{ Scan(dest ...any) error }

// write runs f in a transaction that takes the write lock at once, so that what f read holds when it writes.
func (s *Store) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.w.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit; else the first error is the one that counts
	if err := f(tx); err != nil {
		return explain(err)
	}
	return explain(tx.Commit())
}

// exec runs a statement by itself and tells how many rows it changed.
func (s *Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := s.w.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, explain(err)
	}
	return res.RowsAffected()
}

// execLightly runs a statement by itself without waiting for the disk: killed after it, the process has lost nothing, but a machine
// without power may have lost it together with what else was written so since the last other write.
func (s *Store) execLightly(ctx context.Context, query string, args ...any) error {
	c, err := s.w.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	defer c.Close() //nolint:errcheck // it goes back to the pool
	if _, err := c.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return explain(err)
	}
	_, err = c.ExecContext(ctx, query, args...)
	if _, back := c.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = `+s.durability); back != nil {
		back = errors.Join(back, c.Raw(func(any) error { return driver.ErrBadConn })) // nobody shall write with it any more
		return explain(errors.Join(err, back))
	}
	return explain(err)
}

func list[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below says what went wrong
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, explain(rows.Err())
}

// first returns the first row, if there is one.
func first[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) (T, bool, error) {
	vs, err := list(ctx, q, scan, query, args...)
	if err != nil || len(vs) == 0 {
		return *new(T), false, err
	}
	return vs[0], true, nil
}

func scanOne[T any](s scanner) (v T, err error) {
	err = s.Scan(&v)
	return v, err
}

// nanos and moment keep the zero time zero.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// orNull keeps an absent reference out of a foreign key.
func orNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// must says that a row had to be there.
func must(n int64, err error) error {
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
