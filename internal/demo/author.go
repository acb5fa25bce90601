package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// committer is the person who lands everything.
const committer = "Robin Vale <robin@example.com>"

// scratchRef holds the tip of the branch that is being written.
const scratchRef = "refs/demo/topic"

// Repository is the authored repository.
type Repository struct {
	Dir     string
	Changes []Landed // every first-parent commit of the main branch, oldest first
}

// Landed is a step with the commits that it became.
type Landed struct {
	Step
	Base string // full commit id of the state before; "" for the root
	Head string

	before, after files
}

// Change returns the landed step of that id.
func (r Repository) Change(id string) (Landed, bool) {
	for _, c := range r.Changes {
		if c.ID == id {
			return c, true
		}
	}
	return Landed{}, false
}

// Author writes the repository, with a work tree of its newest state, to dir, which must be absent or empty. Steps that without
// names are left out; no other step may build on them.
func Author(ctx context.Context, dir string, without ...string) (Repository, error) {
	steps, err := Steps()
	if err != nil {
		return Repository{}, err
	}
	steps = slices.DeleteFunc(steps, func(s Step) bool { return slices.Contains(without, s.ID) })
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return Repository{}, fmt.Errorf("writing the demo repository: %s is not empty", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Repository{}, fmt.Errorf("writing the demo repository: %w", err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repository{}, fmt.Errorf("writing the demo repository: %w", err)
	}
	changes, err := author(ctx, abs, steps)
	if err != nil {
		return Repository{}, fmt.Errorf("writing the demo repository: %w", err)
	}
	return Repository{Dir: abs, Changes: changes}, nil
}

func author(ctx context.Context, dir string, steps []Step) ([]Landed, error) {
	if err := git(ctx, dir, "init", "--quiet", "--initial-branch=main"); err != nil {
		return nil, err
	}
	imp, err := startImport(ctx, dir)
	if err != nil {
		return nil, err
	}
	w := &writer{imp: imp, ids: map[string]string{}, trees: map[string]files{}, marks: map[string]int{}}
	for _, s := range steps {
		if err := w.land(s); err != nil {
			_ = imp.close() // the first error says more
			return nil, fmt.Errorf("step %s: %w", s.ID, err)
		}
	}
	if err := imp.close(); err != nil {
		return nil, err
	}
	if err := git(ctx, dir, "update-ref", "-d", scratchRef); err != nil {
		return nil, err
	}
	return w.landed, git(ctx, dir, "reset", "--quiet", "--hard", "main")
}

// writer lands one step after the other.
type writer struct {
	imp    *importer
	last   string // the newest step
	ids    map[string]string
	trees  map[string]files
	marks  map[string]int
	landed []Landed
}

// land writes one step: its branch, if it has one, and its commit on the main branch.
func (w *writer) land(s Step) error {
	var edits []edit
	for _, c := range s.commits {
		edits = append(edits, c.edits...)
	}
	tree, err := w.trees[w.last].apply(edits)
	if err != nil {
		return err
	}
	message, err := w.expand(s.fullMessage())
	if err != nil {
		return err
	}
	record := object{ref: "refs/heads/main", author: s.Author, date: s.Date, message: message, tree: tree}
	if w.last != "" {
		record.parents = []int{w.marks[w.last]}
	}
	if s.Landing == Merge {
		tips, err := w.writeBranches(s)
		if err != nil {
			return err
		}
		record.parents = append(record.parents, tips...)
	}
	return w.finish(s, tree, record)
}

// finish writes the step's commit on the main branch and remembers it.
func (w *writer) finish(s Step, tree files, record object) error {
	mark, err := w.imp.commit(record)
	if err != nil {
		return err
	}
	id, err := w.imp.id(mark)
	if err != nil {
		return err
	}
	w.landed = append(w.landed, Landed{
		Step: s, Base: w.ids[w.last], Head: id, before: w.trees[w.last], after: tree,
	})
	w.last, w.ids[s.ID], w.trees[s.ID], w.marks[s.ID] = s.ID, id, tree, mark
	return nil
}

// writeBranches writes a merge's branches and returns the marks of their tips.
func (w *writer) writeBranches(s Step) ([]int, error) {
	fork := s.Fork
	if fork == "" {
		fork = w.last
	}
	var tips []int
	var done []edit // of the branch so far: a merge of the main branch lays them over its tree
	tip, tree := w.marks[fork], w.trees[fork]
	for i, c := range s.commits {
		if c.branch != "" {
			tip, tree, done = w.marks[fork], w.trees[fork], nil
		}
		done = append(done, c.edits...)
		age := time.Duration(len(s.commits)-i) * time.Hour
		o := object{ref: scratchRef, author: s.Author, date: s.Date.Add(-age), message: c.message + "\n", parents: []int{tip}}
		edits := c.edits
		if c.sync {
			o.message = fmt.Sprintf("Merge branch 'main' into %s\n", s.Branch)
			o.parents = append(o.parents, w.marks[w.last])
			tree, edits = w.trees[w.last], done
		}
		var err error
		if tree, err = tree.apply(edits); err != nil {
			return nil, err
		}
		o.tree = tree
		if tip, err = w.imp.commit(o); err != nil {
			return nil, err
		}
		if i+1 == len(s.commits) || s.commits[i+1].branch != "" {
			tips = append(tips, tip)
		}
	}
	return tips, nil
}

var stepRef = regexp.MustCompile(`\{\{([\w-]+)(:12)?\}\}`)

// expand puts commit ids in place of {{step}}, and their first twelve digits in place of {{step:12}}.
func (w *writer) expand(message string) (string, error) {
	var err error
	out := stepRef.ReplaceAllStringFunc(message, func(ref string) string {
		name := strings.Trim(ref, "{}")
		step, short := strings.CutSuffix(name, ":12")
		id, ok := w.ids[step]
		if !ok {
			err = fmt.Errorf("the message names %s, which is no earlier step", step)
			return ref
		}
		if short {
			return id[:12]
		}
		return id
	})
	return out, err
}
