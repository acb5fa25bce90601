package szz

import (
	"context"
	"slices"
	"sync"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
)

// Memo remembers which changes only lay a file out anew. It may be shared by fixes of one repository and used by
// many goroutines.
type Memo struct {
	mu     sync.Mutex
	layout map[[2]string]bool // by head and path
}

// NewMemo makes an empty memo.
func NewMemo() *Memo { return &Memo{layout: map[[2]string]bool{}} }

func (memo *Memo) get(head, path string) (layout, ok bool) {
	memo.mu.Lock()
	defer memo.mu.Unlock()
	layout, ok = memo.layout[[2]string{head, path}]
	return layout, ok
}

func (memo *Memo) put(head, path string, layout bool) {
	memo.mu.Lock()
	defer memo.mu.Unlock()
	memo.layout[[2]string{head, path}] = layout
}

// layoutCommits lists the commits of those blamed changes that change nothing but the layout of the file, leaving out the ones
// that are ignored already.
func (t *tracer) layoutCommits(ctx context.Context, blamed []gitrepo.BlameLine, ignored map[string]bool) ([]string, error) {
	var out []string
	seen := map[[2]string]bool{}
	for _, b := range blamed {
		key := [2]string{b.Commit, b.OrigPath}
		c, ok := t.idx.ByCommit(b.Commit)
		if !ok || seen[key] || ignored[b.Commit] || c.Base == "" {
			continue
		}
		seen[key] = true
		layout, err := t.layoutOnly(ctx, c, b.OrigPath)
		if err != nil {
			return nil, err
		}
		if !layout {
			continue
		}
		for _, id := range append(slices.Clone(c.Commits), c.Head) {
			if !ignored[id] && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out, nil
}

// layoutOnly tells whether a change leaves the syntax of a file as it was. A file that it renames or adds counts as changed.
func (t *tracer) layoutOnly(ctx context.Context, c gitrepo.Change, path string) (bool, error) {
	if layout, ok := t.o.Memo.get(c.Head, path); ok {
		return layout, nil
	}
	var versions [2][]byte
	for i, commit := range []string{c.Base, c.Head} {
		var err error
		if versions[i], err = t.m.ReadFile(ctx, commit, path); lacking(err) {
			t.o.Memo.put(c.Head, path, false)
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	same, known := lang.SameSyntax(path, versions[0], versions[1])
	t.o.Memo.put(c.Head, path, same && known)
	return same && known, nil
}
