package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
)

// maxArgs keeps a command line below what the system takes.
const maxArgs = 512 << 10

// Patch is the difference between two commits (base "" is the empty tree) as `git apply` takes it: binary files and modes
// included, paths quoted as git does, bytes as they are, a newline at its end. Equal trees give an empty patch.
//
// Nil paths mean all files; an empty, non-nil list means none. Paths are literal. Of a renamed file both names must be given,
// else only one side of it is in the patch.
func (m *Mirror) Patch(ctx context.Context, base, head string, paths []string) ([]byte, error) {
	patch, err := m.diff(ctx, base, head, paths, "--binary", "--full-index")
	if err != nil {
		return nil, fmt.Errorf("making the patch %.12s..%.12s: %w", base, head, err)
	}
	if len(patch) > 0 && patch[len(patch)-1] != '\n' {
		patch = append(patch, '\n')
	}
	return patch, nil
}

// FileHunks are the hunks of one file. OldPath is "" for an added file and else the path before, also without a rename.
type FileHunks struct {
	OldPath, Path string
	Hunks         []Hunk
}

// Hunks lists the changed blocks of lines without context, by new path (of a deleted file, by the old one). Files without any
// are left out: binary ones, pure renames, modes. With ignoreSpace, lines that differ only in white space are equal. Paths are as for
// Patch.
func (m *Mirror) Hunks(ctx context.Context, base, head string, paths []string, ignoreSpace bool) (map[string]FileHunks, error) {
	options := []string{"--unified=0", "--inter-hunk-context=0", "--full-index"}
	if ignoreSpace {
		options = append(options, "--ignore-all-space")
	}
	patch, err := m.diff(ctx, base, head, paths, options...)
	if err != nil {
		return nil, fmt.Errorf("reading the hunks of %.12s..%.12s: %w", base, head, err)
	}
	found := map[string]FileHunks{}
	err = parseHunks(bufio.NewReader(bytes.NewReader(patch)), func(f FileHunks) {
		// A file that became a link is deleted and added: two parts of one path.
		f.Hunks = append(found[f.Path].Hunks, f.Hunks...)
		found[f.Path] = f
	})
	return found, err
}

// diff runs git once, or more often when the paths do not fit on one command line.
func (m *Mirror) diff(ctx context.Context, base, head string, paths []string, options ...string) ([]byte, error) {
	if err := checkIDs(head); err != nil {
		return nil, err
	}
	if base == "" {
		base = emptyTreeLike(head)
	}
	if err := checkIDs(base); err != nil {
		return nil, err
	}
	args := append(append([]string{"diff-tree", "-r", "--patch", "--src-prefix=a/", "--dst-prefix=b/"}, renames...), options...)
	args = append(args, base, head, "--")
	if paths == nil {
		return m.git.output(ctx, nil, args...)
	}
	var patch []byte
	for part, rest := cut(paths); len(part) > 0; part, rest = cut(rest) {
		out, err := m.git.output(ctx, nil, append(args[:len(args):len(args)], part...)...)
		if err != nil {
			return nil, err
		}
		patch = append(patch, out...)
	}
	return patch, nil
}

func emptyTreeLike(id string) string {
	if len(id) == len(emptyTree256) {
		return emptyTree256
	}
	return emptyTree
}

// cut takes as many paths as fit.
func cut(paths []string) (part, rest []string) {
	size := 0
	for i, path := range paths {
		if size += len(path) + 1; size > maxArgs && i > 0 {
			return paths[:i], paths[i:]
		}
	}
	return paths, nil
}
