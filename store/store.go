package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// durability is SQLite's synchronous mode. NORMAL would do for a killed process, but in WAL mode it loses the last commits
// when the machine loses power, and an attempt may stand for a paid model call. FULL costs one fsync for each commit:
// BenchmarkCommit took 0.36 ms against 0.11 ms, and 1.4 ms against 1.1 ms with a blob of 20 kB, whose Put has two fsyncs of
// its own (ext4 on a virtual disk with 0.12 ms for an fsync, two busy cores).
const durability = "FULL"

const (
	busyMillis = 30_000 // how long to wait for another process' transaction
	readers    = 4
	lockName   = "sluice.lock"
	dbName     = "sluice.db"
)

// Options are a store's settings.
type Options struct {
	Clock     func() time.Time // default time.Now; leases and GC go by it
	MustExist bool             // do not create a store where there is none

	durability string // for the benchmark that compares
}

// Store is an open ledger with its blobs. It is safe for concurrent use, by goroutines and by processes.
type Store struct {
	dir   string
	clock func() time.Time
	// One connection writes: SQLite has one writer anyway, and waiting in Go is fair and costs no busy loop.
	w     *sql.DB
	r     *sql.DB
	blobs *blobs

	durability string
	batch      batch
}

// OpenDir opens the store in dir, creates it unless o.MustExist, and brings its schema up to date. A store that a newer sluice
// wrote is left untouched: ErrNewer. ErrNotFound when there must be one and is none.
func OpenDir(ctx context.Context, dir string, o Options) (*Store, error) {
	s, err := openDir(ctx, dir, o)
	if err != nil {
		return nil, fmt.Errorf("opening the store %s: %w", dir, explainFile(explain(err)))
	}
	return s, nil
}

func openDir(ctx context.Context, dir string, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.durability == "" {
		o.durability = durability
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := admissible(ctx, dir, o.MustExist); err != nil {
		return nil, err
	}
	b, err := openBlobs(dir, o.Clock)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, clock: o.Clock, blobs: b, durability: o.durability, batch: batch{turn: make(chan struct{}, 1)}}
	if err := s.connect(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// admissible looks before anything is written.
func admissible(ctx context.Context, dir string, mustExist bool) error {
	_, err := os.Stat(filepath.Join(dir, dbName))
	switch {
	case err == nil:
		return refuseNewer(ctx, filepath.Join(dir, dbName))
	case errors.Is(err, fs.ErrNotExist) && mustExist:
		return fmt.Errorf("no store there: %w", ErrNotFound)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// statements is how many prepared statements a connection keeps: reading SQL was a tenth of what a stored reply costs.
const statements = 64

func (s *Store) connect() (err error) {
	path := filepath.Join(s.dir, dbName)
	s.w, err = connect(path, url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {s.durability}, "_txlock": {"immediate"}, "_recursive_triggers": {"1"},
	})
	if err != nil {
		return err
	}
	s.w.SetMaxOpenConns(1)
	s.r, err = connect(path, url.Values{"_query_only": {"1"}})
	if err != nil {
		return err
	}
	s.r.SetMaxOpenConns(readers)
	s.r.SetMaxIdleConns(readers)
	return nil
}

// connect makes a pool; nothing is opened before its first use.
func connect(path string, v url.Values) (*sql.DB, error) {
	v.Set("_foreign_keys", "1")
	v.Set("_busy_timeout", fmt.Sprint(busyMillis))
	v.Set("_stmt_cache_size", fmt.Sprint(statements))
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: v.Encode()}
	return sql.Open("sqlite3", u.String())
}

// Close releases the store. Leases stay until they expire.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.r, s.w} { // the writer last: it folds the log into the database
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	s.blobs.close()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	return nil
}
