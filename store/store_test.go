package store

import (
	"database/sql"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write schema.sql anew")

func TestOpenKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b?#%41&c=d")
	c := newClock()
	s, err := OpenDir(t.Context(), dir, Options{Clock: c.Now})
	ok(t, err)
	add(t, s, "is-1")
	ok(t, s.Close())
	for _, name := range []string{"sluice.db", "blobs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	again, err := OpenDir(t.Context(), dir, Options{Clock: c.Now, MustExist: true})
	ok(t, err)
	defer again.Close()
	_, err = again.Candidate(t.Context(), "is-1")
	ok(t, err)
}

func TestOpenMustExist(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	if _, err := OpenDir(t.Context(), dir, Options{MustExist: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
}

func TestOpenForeignFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(dir, dbName), []byte(strings.Repeat("not a database\n", 100)), 0o644))
	before := snapshot(t, dir)
	if s, err := OpenDir(t.Context(), dir, Options{}); err == nil {
		s.Close()
		t.Error("opened a text file")
	}
	same(t, "folder", snapshot(t, dir), before)
}

func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := OpenDir(t.Context(), dir, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A newer sluice may have written things that this one would break.
func TestOpenNewer(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{true, false} {
		dir := t.TempDir()
		s := openAt(t, dir, newClock())
		_, err := s.exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
		ok(t, err)
		if closed {
			ok(t, s.Close())
		}
		before := snapshot(t, dir)
		_, err = OpenDir(t.Context(), dir, Options{})
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "up to 3") {
			t.Errorf("got %v, want ErrNewer with both versions", err)
		}
		same(t, "folder", snapshot(t, dir), before)
	}
}

// snapshot maps each file below dir to its content; SQLite's own index of the log does not count.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	ok(t, err)
	return out
}

func TestMigrationsGoUpAndDown(t *testing.T) {
	t.Parallel()
	db, err := connect(filepath.Join(t.TempDir(), "x.db"), map[string][]string{})
	ok(t, err)
	defer db.Close()
	m, err := migrator(db)
	ok(t, err)
	up := func() string {
		_, err := m.Up(t.Context())
		ok(t, err)
		return schema(t, db)
	}
	first := up()
	_, err = m.DownTo(t.Context(), 0)
	ok(t, err)
	if rest := schema(t, db); rest != "" {
		t.Errorf("down leaves:\n%s", rest)
	}
	if d := cmp.Diff(first, up()); d != "" {
		t.Errorf("up after down differs:\n%s", d)
	}
	if *update {
		ok(t, os.WriteFile("schema.sql", []byte(first), 0o644))
	}
	want, err := os.ReadFile("schema.sql")
	ok(t, err)
	if d := cmp.Diff(string(want), first); d != "" {
		t.Errorf("schema.sql is not what the migrations make; go test -run Migrations -update writes it (-want +got):\n%s", d)
	}
}

// schema dumps what the migrations made.
func schema(t *testing.T, db *sql.DB) string {
	t.Helper()
	lines, err := list(t.Context(), db, scanOne[string], `SELECT sql FROM sqlite_master
		WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND tbl_name NOT LIKE 'goose_%' ORDER BY tbl_name, CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, name`)
	ok(t, err)
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + ";\n")
	}
	return b.String()
}

func TestEachTableIsStrict(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	loose, err := list(t.Context(), s.r, scanOne[string],
		`SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'`)
	ok(t, err)
	same(t, "tables that are not STRICT", loose, nil)
}

// Settings of a connection are easily lost in a DSN, and silently.
func TestPragmas(t *testing.T) {
	t.Parallel()
	s, _ := fresh(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "foreign_keys": "1", "synchronous": "2", "busy_timeout": "30000", "recursive_triggers": "1",
	} {
		got, err := list(t.Context(), s.w, scanOne[string], "PRAGMA "+pragma)
		ok(t, err)
		same(t, pragma, got, []string{want})
	}
	if _, err := s.r.ExecContext(t.Context(), `DELETE FROM mark`); err == nil {
		t.Error("a reader's connection writes")
	}
}
