package lineage

import (
	"context"
	"errors"
	"slices"

	"sluice/miners/gitrepo"
)

// Text is a file cut into lines, counted from 0.
type Text = text

// Data is the whole file.
func (t *text) Data() []byte { return t.data }

// File is what commits did to one file, taken together.
type File struct {
	OldPath, Path string // "" where the file is not there
	Old, New      *Text  // nil likewise
	Hunks         []Hunk
}

// Diff tells what differs between two commits in the paths that the given commits touched: usually a commit and its first
// parent. Files are in the order of paths; renames are recognised. Submodules and binary files have no hunks.
func (g *Graph) Diff(ctx context.Context, base, head int32, commits []int32) ([]File, error) {
	var paths []int32
	for _, c := range commits {
		for _, t := range g.touchesOf(c) {
			paths = append(paths, t.path)
		}
	}
	slices.Sort(paths)
	var out []File
	var gone []version
	renamed := map[version]bool{}
	for _, p := range slices.Compact(paths) {
		old, now := g.at(p, base), g.at(p, head)
		switch {
		case old == now || old != absent && now != absent && g.touches[old].blob == g.touches[now].blob:
			continue
		case now == absent:
			gone = append(gone, old)
			continue
		case old == absent && len(commits) == 1:
			var err error
			if old, err = g.renamedFrom(ctx, now); err != nil {
				return nil, err
			}
			renamed[old] = true
		}
		f, err := g.file(ctx, old, now)
		if errors.Is(err, gitrepo.ErrMissingObject) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	for _, v := range gone {
		if renamed[v] {
			continue
		}
		f, err := g.file(ctx, v, absent)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (g *Graph) file(ctx context.Context, old, now version) (f File, err error) {
	none := newText(nil, nil)
	before, after := none, none
	if old != absent {
		f.OldPath = g.paths[g.touches[old].path]
		if before, err = g.store.read(ctx, g.touches[old].blob); err != nil {
			return f, err
		}
		f.Old = before
	}
	if now != absent {
		f.Path = g.paths[g.touches[now].path]
		if after, err = g.store.readLike(ctx, g.touches[now].blob, before); err != nil {
			return f, err
		}
		f.New = after
	}
	// White space counts here: to indent a line may be the fix. What only lays out anew is left to the caller.
	f.Hunks = compare(before.exact(), after.exact())
	return f, nil
}

// ReadFile is a file as a commit has it; nil where there is none.
func (g *Graph) ReadFile(ctx context.Context, commit int32, path string) (*Text, error) {
	id, ok := g.byPath[path]
	if !ok {
		return nil, nil
	}
	v := g.at(id, commit)
	if v == absent {
		return nil, nil
	}
	return g.store.read(ctx, g.touches[v].blob)
}
