package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotFile says that a path of a tree is a folder or a submodule.
var ErrNotFile = errors.New("not a file")

// Blob reads a blob by its id. The id of a file that is not there (all zeros) is an empty blob.
func (m *Mirror) Blob(ctx context.Context, id string) ([]byte, error) {
	if strings.Trim(id, "0") == "" {
		return nil, nil
	}
	if err := checkIDs(id); err != nil {
		return nil, err
	}
	o, err := m.objects.read(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading blob %.12s: %w", id, err)
	}
	return o.data, nil
}

// Messages reads the messages of commits, by id.
func (m *Mirror) Messages(ctx context.Context, commits []string) (map[string]string, error) {
	messages := make(map[string]string, len(commits))
	for _, id := range commits {
		if err := checkIDs(id); err != nil {
			return nil, err
		}
		o, err := m.objects.read(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("reading the message of %.12s: %w", id, err)
		}
		_, message, _ := bytes.Cut(o.data, []byte("\n\n"))
		messages[id] = string(message)
	}
	return messages, nil
}

// File reads one file with its mode. Errors: fs.ErrNotExist, ErrNotFile.
func (t *Tree) File(ctx context.Context, path string) (File, error) {
	name := t.id
	parts := strings.Split(path, "/")
	for i, part := range parts {
		folder, err := t.m.objects.read(ctx, name)
		if err != nil {
			return File{}, fmt.Errorf("reading %s in tree %.12s: %w", path, t.id, err)
		}
		found, err := findEntry(folder, part)
		if err != nil {
			return File{}, fmt.Errorf("reading %s in tree %.12s: %w", path, t.id, err)
		}
		last := i == len(parts)-1
		switch {
		case last && (found.isTree() || found.mode == modeSubmodule):
			return File{}, fmt.Errorf("reading %s in tree %.12s: %w", path, t.id, ErrNotFile)
		case last:
			blob, err := t.m.objects.read(ctx, found.id)
			return File{Path: path, Mode: fileMode(found.mode), Data: blob.data}, err
		case !found.isTree():
			return File{}, fmt.Errorf("reading %s in tree %.12s: %w", path, t.id, fs.ErrNotExist)
		}
		name = found.id
	}
	return File{}, fs.ErrNotExist
}

// PatchOnto applies a patch to the commit onto, as ApplyOnto does, and returns the difference between the commit from and the result
// on the paths, as Patch gives it.
func (m *Mirror) PatchOnto(ctx context.Context, from, onto string, patch []byte, paths []string) ([]byte, error) {
	if err := checkIDs(from, onto); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-apply-*")
	if err != nil {
		return nil, fmt.Errorf("applying a patch: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o700); err != nil {
		return nil, fmt.Errorf("applying a patch: %w", err)
	}
	g := m.git.scratch(dir)
	if _, err := g.apply(ctx, onto, patch); err != nil {
		return nil, fmt.Errorf("applying a patch onto %.12s: %w", onto, err)
	}
	tree, err := g.output(ctx, nil, "write-tree")
	if err != nil {
		return nil, fmt.Errorf("applying a patch onto %.12s: %w", onto, err)
	}
	scratch := &Mirror{source: m.source, git: g}
	return scratch.Patch(ctx, from, strings.TrimSpace(string(tree)), paths)
}
