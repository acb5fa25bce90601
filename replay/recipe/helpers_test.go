package recipe

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/replay"
)

// mapTree is a tree in memory. A value that begins with "-> " is a link.
type mapTree map[string]string

func (m mapTree) ID() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(h, "%q %q\n", name, m[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (m mapTree) Each(_ context.Context, f func(replay.File) error) error {
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

func (m mapTree) ReadFile(_ context.Context, path string) ([]byte, error) {
	data, ok := m[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return []byte(data), nil
}

func detect(t testing.TB, tree mapTree, paths ...string) replay.Recipe {
	t.Helper()
	r, err := Detect(context.Background(), tree, Options{Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refused returns the reason why there is no recipe.
func refused(t *testing.T, tree mapTree, paths ...string) string {
	t.Helper()
	_, err := Detect(context.Background(), tree, Options{Paths: paths})
	var no ErrNoRecipe
	if !errors.As(err, &no) {
		t.Fatalf("the error is %v", err)
	}
	return no.Reason
}

// args returns the arguments of a step from the first that is no option of pip or part of its command.
func args(t *testing.T, r replay.Recipe, step string) []string {
	t.Helper()
	for _, s := range r.Install {
		if s.Name != step {
			continue
		}
		i := slices.IndexFunc(s.Args, func(a string) bool { return a == "--no-input" || a == "sh" && s.Args[0] != "sh" })
		if i < 0 {
			i = slices.Index(s.Args[1:], "sh") + 1
		}
		return s.Args[i+1:]
	}
	t.Fatalf("no step %q in %v", step, r.Install)
	return nil
}
