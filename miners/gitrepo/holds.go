package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Holds reports whether a text file of a commit holds the words, byte for byte, or a path does. Words of more than a line, or none, are
// nowhere. It reads the whole tree: ask it seldom.
func (m *Mirror) Holds(ctx context.Context, commit, words string) (bool, error) {
	if _, err := m.Commit(ctx, commit); err != nil {
		return false, err
	}
	if words == "" || strings.ContainsAny(words, "\n\r\x00") {
		return false, nil
	}
	paths, err := m.git.output(ctx, nil, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	if err == nil && bytes.Contains(paths, []byte(words)) {
		return true, nil
	}
	if err == nil {
		_, err = m.git.output(ctx, nil, "grep", "-q", "-I", "-F", "-e", words, commit, "--")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for words in %.12s: %w", commit, err)
	}
	return true, nil
}
