package gittest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Commit is one commit of a Builder.
type Commit struct {
	Name    string // how the test speaks of it
	Message string
	Parents []string // names of commits or branches; nil: the tip of the branch
	Author  string   // "Name <mail>"; "": a fixed one
	Date    time.Time
	Files   map[string]string // written, whole content by path; both may be any bytes
	Remove  []string
	Modes   map[string]string // by path: 100755, 120000 (content is the target), 160000 (content is a commit id)
}

// Builder collects commits and references. Its methods return errors only from BuildIn: the first one counts.
type Builder struct {
	commits  []*commit
	byName   map[string]*commit
	branches map[string]*commit
	refs     map[string]*commit
	branch   string
	head     string
	err      error
}

type commit struct {
	Commit
	mark    int
	parents []*commit
	tree    map[string]file
}

type file struct{ mode, data string }

// NewBuilder returns a builder that is on the branch main, which has no commit yet.
func NewBuilder() *Builder {
	return &Builder{
		byName: map[string]*commit{}, branches: map[string]*commit{}, refs: map[string]*commit{}, branch: "main", head: "main",
	}
}

// Branch goes to a branch, at a commit when start is not "".
func (b *Builder) Branch(name, start string) {
	at := b.branches[name]
	if at == nil {
		at = b.branches[b.branch]
	}
	if start != "" {
		at = b.find(start)
	}
	b.branch = name
	if at != nil {
		b.branches[name] = at
	}
}

// Orphan goes to a new branch that has no commit.
func (b *Builder) Orphan(name string) {
	delete(b.branches, name)
	b.branch = name
}

// Ref names a commit by any reference, as refs/tags/v1.
func (b *Builder) Ref(ref, commit string) { b.refs[ref] = b.find(commit) }

// Head sets the branch that HEAD names.
func (b *Builder) Head(branch string) { b.head = branch }

// Add commits to the branch.
func (b *Builder) Add(c Commit) {
	n := &commit{Commit: c, mark: len(b.commits) + 1}
	if _, twice := b.byName[c.Name]; twice {
		b.fail("commit %q is there twice", c.Name)
	}
	for _, p := range c.Parents {
		if found := b.find(p); found != nil {
			n.parents = append(n.parents, found)
		}
	}
	if tip := b.branches[b.branch]; c.Parents == nil && tip != nil {
		n.parents = []*commit{tip}
	}
	if n.Date.IsZero() {
		n.Date = time.Date(2024, 1, 1, len(b.commits), 0, 0, 0, time.UTC)
	}
	if n.Author == "" {
		n.Author = "Tess Ter <tess@example.org>"
	}
	b.commits = append(b.commits, n)
	b.byName[c.Name] = n
	b.branches[b.branch] = n
}

// Merge commits a merge of others (commits or branches) into the branch.
func (b *Builder) Merge(c Commit, others ...string) {
	c.Parents = append([]string{b.branch}, others...)
	b.Add(c)
}

// BuildIn writes the repository and returns the commit ids by name.
func (b *Builder) BuildIn(dir string) (map[string]string, error) {
	for _, c := range b.commits {
		b.fill(c)
	}
	if b.err != nil {
		return nil, b.err
	}
	if err := initialise(dir, b.head); err != nil {
		return nil, err
	}
	return b.load(dir)
}

// initialise writes what makes a folder a bare repository. `git init` would do; tests build repositories by the hundred.
func initialise(dir, head string) error {
	for _, folder := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+head+"\n"), 0o644)
}

// find looks among the branches first only when no commit has that name.
func (b *Builder) find(name string) *commit {
	if c := b.byName[name]; c != nil {
		return c
	}
	if c := b.branches[name]; c != nil {
		return c
	}
	b.fail("no commit or branch %q", name)
	return nil
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// fill makes the tree of a commit: the first parent's, what the other parents changed, then its own changes.
func (b *Builder) fill(c *commit) {
	c.tree = map[string]file{}
	if len(c.parents) > 0 {
		maps.Copy(c.tree, c.parents[0].tree)
	}
	for _, other := range slices.Clone(c.parents)[min(1, len(c.parents)):] {
		b.mergeInto(c, other)
	}
	for _, path := range c.Remove {
		delete(c.tree, path)
	}
	for path, data := range c.Files {
		c.tree[path] = file{mode: "100644", data: data}
	}
	for path, mode := range c.Modes {
		c.tree[path] = file{mode: mode, data: c.tree[path].data}
	}
}

func (b *Builder) mergeInto(c, other *commit) {
	base := mergeBase(c.parents[0], other)
	for _, path := range changed(base, other.tree) {
		ours, theirs := c.tree[path], other.tree[path]
		_, given := c.Files[path]
		if ours != base[path] && ours != theirs && !given {
			b.fail("merge %q: both sides change %q: give its content", c.Name, path)
		}
		if theirs == (file{}) {
			delete(c.tree, path)
			continue
		}
		c.tree[path] = theirs
	}
}

// mergeBase is the tree of the youngest common ancestor, in the order that commits were added.
func mergeBase(a, b *commit) map[string]file {
	left, right := ancestors(a), ancestors(b)
	var best *commit
	for c := range left {
		if right[c] && (best == nil || c.mark > best.mark) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	return best.tree
}

func ancestors(c *commit) map[*commit]bool {
	seen := map[*commit]bool{}
	todo := []*commit{c}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[next] {
			seen[next] = true
			todo = append(todo, next.parents...)
		}
	}
	return seen
}

// changed lists the paths that differ, sorted.
func changed(from, to map[string]file) []string {
	var paths []string
	for path, f := range to {
		if old, ok := from[path]; !ok || old != f {
			paths = append(paths, path)
		}
	}
	for path := range from {
		if _, ok := to[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
