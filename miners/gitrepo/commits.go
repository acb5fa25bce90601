package gitrepo

import (
	"bufio"
	"context"
	"fmt"
)

// Logged is a commit with what it says.
type Logged struct {
	Commit
	Author  string // "Name <mail>"
	Message string // in UTF-8 where its commit says how it is encoded; else any bytes
}

// Subject is the first paragraph of the message on one line.
func (c Logged) Subject() string {
	subject, _ := record{message: c.Message}.subject()
	return subject
}

// Commits lists every commit in the history of the branch ("": the default one), parents before children, and what the tip is.
func (m *Mirror) Commits(ctx context.Context, branch string) (commits []Logged, tip string, err error) {
	if _, tip, err = m.tip(ctx, branch); err != nil {
		return nil, "", err
	}
	commits, err = m.log(ctx, "--reverse", tip)
	return commits, tip, err
}

// log reads the commits that the arguments of git log choose, children before parents unless they say otherwise.
func (m *Mirror) log(ctx context.Context, choose ...string) ([]Logged, error) {
	var commits []Logged
	args := append([]string{"log", "-z", "--topo-order", "--encoding=UTF-8", "--no-show-signature", logFormat}, choose...)
	err := m.git.stream(ctx, nil, append(args, "--"), func(r *bufio.Reader) error {
		return parseLog(r, func(rec record) error {
			commits = append(commits, Logged{Commit{rec.id, rec.parents, rec.authored, rec.committed}, rec.author, rec.message})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the commits of %s: %w", m.Name(), err)
	}
	return commits, nil
}

// RefsDigest changes whenever a reference of the mirror does.
func (m *Mirror) RefsDigest(ctx context.Context) (string, error) {
	listing, err := m.git.output(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return "", fmt.Errorf("reading the references of %s: %w", m.Name(), err)
	}
	return digestOf(listing), nil
}
