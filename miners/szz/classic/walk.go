package classic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
)

// walk follows the lines of one fix.
type walk struct {
	strategy
	fix     szz.Fix
	budget  int
	why     szz.Reason // of having no lines to follow
	lines   []line
	skipped []szz.Skip
	seen    map[place]bool
}

// place is a line of a file in a commit.
type place struct {
	commit, file string
	line         int
}

// line is a deleted line that was followed to its end.
type line struct {
	file    string // before the fix
	commit  string
	dropped szz.Reason
}

func (w *walk) skip(file string, why szz.Reason) {
	if s := (szz.Skip{File: file, Reason: why}); !slices.Contains(w.skipped, s) {
		w.skipped = append(w.skipped, s)
	}
}

func (w *walk) run(ctx context.Context) error {
	found, why, err := w.deletions(ctx)
	w.why = why
	for i := 0; i < len(found) && err == nil; i++ {
		err = w.follow(ctx, task{found[i].file, w.fix.Base, found[i]})
	}
	if err != nil {
		return fmt.Errorf("attributing %.12s: %w", w.fix.Commit, err)
	}
	return nil
}

// task is lines to follow from a commit on.
type task struct {
	file   string // of the fix, before it
	commit string
	deleted
}

// follow traces the lines of a file, and those that a commit only refactored from its first parent on, until none is left or
// the budget is used up. A line that was there before is not followed again.
func (w *walk) follow(ctx context.Context, first task) error {
	for todo := []task{first}; len(todo) > 0; todo = todo[1:] {
		t := todo[0]
		blamed, ignored, err := w.trace(ctx, t)
		if lacking(err) {
			w.skip(t.file, szz.MissingObject)
			continue
		} else if err != nil {
			return err
		}
		more, err := w.settle(ctx, t.file, blamed, ignored)
		if err != nil {
			return err
		}
		todo = append(todo, more...)
	}
	return nil
}

// trace blames, and again for as long as the answer names commits that the variant looks through. Each round ignores
// commits that no round before did, so that it ends; the budget bounds how long that takes.
func (w *walk) trace(ctx context.Context, t task) (blamed []gitrepo.BlameLine, ignored []string, err error) {
	for {
		if w.budget == 0 {
			w.exhausted(t)
			return nil, nil, nil
		}
		w.budget--
		o := w.rules.blame
		o.IgnoreRevs = ignored
		if blamed, err = w.tracer.Trace(ctx, t.commit, t.deleted.file, t.ranges, o); err != nil {
			return nil, nil, err
		}
		more, err := w.lookedThrough(ctx, blamed, ignored)
		if err != nil || len(more) == 0 {
			return blamed, ignored, err
		}
		ignored = slices.Sorted(slices.Values(append(slices.Clone(ignored), more...)))
	}
}

// exhausted notes the lines that nobody followed to their end.
func (w *walk) exhausted(t task) {
	w.skip(t.file, szz.Exhausted)
	for _, r := range t.ranges {
		for range r.Last - r.First + 1 {
			w.lines = append(w.lines, line{file: t.file, dropped: szz.Exhausted})
		}
	}
}

// settle takes down where lines ended, and gives those that go on before a refactoring.
func (w *walk) settle(ctx context.Context, file string, blamed []gitrepo.BlameLine, ignored []string) ([]task, error) {
	before := map[deletedAt][]int{}
	for _, b := range blamed {
		l := line{file: file, commit: b.Commit}
		switch {
		case slices.Contains(ignored, b.Commit):
			l.dropped = szz.Unfollowed
		case b.Boundary && w.m.Shallow():
			l.dropped = szz.Boundary
		case w.rules.refactored:
			at, ok, err := w.before(ctx, b)
			if err != nil {
				return nil, err
			}
			if ok && w.seen[at] {
				continue // a copy of a line that is followed already
			}
			if ok {
				w.seen[at] = true
				before[deletedAt{at.commit, at.file}] = append(before[deletedAt{at.commit, at.file}], at.line)
				continue
			}
		}
		w.lines = append(w.lines, l)
	}
	var todo []task
	for _, at := range slices.SortedFunc(maps.Keys(before), deletedAt.compare) {
		lines := slices.Compact(slices.Sorted(slices.Values(before[at])))
		todo = append(todo, task{file, at.commit, deleted{at.file, ranges(lines)}})
	}
	return todo, nil
}

type deletedAt struct{ commit, file string }

func (a deletedAt) compare(b deletedAt) int {
	return cmp.Or(cmp.Compare(a.commit, b.commit), cmp.Compare(a.file, b.file))
}

// before finds the line that a commit refactored to the blamed one.
func (w *walk) before(ctx context.Context, b gitrepo.BlameLine) (place, bool, error) {
	found, err := w.refactoredBy(ctx, b.Commit)
	if err != nil {
		return place{}, false, err
	}
	old, ok := found[refactorPlace(b)]
	if !ok {
		return place{}, false, nil
	}
	c, err := w.commit(ctx, b.Commit)
	return place{c.FirstParent(), old.File, old.Line}, err == nil, err
}

// reason finds why there are no votes: what befell the lines, else a file that was passed over, else what the patch says.
func (w *walk) reason() szz.Reason {
	for _, r := range []szz.Reason{szz.Exhausted, TooLate, szz.Unfollowed, szz.Boundary} {
		if slices.ContainsFunc(w.lines, func(l line) bool { return l.dropped == r }) {
			return r
		}
	}
	if len(w.skipped) > 0 {
		return w.skipped[0].Reason
	}
	return w.why
}
