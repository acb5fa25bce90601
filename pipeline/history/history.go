// Package history gives a family's stages one repository: its mirror, the changes that landed, each change's files split
// into source and tests, and its states as trees that replay can run.
//
// It holds no rule of any family and decides nothing about a candidate.
package history

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/pipeline"
	"sluice/replay"
)

// History is one repository's past, safe for concurrent use.
type History struct {
	Mirror  *gitrepo.Mirror
	Branch  string // "" for the default branch
	once    sync.Once
	err     error
	changes []gitrepo.Change
	index   *gitrepo.Index

	mu    sync.Mutex
	files map[string][]gitrepo.FileChange // by head
}

// New returns the history of a mirror's branch. Nothing is read until it is needed.
func New(m *gitrepo.Mirror, branch string) *History {
	return &History{Mirror: m, Branch: branch, files: map[string][]gitrepo.FileChange{}}
}

// Changes returns every change of the branch, oldest first, and the index from commits to changes.
func (h *History) Changes(ctx context.Context) ([]gitrepo.Change, *gitrepo.Index, error) {
	h.once.Do(func() {
		h.changes, h.err = h.Mirror.Changes(context.WithoutCancel(ctx), gitrepo.Window{Branch: h.Branch})
		if h.err == nil {
			h.index = gitrepo.NewIndex(h.changes)
		}
	})
	return h.changes, h.index, classify(h.err)
}

// Preload reads the files of many changes in one go.
func (h *History) Preload(ctx context.Context, changes []gitrepo.Change) error {
	all, err := h.Mirror.AllFiles(ctx, changes)
	if err != nil {
		return classify(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for head, files := range all {
		h.files[head] = files
	}
	return nil
}

// Files returns what a change did to each file.
func (h *History) Files(ctx context.Context, c gitrepo.Change) ([]gitrepo.FileChange, error) {
	h.mu.Lock()
	files, ok := h.files[c.Head]
	h.mu.Unlock()
	if ok {
		return files, nil
	}
	files, err := h.Mirror.Files(ctx, c)
	if err != nil {
		return nil, classify(err)
	}
	h.mu.Lock()
	h.files[c.Head] = files
	h.mu.Unlock()
	return files, nil
}

// Patch returns the change's diff on the paths; none: an empty patch.
func (h *History) Patch(ctx context.Context, base, head string, paths []string) ([]byte, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	p, err := h.Mirror.Patch(ctx, base, head, paths)
	return p, classify(err)
}

// Tree returns the state at a commit.
func (h *History) Tree(ctx context.Context, commit string) (replay.Tree, error) {
	t, err := h.Mirror.Tree(ctx, commit)
	if err != nil {
		return nil, classify(err)
	}
	return tree{t}, nil
}

// classify marks as permanent the errors that no further run cures.
func classify(err error) error {
	if errors.Is(err, gitrepo.ErrMissingObject) {
		return pipeline.Permanent(err)
	}
	return err
}

// tree is a gitrepo tree in replay's words.
type tree struct{ *gitrepo.Tree }

func (t tree) Each(ctx context.Context, f func(replay.File) error) error {
	return classify(t.Tree.Each(ctx, func(g gitrepo.File) error { return f(replay.File(g)) }))
}

func (t tree) Select(ctx context.Context, pick func(replay.File) bool, f func(replay.File) error) error {
	return classify(t.Tree.Select(ctx, func(g gitrepo.File) bool { return pick(replay.File(g)) }, func(g gitrepo.File) error { return f(replay.File(g)) }))
}

func (t tree) ReadFile(ctx context.Context, path string) ([]byte, error) {
	b, err := t.Tree.ReadFile(ctx, path)
	return b, classify(err)
}

// Split is the files of a change by kind. Paths are bytes.
type Split struct {
	Source    []pipeline.Text `json:"source,omitempty"`
	Test      []pipeline.Text `json:"test,omitempty"`
	Gone      []pipeline.Text `json:"gone,omitempty"` // test files that the change deleted or moved away from
	Docs      []pipeline.Text `json:"docs,omitempty"`
	Generated []pipeline.Text `json:"generated,omitempty"`
	Config    []pipeline.Text `json:"config,omitempty"`
	Other     []pipeline.Text `json:"other,omitempty"`
	From      []pipeline.Text `json:"from,omitempty"`     // where renamed files that are no tests came from
	Language  string          `json:"language,omitempty"` // of most changed source lines
	Files     int             `json:"files"`
}

// SplitFiles sorts a change's files into kinds by the rules of miners/lang.
func SplitFiles(files []gitrepo.FileChange) Split {
	s := Split{Files: len(files)}
	lines := map[string]int{}
	for _, f := range files {
		s.add(f)
		if lang.Classify(f.Path) == lang.Source {
			lines[lang.Language(f.Path)] += max(f.Added, 0) + max(f.Deleted, 0) + 1
		}
	}
	best := 0
	for l, n := range lines {
		if n > best || n == best && l < s.Language {
			s.Language, best = l, n
		}
	}
	return s
}

func (s *Split) add(f gitrepo.FileChange) {
	p := pipeline.Text(f.Path)
	if f.Status == gitrepo.Renamed && f.OldPath != "" {
		if lang.Classify(f.OldPath) == lang.Test {
			s.Gone = append(s.Gone, pipeline.Text(f.OldPath))
		} else {
			s.From = append(s.From, pipeline.Text(f.OldPath))
		}
	}
	switch kind := lang.Classify(f.Path); {
	case kind == lang.Test && f.Status == gitrepo.Deleted:
		s.Gone = append(s.Gone, p)
	case kind == lang.Test:
		s.Test = append(s.Test, p)
	case kind == lang.Source:
		s.Source = append(s.Source, p)
	case kind == lang.Docs:
		s.Docs = append(s.Docs, p)
	case kind == lang.Generated:
		s.Generated = append(s.Generated, p)
	case kind == lang.Config:
		s.Config = append(s.Config, p)
	default:
		s.Other = append(s.Other, p)
	}
}

// Untested returns the paths of everything that is not a test: what a task's patch holds.
func (s Split) Untested() []string {
	return Strings(s.Source, s.Config, s.Generated, s.Docs, s.Other, s.From)
}

// Code returns the paths that make the program what it is.
func (s Split) Code() []string { return Strings(s.Source, s.Config, s.Generated, s.From) }

// Tests returns the paths of the test files that the change touches, deleted ones included.
func (s Split) Tests() []string { return Strings(s.Test, s.Gone) }

// Strings joins lists of paths.
func Strings(lists ...[]pipeline.Text) []string {
	var out []string
	for _, l := range lists {
		for _, t := range l {
			out = append(out, string(t))
		}
	}
	return out
}

// Overlay reads the test files that a change left at its head.
func (h *History) Overlay(ctx context.Context, head string, s Split) (replay.Overlay, error) {
	o := replay.Overlay{Remove: Strings(s.Gone)}
	t, err := h.Mirror.Tree(ctx, head)
	if err != nil {
		return o, classify(err)
	}
	for _, path := range Strings(s.Test) {
		f, err := t.File(ctx, path)
		if errors.Is(err, gitrepo.ErrNotFile) { // a submodule
			continue
		}
		if err != nil {
			return o, classify(fmt.Errorf("reading test file %q: %w", path, err))
		}
		o.Files = append(o.Files, replay.File(f))
	}
	return o, nil
}
