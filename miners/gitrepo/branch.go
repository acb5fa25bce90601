package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// DefaultBranch is the branch that the source's HEAD names, or Options.Branch. When HEAD names nothing that exists, origin's HEAD
// counts, then the only one of main, master, trunk and develop that exists; else ErrNoDefaultBranch.
func (m *Mirror) DefaultBranch(ctx context.Context) (string, error) {
	branch, _, err := m.tip(ctx, "")
	return branch, err
}

// Tip is the commit id at the end of the default branch.
func (m *Mirror) Tip(ctx context.Context) (string, error) {
	_, id, err := m.tip(ctx, "")
	return id, err
}

// tip finds a branch by name, or the default one for "".
func (m *Mirror) tip(ctx context.Context, branch string) (name, id string, err error) {
	heads, err := m.refs(ctx, headsPrefix)
	if err != nil {
		return "", "", err
	}
	if branch == "" {
		branch = m.branch
	}
	ref := headsPrefix + branch
	if branch == "" {
		ref = readHead(filepath.Join(m.git.dir, "HEAD"))
	}
	if id := heads[ref]; id != "" {
		return strings.TrimPrefix(ref, headsPrefix), id, nil
	}
	if len(heads) == 0 {
		return "", "", ErrEmpty
	}
	return "", "", noBranch(branch, heads)
}

func noBranch(branch string, heads refs) error {
	const most = 12
	names := heads.names()
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], headsPrefix)
	}
	list := strings.Join(names, ", ") + more
	if branch != "" {
		return fmt.Errorf("%w: there is no branch %s; branches: %s", ErrNoDefaultBranch, branch, list)
	}
	return fmt.Errorf("%w: choose one with --branch; branches: %s", ErrNoDefaultBranch, list)
}

// refs reads the mirror's references below a prefix.
func (m *Mirror) refs(ctx context.Context, prefix string) (refs, error) {
	out, err := m.git.output(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", strings.TrimSuffix(prefix, "/"))
	if err != nil {
		return nil, err
	}
	found := refs{}
	for line := range strings.Lines(string(out)) {
		if id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			found[name] = id
		}
	}
	return found, nil
}

// IsAncestor says whether commit a is in the history of commit b; a commit is its own ancestor.
func (m *Mirror) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	if err := checkIDs(a, b); err != nil {
		return false, err
	}
	_, err := m.git.output(ctx, nil, "merge-base", "--is-ancestor", a, b)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// checkIDs keeps everything that is not a full object id away from git's command line.
func checkIDs(ids ...string) error {
	for _, id := range ids {
		if !objectID.MatchString(id) {
			return fmt.Errorf("reading %q: it is not a full object id", id)
		}
	}
	return nil
}

// Head is a branch ("": the default one) and the commit at its end.
func (m *Mirror) Head(ctx context.Context, branch string) (name, id string, err error) {
	return m.tip(ctx, branch)
}
