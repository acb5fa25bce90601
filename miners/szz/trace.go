package szz

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/miners/gitrepo"
)

const defaultBudget = 100

// maxListed bounds what a project can make git's command line grow to.
const maxListed = 2000

// IgnoreFile is where projects list the commits that blame should look through.
const IgnoreFile = ".git-blame-ignore-revs"

// tracer follows the lines of one fix.
type tracer struct {
	m       *gitrepo.Mirror
	idx     *gitrepo.Index
	o       Options
	budget  int
	ignored map[string]bool // commits that the project or the caller lists
	through map[string]bool // commits found to be of layout alone
	skipped []Skip
}

func newTracer(m *gitrepo.Mirror, idx *gitrepo.Index, o Options) *tracer {
	t := &tracer{m: m, idx: idx, o: o, budget: o.Budget, ignored: map[string]bool{}, through: map[string]bool{}}
	if t.budget <= 0 {
		t.budget = defaultBudget
	}
	if t.o.Memo == nil {
		t.o.Memo = NewMemo()
	}
	for _, id := range o.IgnoreRevs {
		t.ignored[strings.ToLower(id)] = true
	}
	return t
}

func (t *tracer) skip(path string, why Reason) { t.skipped = append(t.skipped, Skip{path, why}) }

func (t *tracer) lookedThrough() []string { return slices.Sorted(maps.Keys(t.through)) }

// fix follows all lines of code that a fix deletes.
func (t *tracer) fix(ctx context.Context, fix gitrepo.Change) ([]Line, Reason, error) {
	found, why, err := t.deletions(ctx, fix)
	if err != nil || len(found) == 0 {
		return nil, why, err
	}
	if err := t.readIgnoreFile(ctx, fix.Base); err != nil {
		return nil, "", err
	}
	var lines []Line
	for _, d := range found {
		traced, err := t.file(ctx, fix, d)
		switch {
		case lacking(err):
			t.skip(d.path, MissingObject)
		case err != nil:
			return nil, "", err
		}
		lines = append(lines, traced...)
	}
	return lines, why, nil
}

func (t *tracer) readIgnoreFile(ctx context.Context, base string) error {
	data, err := t.m.ReadFile(ctx, base, IgnoreFile)
	if err != nil {
		return unlessMissing(err)
	}
	for _, id := range ParseIgnoreRevs(string(data)) {
		t.ignored[id] = true
	}
	return nil
}

// ParseIgnoreRevs reads a list of commits as git does: one full id a line, comments after "#". Other lines are passed over, and so is
// what comes after the first 2,000.
func ParseIgnoreRevs(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if len(out) == maxListed {
			break
		}
		line, _, _ = strings.Cut(line, "#")
		id := strings.ToLower(strings.TrimSpace(line))
		if (len(id) == 40 || len(id) == 64) && strings.Trim(id, "0123456789abcdef") == "" {
			out = append(out, id)
		}
	}
	return out
}

// file blames one file, and again for as long as the answer names changes that only lay the file out anew. Each round
// ignores commits that no round before did, so that it ends; the budget bounds how long that takes.
func (t *tracer) file(ctx context.Context, fix gitrepo.Change, d deleted) ([]Line, error) {
	ignore := maps.Clone(t.ignored)
	for {
		if t.budget == 0 {
			return exhausted(d), nil
		}
		t.budget--
		blamed, err := t.m.Blame(ctx, fix.Base, d.path, d.ranges, gitrepo.BlameOptions{
			IgnoreSpace: true, IgnoreRevs: slices.Sorted(maps.Keys(ignore)),
		})
		if err != nil {
			return nil, err
		}
		layout, err := t.layoutCommits(ctx, blamed, ignore)
		if err != nil {
			return nil, err
		}
		if len(layout) == 0 {
			return t.settle(d.path, blamed, ignore), nil
		}
		for _, id := range layout {
			ignore[id], t.through[id] = true, true
		}
	}
}

// exhausted is what is known of a file's lines without blame: that they were deleted.
func exhausted(d deleted) []Line {
	var out []Line
	for _, r := range d.ranges {
		for n := r.First; n <= r.Last; n++ {
			out = append(out, Line{File: d.path, Line: n, Dropped: Exhausted})
		}
	}
	return out
}

// settle turns the last blame into lines, and drops those that name no change that could be at fault.
func (t *tracer) settle(path string, blamed []gitrepo.BlameLine, ignored map[string]bool) []Line {
	out := make([]Line, 0, len(blamed))
	for _, b := range blamed {
		l := Line{File: path, Line: b.Line, Commit: b.Commit, OrigFile: b.OrigPath, OrigLine: b.OrigLine, Guessed: b.Ignored}
		c, known := t.idx.ByCommit(b.Commit)
		switch {
		case b.Boundary:
			l.Dropped = Boundary
		case ignored[b.Commit]:
			l.Dropped = Unfollowed
		case !known:
			l.Dropped = Unmapped
		}
		if known {
			l.Change = c.Head
		}
		out = append(out, l)
	}
	return out
}
