package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"

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

// refuseNewer reads the version through a connection that cannot write, so that a newer store stays as it is.
func refuseNewer(ctx context.Context, path string) error {
	db, err := connect(path, url.Values{"mode": {"ro"}, "_query_only": {"1"}})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	m, err := migrator(db)
	if err != nil {
		return err
	}
	versions, err := database.NewStore(database.DialectSQLite3, goose.DefaultTablename)
	if err != nil {
		return err
	}
	tables, _, err := first(ctx, db, scanOne[int], "SELECT count(*) FROM sqlite_master WHERE name = ?", goose.DefaultTablename)
	if err != nil || tables == 0 {
		return err // a store whose creation was interrupted has no versions yet
	}
	have, err := versions.GetLatestVersion(ctx, db)
	if err != nil {
		return fmt.Errorf("reading the schema version: %w", err)
	}
	sources := m.ListSources()
	if known := sources[len(sources)-1].Version; have > known {
		return newer(have, known)
	}
	return nil
}

func newer(have, known int64) error {
	return fmt.Errorf("%w: its schema has version %d, this one knows versions up to %d; upgrade sluice or use another folder",
		ErrNewer, have, known)
}
