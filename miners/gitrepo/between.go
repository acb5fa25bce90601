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

// Between calls use for the commits in the history of head that base's lacks, children before parents, as a push from base to head
// brings them. Neither needs to be in a branch, and ids may be abbreviated. After most commits it stops: cut says that there are more.
// Errors: ErrMissingObject when one of the two is not there.
func (m *Mirror) Between(ctx context.Context, base, head string, most int, use func(Logged) error) (cut bool, err error) {
	from, err := m.Commit(ctx, base)
	if err != nil {
		return false, err
	}
	to, err := m.Commit(ctx, head)
	if err != nil {
		return false, err
	}
	n := 0
	args := []string{
		"log", "-z", "--topo-order", "--encoding=UTF-8", "--no-show-signature", logFormat, "--max-count=" + strconv.Itoa(most+1), to.ID, "^" + from.ID, "--",
	}
	err = m.git.stream(ctx, nil, args, func(r *bufio.Reader) error {
		return parseLog(r, func(rec record) error {
			if n++; n > most {
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
