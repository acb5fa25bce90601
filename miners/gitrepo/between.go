package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
)

// errEnough ends a log early.
var errEnough = errors.New("enough commits")

// Span is the commits in the history of Head that Base's lacks. Neither needs to be in a branch, and ids may be abbreviated.
type Span struct {
	Base, Head string
	Paths      []string // only commits that touch one of these, compared with their first parent; none: all
	Landed     bool     // only what landed on the branch of Head: its first parents
	Most       int      // commits
}

func (s Span) args(from, to string) []string {
	args := []string{"log", "-z", "--topo-order", "--encoding=UTF-8", "--no-show-signature", logFormat, "--max-count=" + strconv.Itoa(s.Most+1)}
	if s.Landed {
		args = append(args, "--first-parent", "-m")
	}
	return append(append(args, to, "^"+from, "--"), s.Paths...)
}

// Between calls use for the commits of a span, children before parents, as a push from Base to Head brings them. After Most commits
// it stops: cut says that there are more. Errors: ErrMissingObject when one of the two ends is not there.
func (m *Mirror) Between(ctx context.Context, s Span, use func(Logged) error) (cut bool, err error) {
	from, err := m.Commit(ctx, s.Base)
	if err != nil {
		return false, err
	}
	to, err := m.Commit(ctx, s.Head)
	if err != nil {
		return false, err
	}
	n := 0
	err = m.git.stream(ctx, nil, s.args(from.ID, to.ID), func(r *bufio.Reader) error {
		return parseLog(r, func(rec record) error {
			if n++; n > s.Most {
				return errEnough
			}
			return use(Logged{Commit{rec.id, rec.parents, rec.authored, rec.committed}, rec.author, rec.message})
		})
	})
	if errors.Is(err, errEnough) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the commits of %s from %s to %s: %w", m.Name(), from.ID, to.ID, err)
	}
	return false, nil
}
