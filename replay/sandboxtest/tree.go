package sandboxtest

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"sluice/replay"
)

// Tree is a tree that lives in memory.
type Tree struct {
	Name  string
	Files []replay.File
}

// NewTree returns a tree of the files, in path order.
func NewTree(name string, files ...replay.File) *Tree {
	sorted := slices.Clone(files)
	slices.SortStableFunc(sorted, func(a, b replay.File) int { return cmp.Compare(a.Path, b.Path) })
	return &Tree{Name: name, Files: sorted}
}

// Text is a regular file.
func Text(path, data string) replay.File {
	return replay.File{Path: path, Mode: 0o644, Data: []byte(data)}
}

// Script is a file that can be executed.
func Script(path, data string) replay.File {
	return replay.File{Path: path, Mode: 0o755, Data: []byte(data)}
}

// Link is a symbolic link.
func Link(path, target string) replay.File {
	return replay.File{Path: path, Mode: fs.ModeSymlink | 0o777, Data: []byte(target)}
}

// ID implements replay.Tree.
func (t *Tree) ID() string { return t.Name }

// Each implements replay.Tree.
func (t *Tree) Each(ctx context.Context, f func(replay.File) error) error {
	for _, file := range t.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(file); err != nil {
			return err
		}
	}
	return nil
}

// Select implements replay.Tree.
func (t *Tree) Select(ctx context.Context, pick func(replay.File) bool, f func(replay.File) error) error {
	return Select(ctx, t, pick, f)
}

// Select is Select of a tree whose data are in memory.
func Select(ctx context.Context, t interface {
	Each(context.Context, func(replay.File) error) error
}, pick func(replay.File) bool, f func(replay.File) error) error {
	wanted := map[string]bool{}
	err := t.Each(ctx, func(file replay.File) error {
		wanted[file.Path] = pick(replay.File{Path: file.Path, Mode: file.Mode})
		return nil
	})
	if err != nil {
		return err
	}
	return t.Each(ctx, func(file replay.File) error {
		if !wanted[file.Path] {
			return nil
		}
		return f(file)
	})
}

// ReadFile implements replay.Tree.
func (t *Tree) ReadFile(_ context.Context, path string) ([]byte, error) {
	for _, file := range t.Files {
		if file.Path == path {
			return file.Data, nil
		}
	}
	return nil, fmt.Errorf("reading %s: %w", path, fs.ErrNotExist)
}
