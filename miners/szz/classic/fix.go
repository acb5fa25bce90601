package classic

import (
	"context"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/miners/szz"
	"sluice/miners/szz/refactor"
)

// deleted is what a fix deletes of one file.
type deleted struct {
	file   string // before the fix
	ranges []gitrepo.Range
}

// deletions finds the lines that the fix deletes and that count, by file. Without any, why tells the reason.
func (w *walk) deletions(ctx context.Context) (found []deleted, why szz.Reason, err error) {
	if w.fix.Base == "" {
		return nil, szz.RootFix, nil
	}
	files, err := w.m.Files(ctx, gitrepo.Change{Head: w.fix.Commit, Base: w.fix.Base})
	if err != nil {
		return nil, szz.MissingObject, unlessLacking(err)
	}
	paths, why := losing(files)
	if len(paths) == 0 {
		return nil, why, nil
	}
	hunks, err := w.m.Hunks(ctx, w.fix.Base, w.fix.Commit, paths, false)
	if err != nil {
		return nil, szz.MissingObject, unlessLacking(err)
	}
	// White space counts here: in some languages it is syntax, and a fix that changes nothing else has no other lines.
	gone, err := w.onlyRefactored(ctx)
	if err != nil {
		return nil, "", err
	}
	why = szz.AddOnly
	for _, f := range files {
		h, ok := hunks[f.Path]
		if !ok || h.OldPath == "" || len(oldLines(h.Hunks)) == 0 {
			continue
		}
		lines, reason, err := w.counting(ctx, h, gone)
		if err != nil {
			return nil, "", err
		}
		if len(lines) == 0 {
			why = reason
			continue
		}
		found = append(found, deleted{h.OldPath, ranges(lines)})
	}
	return found, why, nil
}

func unlessLacking(err error) error {
	if lacking(err) {
		return nil
	}
	return err
}

// losing lists the paths, old and new, of the files that lose lines.
func losing(files []gitrepo.FileChange) (paths []string, why szz.Reason) {
	why = szz.NoSource
	for _, f := range files {
		switch {
		case submodule(f):
		case f.Status == gitrepo.Added && why == szz.NoSource:
			why = szz.NewFiles
		case f.Status == gitrepo.Added, f.Deleted < 0:
		case f.Deleted == 0:
			why = szz.AddOnly
		default:
			paths = append(paths, f.Path)
			if f.OldPath != "" {
				paths = append(paths, f.OldPath)
			}
		}
	}
	return paths, why
}

// onlyRefactored gives the old lines that the fix itself only refactors.
func (w *walk) onlyRefactored(ctx context.Context) (map[refactor.Place]bool, error) {
	if !w.rules.refactored {
		return nil, nil
	}
	found, err := w.refactoredBy(ctx, w.fix.Commit)
	old := make(map[refactor.Place]bool, len(found))
	for _, o := range found {
		old[o] = true
	}
	return old, err
}

// counting lists the old lines of a file that the variant follows.
func (w *walk) counting(ctx context.Context, f gitrepo.FileHunks, gone map[refactor.Place]bool) ([]int, szz.Reason, error) {
	old := oldLines(f.Hunks)
	if !w.rules.code {
		return old, "", nil
	}
	src, err := w.m.ReadFile(ctx, w.fix.Base, f.OldPath)
	if lacking(err) {
		w.skip(f.OldPath, szz.MissingObject)
		return nil, szz.MissingObject, nil
	} else if err != nil {
		return nil, "", err
	}
	code, _ := lang.CodeLines(f.OldPath, src)
	var out []int
	why := szz.AllComments
	for _, n := range old {
		switch {
		case n > len(code) || !code[n-1]:
		case gone[refactor.Place{File: f.OldPath, Line: n}]:
			why = RefactoringOnly
		default:
			out = append(out, n)
		}
	}
	return out, why, nil
}

func oldLines(hunks []gitrepo.Hunk) []int {
	var out []int
	for _, h := range hunks {
		for n := h.Old.First; n <= h.Old.Last; n++ {
			out = append(out, n)
		}
	}
	return out
}

// ranges joins lines, which are in order, to ranges.
func ranges(lines []int) []gitrepo.Range {
	var out []gitrepo.Range
	for _, n := range lines {
		if last := len(out) - 1; last >= 0 && out[last].Last == n-1 {
			out[last].Last = n
			continue
		}
		out = append(out, gitrepo.Range{First: n, Last: n})
	}
	return out
}
