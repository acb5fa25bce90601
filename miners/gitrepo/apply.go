package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Applied is what a patch made of a commit: the files that differ from it, and the paths that are gone.
type Applied struct {
	Files   []File
	Removed []string
}

// ApplyOnto applies a patch to a commit, three-way: where it does not fit, git merges it by the blobs that it names. The result is
// kept nowhere: new objects go to a folder that is removed again. Errors: ErrConflict with git's own words.
func (m *Mirror) ApplyOnto(ctx context.Context, onto string, patch []byte) (Applied, error) {
	if err := checkIDs(onto); err != nil {
		return Applied{}, err
	}
	if len(bytes.TrimSpace(patch)) == 0 {
		return Applied{}, nil
	}
	dir, err := os.MkdirTemp("", "sluice-apply-*")
	if err != nil {
		return Applied{}, fmt.Errorf("applying a patch: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o700); err != nil {
		return Applied{}, fmt.Errorf("applying a patch: %w", err)
	}
	applied, err := m.git.scratch(dir).apply(ctx, onto, patch)
	if err != nil {
		return Applied{}, fmt.Errorf("applying a patch onto %.12s: %w", onto, err)
	}
	return applied, nil
}

// scratch is g with an index and an object folder of its own in dir.
func (g git) scratch(dir string) git {
	g.extra = append([]string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(filepath.Join(g.dir, "objects")),
	}, g.extra...)
	return g
}

// quotePath quotes what would be read as a list of paths.
func quotePath(path string) string {
	if !strings.ContainsAny(path, `:"\`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

func (g git) apply(ctx context.Context, onto string, patch []byte) (Applied, error) {
	if _, err := g.output(ctx, nil, "read-tree", onto); err != nil {
		return Applied{}, err
	}
	_, err := g.output(ctx, bytes.NewReader(patch), "apply", "--cached", "--3way", "--whitespace=nowarn", "-")
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		return Applied{}, fmt.Errorf("%w: %w", ErrConflict, err)
	}
	if err != nil {
		return Applied{}, err
	}
	return g.changedFiles(ctx, onto)
}

// changedFiles reads what differs between a commit and the index.
func (g git) changedFiles(ctx context.Context, onto string) (Applied, error) {
	tree, err := g.output(ctx, nil, "write-tree")
	if err != nil {
		return Applied{}, err
	}
	var changes []FileChange
	args := []string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", onto, strings.TrimSpace(string(tree))}
	err = g.stream(ctx, nil, args, func(r *bufio.Reader) error {
		// The parser wants to know whose diff it is.
		return parseDiffs(bufio.NewReader(io.MultiReader(strings.NewReader(onto+"\x00"), r)), func(_ string, files []FileChange) { changes = files })
	})
	if err != nil {
		return Applied{}, err
	}
	var applied Applied
	var entries []entry
	for _, c := range changes {
		switch {
		case c.Status == Deleted:
			applied.Removed = append(applied.Removed, c.Path)
		case c.Mode != modeSubmodule:
			entries = append(entries, entry{mode: c.Mode, name: c.Path, id: c.ID})
		}
	}
	err = g.files(ctx, entries, func(f File) error {
		applied.Files = append(applied.Files, f)
		return nil
	})
	return applied, err
}
