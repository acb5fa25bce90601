package history

import (
	"context"
	"errors"
	"fmt"

	"sluice/miners/gitrepo"
	"sluice/store"
)

// ErrNameTaken says that the store holds another repository of that name.
var ErrNameTaken = errors.New("the store holds another repository of that name")

// ClaimName keeps two repositories of one name out of one store: what was found in them would mix.
func ClaimName(ctx context.Context, s *store.Store, repo string, m *gitrepo.Mirror) error {
	mark := "source:" + repo
	old, ok, err := s.Mark(ctx, mark)
	switch {
	case err != nil:
		return err
	case !ok:
		return s.PutMark(ctx, mark, m.Source())
	case gitrepo.Shown(old) != m.Source():
		return fmt.Errorf("%w: %s came from %s; give %s a name of its own with --name", ErrNameTaken, repo, gitrepo.Shown(old), m.Source())
	}
	return nil
}
