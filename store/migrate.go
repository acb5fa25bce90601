package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrator applies the embedded migrations to db. It must not be closed: that would close db.
func migrator(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
}

// migrate brings the schema up to date, one process at a time.
func (s *Store) migrate(ctx context.Context) error {
	unlock, err := s.blobs.lock(exclusive)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := migrator(s.w)
	if err != nil {
		return err
	}
	have, known, err := m.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("reading the schema version: %w", err)
	}
	if have > known {
		return newer(have, known)
	}
	if have == known {
		return nil
	}
	if _, err := m.Up(ctx); err != nil {
		return fmt.Errorf("migrating from version %d to %d: %w", have, known, err)
	}
	return nil
}

// refuseNewer reads the version in ways that cannot write, so that a newer store stays as it is.
func refuseNewer(ctx context.Context, path string) error {
	readOnly := url.Values{"mode": {"ro"}, "_query_only": {"1"}}
	alone := maps.Clone(readOnly)
	// When nobody has it open, even a reader would leave an empty log behind, unless it takes the file for unchangeable.
	alone.Set("immutable", "1")
	_, err := os.Stat(path + "-wal")
	open := err == nil
	var have, known int64
	if !open {
		have, known, err = versions(ctx, path, alone)
	}
	if open || err != nil { // an error: somebody may have opened it just now
		have, known, err = versions(ctx, path, readOnly)
	}
	if err == nil && have > known {
		return newer(have, known)
	}
	return err
}

// versions returns the version of the schema in the file and the newest one that this program knows.
func versions(ctx context.Context, path string, v url.Values) (have, known int64, err error) {
	db, err := connect(path, v)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	m, err := migrator(db)
	if err != nil {
		return 0, 0, err
	}
	sources := m.ListSources()
	known = sources[len(sources)-1].Version
	tables, _, err := first(ctx, db, scanOne[int], "SELECT count(*) FROM sqlite_master WHERE name = ?", goose.DefaultTablename)
	if err != nil || tables == 0 {
		return 0, known, err // a store whose creation was interrupted has no versions yet
	}
	log, err := database.NewStore(database.DialectSQLite3, goose.DefaultTablename)
	if err != nil {
		return 0, known, err
	}
	if have, err = log.GetLatestVersion(ctx, db); err != nil {
		return 0, known, fmt.Errorf("reading the schema version: %w", err)
	}
	return have, known, nil
}

func newer(have, known int64) error {
	return fmt.Errorf("%w: its schema has version %d, this one knows versions up to %d; upgrade sluice or use another folder",
		ErrNewer, have, known)
}
