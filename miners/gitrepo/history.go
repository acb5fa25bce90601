package gitrepo

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Window chooses changes.
type Window struct {
	Since, Until time.Time // of landing (the commit date), Until itself left out; zero is open
	Branch       string    // "" is the default branch
}

func (w Window) has(t time.Time) bool {
	return (w.Since.IsZero() || !t.Before(w.Since)) && (w.Until.IsZero() || t.Before(w.Until))
}

// Changes lists what landed on the branch within the window, oldest first. Positions count from the root of history, also
// outside of the window.
//
// Consecutive commits of one number are one change (a rebase merge). The number of a change is what its message
// says; else that of the pull or merge request whose head is the commit, or the merged commit, when there is just one.
func (m *Mirror) Changes(ctx context.Context, w Window) ([]Change, error) {
	_, tip, err := m.tip(ctx, w.Branch)
	if err != nil {
		return nil, err
	}
	line, err := m.firstParents(ctx, tip)
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", m.Name(), err)
	}
	asked, err := m.requests(ctx)
	if err != nil {
		return nil, err
	}
	changes := assemble(line, asked)
	if err := m.addCommits(ctx, tip, changes); err != nil {
		return nil, fmt.Errorf("reading the merged commits of %s: %w", m.Name(), err)
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return !w.has(c.Committed) }), nil
}

// firstParents reads the line of first parents that ends at tip, oldest first.
func (m *Mirror) firstParents(ctx context.Context, tip string) ([]record, error) {
	var line []record
	args := []string{"log", "-z", "--first-parent", "--encoding=UTF-8", "--no-show-signature", logFormat, tip, "--"}
	err := m.git.stream(ctx, nil, args, func(r *bufio.Reader) error {
		return parseLog(r, func(rec record) error {
			line = append(line, rec)
			return nil
		})
	})
	slices.Reverse(line)
	return line, err
}

// assemble makes changes of a line of first parents.
func assemble(line []record, asked requests) []Change {
	var changes []Change
	for i, rec := range line {
		c := newChange(rec, asked)
		if i > 0 {
			last := &changes[len(changes)-1]
			if last.Number == c.Number && c.Number > 0 && c.Landing != Merge && last.Landing != Merge {
				last.extend(c)
				continue
			}
		}
		c.Position = len(changes)
		changes = append(changes, c)
	}
	return changes
}

func newChange(rec record, asked requests) Change {
	id := asked.identify(rec)
	c := Change{
		Landing: Direct, Number: id.number, NumberBy: id.by, Head: rec.id, Parents: len(rec.parents), Author: rec.author,
		Authored: rec.authored, Committed: rec.committed, Title: id.title, Body: id.body,
	}
	if c.Parents > 0 {
		c.Base = rec.parents[0]
	}
	ends := []string{rec.id}
	switch {
	case c.Parents > 1:
		c.Landing = Merge
		ends = rec.parents[1:]
	case c.Number > 0:
		c.Landing = Squash
	}
	if c.Number == 0 || c.NumberBy == byCloses {
		c.numberFrom(asked, ends)
	}
	if c.Landing != Merge {
		c.Commits = []string{rec.id}
	}
	return c
}

// numberFrom takes the number of the only request that ends at the commits.
func (c *Change) numberFrom(asked requests, ends []string) {
	number := asked.only(ends...)
	if number == 0 {
		return
	}
	c.Number, c.NumberBy = number, byPullRef
	if c.Landing == Direct {
		c.Landing = Rebase
	}
}

// extend adds the next commit of the same request.
func (c *Change) extend(next Change) {
	c.Landing = Rebase
	c.Head = next.Head
	c.Parents = next.Parents
	c.Commits = append(c.Commits, next.Head)
	c.Committed = next.Committed
}

// addCommits finds, for every merge, the commits that it brought in: those that no earlier change has.
func (m *Mirror) addCommits(ctx context.Context, tip string, changes []Change) error {
	if !slices.ContainsFunc(changes, func(c Change) bool { return c.Landing == Merge }) {
		return nil
	}
	parents, err := m.parents(ctx, tip)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range changes {
		c := &changes[i]
		if c.Landing != Merge {
			for _, id := range c.Commits {
				seen[id] = true
			}
			continue
		}
		seen[c.Head] = true
		for _, parent := range parents[c.Head] {
			c.Commits = collect(parents, parent, seen, c.Commits)
		}
	}
	return nil
}

// parents reads the graph of all commits up to tip.
func (m *Mirror) parents(ctx context.Context, tip string) (map[string][]string, error) {
	graph := map[string][]string{}
	err := m.git.stream(ctx, nil, []string{"rev-list", "--parents", tip, "--"}, func(r *bufio.Reader) error {
		scanner := bufio.NewScanner(r)
		for scanner.Scan() {
			ids := strings.Fields(scanner.Text())
			graph[ids[0]] = ids[1:]
		}
		return scanner.Err()
	})
	return graph, err
}

// collect appends the unseen commits up to id, parents before children. It keeps its own stack: histories are deep.
func collect(parents map[string][]string, id string, seen map[string]bool, found []string) []string {
	type frame struct {
		id   string
		next int
	}
	if seen[id] {
		return found
	}
	seen[id] = true
	stack := []frame{{id: id}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(parents[top.id]) {
			found = append(found, top.id)
			stack = stack[:len(stack)-1]
			continue
		}
		parent := parents[top.id][top.next]
		top.next++
		if !seen[parent] {
			seen[parent] = true
			stack = append(stack, frame{id: parent})
		}
	}
	return found
}
