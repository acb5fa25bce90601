package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"sluice/miners/gitrepo"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/store"
)

// ErrNoSource says that nothing tells where a repository of a release is.
var ErrNoSource = errors.New("nothing tells where the repository is")

// Trees finds states of the repositories of a release: in the store's mirrors, or where the user says that a repository is.
type Trees struct {
	dir     string
	store   *store.Store // nil: only sources
	sources map[string]string

	mu      sync.Mutex
	mirrors map[string]*gitrepo.Mirror
}

// NewTrees returns trees over the store's folder; sources maps "owner/name" to a path or URL and comes first.
func NewTrees(dir string, s *store.Store, sources map[string]string) *Trees {
	return &Trees{dir: dir, store: s, sources: sources, mirrors: map[string]*gitrepo.Mirror{}}
}

// Tree returns the state of a repository at a commit.
func (t *Trees) Tree(ctx context.Context, repo, commit string) (replay.Tree, error) {
	m, err := t.mirror(ctx, repo)
	if err != nil {
		return nil, err
	}
	return history.New(m, "").Tree(ctx, commit)
}

// History returns the past of a repository, on its default branch.
func (t *Trees) History(ctx context.Context, repo string) (*history.History, error) {
	m, err := t.mirror(ctx, repo)
	if err != nil {
		return nil, err
	}
	return history.New(m, ""), nil
}

func (t *Trees) mirror(ctx context.Context, repo string) (*gitrepo.Mirror, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, ok := t.mirrors[repo]; ok {
		return m, nil
	}
	source, named := t.sources[repo]
	if !named && t.store != nil {
		var err error
		if source, _, err = t.store.Mark(ctx, "source:"+repo); err != nil {
			return nil, fmt.Errorf("looking up %s: %w", repo, err)
		}
	}
	if source == "" {
		return nil, fmt.Errorf("%w: %s", ErrNoSource, repo)
	}
	m, err := openMirror(ctx, source, filepath.Join(t.dir, "mirrors"))
	if err != nil {
		return nil, err
	}
	t.mirrors[repo] = m
	return m, nil
}

// openMirror takes the mirror that is there, and makes one where there is none.
func openMirror(ctx context.Context, source, dir string) (*gitrepo.Mirror, error) {
	m, err := gitrepo.Open(ctx, source, dir, gitrepo.Options{Offline: true})
	if errors.Is(err, fs.ErrNotExist) {
		m, err = gitrepo.Open(ctx, source, dir, gitrepo.Options{})
	}
	return m, err
}

// Close ends the mirrors' child processes.
func (t *Trees) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	for _, m := range t.mirrors {
		err = errors.Join(err, m.Close())
	}
	return err
}
