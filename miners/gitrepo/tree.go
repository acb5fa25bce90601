package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// File is one file of a tree. A symbolic link has fs.ModeSymlink and its target for data.
type File struct {
	Path string
	Mode fs.FileMode
	Data []byte
}

// Tree is the tree of a commit. Submodules are left out; large-file pointers are files like others.
type Tree struct {
	m  *Mirror
	id string
}

// Tree finds the tree of a commit.
func (m *Mirror) Tree(ctx context.Context, commit string) (*Tree, error) {
	if err := checkIDs(commit); err != nil {
		return nil, err
	}
	tree, err := m.objects.read(ctx, commit+"^{tree}")
	if err != nil {
		return nil, fmt.Errorf("reading the tree of %s: %w", commit, err)
	}
	return &Tree{m: m, id: tree.id}, nil
}

// ReadFile reads a file as it is in a commit; of a symbolic link, the target. Errors: fs.ErrNotExist (also for folders and
// submodules), ErrMissingObject.
func (m *Mirror) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	if err := checkIDs(commit); err != nil {
		return nil, err
	}
	data, err := m.readAt(ctx, commit+"^{tree}", path)
	if err != nil {
		return nil, fmt.Errorf("reading %s at %.12s: %w", path, commit, err)
	}
	return data, nil
}

// ID is git's id of the tree.
func (t *Tree) ID() string { return t.id }

// ReadFile is Mirror.ReadFile for the tree.
func (t *Tree) ReadFile(ctx context.Context, path string) ([]byte, error) {
	data, err := t.m.readAt(ctx, t.id, path)
	if err != nil {
		return nil, fmt.Errorf("reading %s in tree %.12s: %w", path, t.id, err)
	}
	return data, nil
}

// readAt walks down from a tree. It asks git for ids only: paths may hold any byte, which git's batch protocol cannot carry.
func (m *Mirror) readAt(ctx context.Context, tree, path string) ([]byte, error) {
	name := tree
	for part, rest := "", path; ; {
		more := false
		part, rest, more = strings.Cut(rest, "/")
		folder, err := m.objects.read(ctx, name)
		if err != nil {
			return nil, err
		}
		found, err := findEntry(folder, part)
		if err != nil {
			return nil, err
		}
		if found.isTree() != more || found.mode == modeSubmodule {
			return nil, fs.ErrNotExist
		}
		name = found.id
		if !more {
			blob, err := m.objects.read(ctx, name)
			return blob.data, err
		}
	}
}

const modeSubmodule = "160000"

type entry struct{ mode, name, id string }

func (e entry) isTree() bool { return e.mode == "40000" || e.mode == "040000" }

func findEntry(tree object, name string) (entry, error) {
	if tree.kind != "tree" {
		return entry{}, fs.ErrNotExist
	}
	for rest := tree.data; len(rest) > 0; {
		var e entry
		var err error
		if e, rest, err = nextEntry(rest, len(tree.id)/2); err != nil {
			return entry{}, err
		}
		if e.name == name {
			return e, nil
		}
	}
	return entry{}, fs.ErrNotExist
}

var errBadTree = errors.New("the tree object is broken")

// nextEntry reads "mode name NUL id" from a tree object.
func nextEntry(data []byte, idSize int) (entry, []byte, error) {
	head, rest, ok := bytes.Cut(data, []byte{0})
	mode, name, spaced := strings.Cut(string(head), " ")
	if !ok || !spaced || len(rest) < idSize {
		return entry{}, nil, errBadTree
	}
	return entry{mode: mode, name: name, id: fmt.Sprintf("%x", rest[:idSize])}, rest[idSize:], nil
}

// Each calls f for every file in the order of paths, as git sorts them. An error of f ends it.
func (t *Tree) Each(ctx context.Context, f func(File) error) error {
	return t.Select(ctx, func(File) bool { return true }, f)
}

// Select is Each for the files that pick wants. It is asked about every file first, with no data; what it does not want is not read.
func (t *Tree) Select(ctx context.Context, pick func(File) bool, f func(File) error) error {
	entries, err := t.entries(ctx)
	if err != nil {
		return fmt.Errorf("listing tree %.12s: %w", t.id, err)
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !pick(File{Path: e.name, Mode: fileMode(e.mode)}) })
	if len(entries) == 0 {
		return nil
	}
	return t.m.git.files(ctx, entries, f)
}

// entries lists the files of the tree, submodules left out.
func (t *Tree) entries(ctx context.Context) ([]entry, error) {
	var entries []entry
	err := t.m.git.stream(ctx, nil, []string{"ls-tree", "-r", "-z", "--full-tree", t.id}, func(r *bufio.Reader) error {
		p := diffParser{r: r}
		for {
			token, err := p.next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			meta, path, _ := strings.Cut(token, "\t")
			fields := strings.Fields(meta)
			if len(fields) != 3 {
				return fmt.Errorf("parsing a tree: unexpected %.60q", token)
			}
			if fields[0] != modeSubmodule {
				entries = append(entries, entry{mode: fields[0], name: path, id: fields[2]})
			}
		}
	})
	return entries, err
}

// files reads the contents of entries through a child of its own, which is told all ids ahead.
func (g git) files(ctx context.Context, entries []entry, f func(File) error) error {
	var ids strings.Builder
	for _, e := range entries {
		ids.WriteString(e.id + "\n")
	}
	var failed error // of f: handed on as it is
	err := g.stream(ctx, strings.NewReader(ids.String()), []string{"cat-file", "--batch", "--buffer"}, func(out *bufio.Reader) error {
		r := reader{out: out}
		for _, e := range entries {
			blob, err := r.object(e.id)
			if err != nil {
				return fmt.Errorf("reading %s: %w", e.name, err)
			}
			if failed = f(File{Path: e.name, Mode: fileMode(e.mode), Data: blob.data}); failed != nil {
				return failed
			}
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

func fileMode(mode string) fs.FileMode {
	switch mode {
	case "100755":
		return 0o755
	case "120000":
		return fs.ModeSymlink | 0o777
	}
	return 0o644
}
