// Package tooltest is what tests of test tools share: trees in memory, captured outputs, short views of reports, and what must
// hold for the reports of every tool. No program uses it.
package tooltest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// Tree is a tree in memory, text by path. A value that begins with "-> " is a link.
type Tree map[string]string

// ID is a digest of the files.
func (m Tree) ID() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(h, "%q %q\n", name, m[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Each calls f for every file in order.
func (m Tree) Each(_ context.Context, f func(replay.File) error) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		file := replay.File{Path: name, Mode: 0o644, Data: []byte(m[name])}
		if target, ok := strings.CutPrefix(m[name], "-> "); ok {
			file.Mode, file.Data = fs.ModeSymlink|0o777, []byte(target)
		}
		if err := f(file); err != nil {
			return err
		}
	}
	return nil
}

// Select is Each for the files that pick wants.
func (m Tree) Select(ctx context.Context, pick func(replay.File) bool, f func(replay.File) error) error {
	return sandboxtest.Select(ctx, m, pick, f)
}

// ReadFile returns a file.
func (m Tree) ReadFile(_ context.Context, path string) ([]byte, error) {
	data, ok := m[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return []byte(data), nil
}

// Args returns the arguments of a step from the first that is no part of its command.
func Args(t testing.TB, r replay.Recipe, step string) []string {
	t.Helper()
	for _, s := range r.Install {
		if s.Name != step {
			continue
		}
		i := slices.IndexFunc(s.Args, func(a string) bool { return a == "--" || a == "sh" && s.Args[0] != "sh" })
		if i < 0 {
			i = slices.Index(s.Args[1:], "sh") + 1
		}
		return s.Args[i+1:]
	}
	t.Fatalf("no step %q in %v", step, r.Install)
	return nil
}

// Write lays the files of a tree into a folder of the test's. Links are left out.
func Write(t testing.TB, dir string, tree Tree) {
	t.Helper()
	for name, text := range tree {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ReadFile returns the bytes of a file that must be there.
func ReadFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
