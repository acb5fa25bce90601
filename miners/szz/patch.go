package szz

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
)

// deleted is what a fix deletes of one file.
type deleted struct {
	path   string // before the fix
	ranges []gitrepo.Range
}

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// deletions finds the lines of code that the fix deletes or rewrites, by file. Without any, why tells the reason.
func (t *tracer) deletions(ctx context.Context, fix gitrepo.Change) (found []deleted, why Reason, err error) {
	if fix.Base == "" {
		return nil, RootFix, nil
	}
	files := t.o.Files
	if files == nil {
		if files, err = t.m.Files(ctx, fix); err != nil {
			return nil, missing(err), unlessMissing(err)
		}
	}
	paths, why := candidates(files)
	if len(paths) == 0 {
		return nil, why, nil
	}
	hunks, err := t.m.Hunks(ctx, fix.Base, fix.Head, paths, true)
	if err != nil {
		return nil, missing(err), unlessMissing(err)
	}
	return t.codeOf(ctx, fix, hunks)
}

func missing(err error) Reason {
	if lacking(err) {
		return MissingObject
	}
	return ""
}

func unlessMissing(err error) error {
	if lacking(err) {
		return nil
	}
	return err
}

// candidates lists the paths, old and new, of the source files that lose lines.
func candidates(files []gitrepo.FileChange) (paths []string, why Reason) {
	why = NoSource
	for _, f := range files {
		if lang.Classify(f.Path) != lang.Source || f.OldPath != "" && lang.Classify(f.OldPath) != lang.Source || isSubmodule(f) {
			continue
		}
		switch {
		case f.Status == gitrepo.Added && why == NoSource:
			why = NewFiles
		case f.Status == gitrepo.Added:
		case f.Deleted <= 0:
			why = AddOnly
		default:
			paths = append(paths, f.Path)
			if f.OldPath != "" {
				paths = append(paths, f.OldPath)
			}
		}
	}
	return paths, why
}

func isSubmodule(f gitrepo.FileChange) bool { return f.Mode == "160000" || f.OldMode == "160000" }

// codeOf keeps of the hunks' old lines those that hold code.
func (t *tracer) codeOf(ctx context.Context, fix gitrepo.Change, hunks map[string]gitrepo.FileHunks) (found []deleted, why Reason, err error) {
	why = LayoutOnly
	for _, f := range inOrder(hunks) {
		if f.OldPath == "" || lang.Classify(f.OldPath) != lang.Source {
			continue // the added half of what is no rename
		}
		old := oldRanges(f.Hunks)
		if len(old) == 0 {
			if why == LayoutOnly {
				why = AddOnly
			}
			continue
		}
		src, err := t.m.ReadFile(ctx, fix.Base, f.OldPath)
		if lacking(err) {
			t.skip(f.OldPath, MissingObject)
			continue
		} else if err != nil {
			return nil, "", err
		}
		why = AllComments
		code, _ := lang.CodeLines(f.OldPath, src)
		if ranges := onlyCode(old, code); len(ranges) > 0 && !generated(src) {
			found = append(found, deleted{f.OldPath, ranges})
		}
	}
	return found, why, nil
}

// inOrder sorts the files by their old path.
func inOrder(hunks map[string]gitrepo.FileHunks) []gitrepo.FileHunks {
	out := make([]gitrepo.FileHunks, 0, len(hunks))
	for _, f := range hunks {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b gitrepo.FileHunks) int {
		return strings.Compare(a.OldPath+"\x00"+a.Path, b.OldPath+"\x00"+b.Path)
	})
	return out
}

func oldRanges(hunks []gitrepo.Hunk) []gitrepo.Range {
	var out []gitrepo.Range
	for _, h := range hunks {
		if h.Old.Last >= h.Old.First {
			out = append(out, h.Old)
		}
	}
	return out
}

// onlyCode cuts ranges down to the lines that hold code, joining neighbours.
func onlyCode(ranges []gitrepo.Range, code []bool) []gitrepo.Range {
	var out []gitrepo.Range
	for _, r := range ranges {
		for n := max(r.First, 1); n <= min(r.Last, len(code)); n++ {
			switch last := len(out) - 1; {
			case !code[n-1]:
			case last >= 0 && out[last].Last == n-1:
				out[last].Last = n
			default:
				out = append(out, gitrepo.Range{First: n, Last: n})
			}
		}
	}
	return out
}

// generated tells by its head whether a file is made by a tool.
func generated(src []byte) bool {
	head := src[:min(len(src), 512)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
}
