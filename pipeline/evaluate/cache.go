package evaluate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice/replay"
)

// outputError marks that the output folder cannot be written: the evaluation stops instead of calling it infra.
type outputError struct{ error }

func (e *outputError) Unwrap() error { return e.error }

// cache keeps results by their key, one file each.
type cache struct{ dir string }

func newCache(out string) (cache, error) {
	c := cache{filepath.Join(out, "results")}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return c, fmt.Errorf("making the output folder: %w", err)
	}
	return c, nil
}

func (c cache) path(key string) string { return filepath.Join(c.dir, key+".json") }

// get returns a stored result. A file that cannot be read or decoded is as good as none.
func (c cache) get(key string) (record, bool) {
	var rec record
	b, err := os.ReadFile(c.path(key))
	if err != nil || json.Unmarshal(b, &rec) != nil || rec.Result.Key != key {
		return record{}, false
	}
	return rec, true
}

func (c cache) put(key string, rec record) error {
	return writeJSON(c.path(key), rec)
}

// writeJSON writes a value at once, so that no reader sees half of it.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &outputError{fmt.Errorf("encoding %s: %w", filepath.Base(path), err)}
	}
	return writeAtomic(path, append(b, '\n'))
}

// writeAtomic writes a file beside its place and renames it.
func writeAtomic(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-")
	if err != nil {
		return &outputError{fmt.Errorf("writing %s: %w", filepath.Base(path), err)}
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return &outputError{fmt.Errorf("writing %s: %w", filepath.Base(path), err)}
	}
	return nil
}

// writeLog keeps what a check's steps printed, and returns its name below the output folder. The key is in the name, so
// that the log of one patch is never taken for that of another.
func (e *evaluator) writeLog(id, check, key string, res replay.Result) (string, error) {
	name := filepath.Join("logs", id, fmt.Sprintf("%s.%s.log", safe(check), key[:12]))
	full := filepath.Join(e.o.Out, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return "", &outputError{fmt.Errorf("writing a log: %w", err)}
	}
	var b strings.Builder
	for _, s := range res.Steps {
		fmt.Fprintf(&b, "== %s: %s, exit code %d\n-- stdout\n%s\n-- stderr\n%s\n", s.Name, s.Stop, s.ExitCode, s.Stdout, s.Stderr)
	}
	return filepath.ToSlash(name), writeAtomic(full, []byte(b.String()))
}

// safe makes a word of a file's name.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
}
