package lineage

import (
	"context"
	"slices"
)

// Text is a file cut into lines, counted from 0.
type Text = text

// Data is the whole file.
func (t *text) Data() []byte { return t.data }

// Change is a file that differs between two commits. OldPath or Path is "" where the file is not there.
type Change struct {
	OldPath, Path string
	old, now      version
}

// File is a change with what it changed.
type File struct {
	Change
	Old, New *Text // nil where the file is not there
	Hunks    []Hunk
}

// maxRenamePairs bounds how many pairs of files are compared to find renames in one change; git gives up at a limit of this kind too.
const maxRenamePairs = 40_000

// Changed lists what differs between two commits in the paths that the given commits touched: usually a commit and its first
// parent. Files are in the order of paths. Where one commit is given, renames are recognised.
func (g *Graph) Changed(ctx context.Context, base, head int32, commits []int32) ([]Change, error) {
	var paths []int32
	for _, c := range commits {
		for _, t := range g.touchesOf(c) {
			paths = append(paths, t.path)
		}
	}
	slices.Sort(paths)
	var out, gone []Change
	added := 0
	for _, p := range slices.Compact(paths) {
		c := Change{old: g.at(p, base), now: g.at(p, head)}
		switch {
		case c.old == c.now || c.old != absent && c.now != absent && g.touches[c.old].blob == g.touches[c.now].blob:
		case c.now == absent:
			c.OldPath = g.paths[p]
			gone = append(gone, c)
		case c.old == absent:
			c.Path = g.paths[p]
			out = append(out, c)
			added++
		default:
			c.OldPath, c.Path = g.paths[p], g.paths[p]
			out = append(out, c)
		}
	}
	if len(commits) == 1 && len(gone) > 0 && added*len(gone) <= maxRenamePairs {
		var err error
		if gone, err = g.pair(ctx, out, gone); err != nil {
			return nil, err
		}
	}
	return append(out, gone...), nil
}

// pair gives added files the names that they had, and returns the files that are really gone.
func (g *Graph) pair(ctx context.Context, changes, gone []Change) ([]Change, error) {
	renamed := map[version]bool{}
	for i, c := range changes {
		if c.old != absent {
			continue
		}
		old, err := g.renamedFrom(ctx, c.now)
		if err != nil {
			return nil, err
		}
		if old != absent {
			changes[i].old, changes[i].OldPath = old, g.paths[g.touches[old].path]
		}
		renamed[old] = true
	}
	return slices.DeleteFunc(gone, func(c Change) bool { return renamed[c.old] }), nil
}

// Open reads a change. White space counts in its hunks: to indent a line may be the fix. Binary files and submodules have no hunks.
func (g *Graph) Open(ctx context.Context, c Change) (f File, err error) {
	f.Change = c
	none := newText(nil, nil)
	before, after := none, none
	if c.old != absent {
		if before, err = g.store.read(ctx, g.touches[c.old].blob); err != nil {
			return f, err
		}
		f.Old = before
	}
	if c.now != absent {
		if after, err = g.store.readLike(ctx, g.touches[c.now].blob, before); err != nil {
			return f, err
		}
		f.New = after
	}
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
