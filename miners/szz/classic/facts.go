package classic

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"sluice/miners/gitrepo"
	"sluice/miners/szz/refactor"
)

// lacking tells the errors that mean "it is not there" from those of the machinery.
func lacking(err error) bool {
	return errors.Is(err, gitrepo.ErrMissingObject) || errors.Is(err, fs.ErrNotExist)
}

func (v *Variants) commit(ctx context.Context, id string) (gitrepo.Commit, error) {
	if c, ok := v.commits.get(id); ok {
		return c, nil
	}
	c, err := v.m.Commit(ctx, id)
	if err == nil {
		v.commits.put(id, c, 1)
	}
	return c, err
}

// namesOf lists what commits change against their first parents, without numbers of lines. A commit whose diff cannot be read
// changes nothing.
func (v *Variants) namesOf(ctx context.Context, ids []string) (map[string][]gitrepo.FileChange, error) {
	return v.listed(ctx, ids, v.names, v.m.AllNames)
}

// filesOf is namesOf with the numbers.
func (v *Variants) filesOf(ctx context.Context, ids []string) (map[string][]gitrepo.FileChange, error) {
	return v.listed(ctx, ids, v.files, v.m.AllFiles)
}

// filesCache is what is known of commits.
type filesCache = cache[string, []gitrepo.FileChange]

func (v *Variants) listed(
	ctx context.Context, ids []string, known *filesCache, read func(context.Context, []gitrepo.Change) (map[string][]gitrepo.FileChange, error),
) (map[string][]gitrepo.FileChange, error) {
	out := map[string][]gitrepo.FileChange{}
	var unknown []gitrepo.Change
	for _, id := range ids {
		if files, ok := known.get(id); ok {
			out[id] = files
			continue
		}
		c, err := v.commit(ctx, id)
		if err != nil {
			return nil, err
		}
		unknown = append(unknown, gitrepo.Change{Head: id, Base: c.FirstParent()})
	}
	found, err := read(ctx, unknown)
	if err != nil {
		return nil, err
	}
	for _, c := range unknown {
		out[c.Head] = found[c.Head]
		known.put(c.Head, found[c.Head], len(found[c.Head])+1)
	}
	return out, nil
}

// lookedThrough finds among the commits that wrote lines those that the variant looks through, each once and in order.
func (s strategy) lookedThrough(ctx context.Context, blamed []gitrepo.BlameLine, known []string) ([]string, error) {
	if !s.rules.big && !s.rules.meta {
		return nil, nil
	}
	var ids []string
	for _, b := range blamed {
		if !slices.Contains(known, b.Commit) && !slices.Contains(ids, b.Commit) {
			ids = append(ids, b.Commit)
		}
	}
	files, err := s.namesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, b := range blamed {
		if !slices.Contains(ids, b.Commit) || slices.Contains(out, b.Commit) {
			continue
		}
		c, err := s.commit(ctx, b.Commit)
		if err != nil {
			return nil, err
		}
		merge := len(c.Parents) > 1
		// What a merge changes against its first parent was not its own work.
		if s.rules.big && !merge && len(files[b.Commit]) > s.o.MaxFiles || s.rules.meta && (merge || metaOf(files[b.Commit], b.OrigPath)) {
			out = append(out, b.Commit)
		}
	}
	return out, nil
}

// metaOf tells whether a commit renames a file or changes its mode.
func metaOf(files []gitrepo.FileChange, path string) bool {
	return slices.ContainsFunc(files, func(f gitrepo.FileChange) bool {
		if f.Path != path && f.OldPath != path {
			return false
		}
		return f.Status == gitrepo.Renamed || f.Mode != "" && f.OldMode != "" && f.Mode != f.OldMode
	})
}

// refactoredBy gives the lines that a commit only refactors, with the lines that they were at its first parent. Commits of
// more than MaxFiles files have none.
func (v *Variants) refactoredBy(ctx context.Context, id string) (map[refactor.Place]refactor.Place, error) {
	if found, ok := v.refactored.get(id); ok {
		return found, nil
	}
	c, err := v.commit(ctx, id)
	if err != nil {
		return nil, err
	}
	files, err := v.namesOf(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	if len(files[id]) <= v.o.MaxFiles {
		if files, err = v.filesOf(ctx, []string{id}); err != nil {
			return nil, err
		}
	}
	var found map[refactor.Place]refactor.Place
	loses := func(f gitrepo.FileChange) bool { return f.Deleted > 0 }
	if c.FirstParent() != "" && len(files[id]) <= v.o.MaxFiles && slices.ContainsFunc(files[id], loses) {
		if found, err = v.compare(ctx, c, files[id]); lacking(err) {
			found = nil
		} else if err != nil {
			return nil, err
		}
	}
	v.refactored.put(id, found, len(found)+1)
	return found, nil
}

func (v *Variants) compare(ctx context.Context, c gitrepo.Commit, files []gitrepo.FileChange) (map[refactor.Place]refactor.Place, error) {
	hunks, err := v.m.Hunks(ctx, c.FirstParent(), c.ID, nil, true)
	if err != nil {
		return nil, err
	}
	var both []refactor.File
	for _, f := range files {
		h, ok := hunks[f.Path]
		if !ok || submodule(f) {
			continue
		}
		r := refactor.File{OldPath: f.OldPath, Path: f.Path, Hunks: h.Hunks}
		if r.OldPath == "" {
			r.OldPath = f.Path
		}
		if f.Status != gitrepo.Added {
			if r.Old, err = v.m.ReadFile(ctx, c.FirstParent(), r.OldPath); err != nil {
				return nil, err
			}
		}
		if f.Status != gitrepo.Deleted {
			if r.New, err = v.m.ReadFile(ctx, c.ID, f.Path); err != nil {
				return nil, err
			}
		}
		both = append(both, r)
	}
	return refactor.Find(both), nil
}

func submodule(f gitrepo.FileChange) bool { return f.Mode == "160000" || f.OldMode == "160000" }
