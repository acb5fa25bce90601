package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"sluice/miners/gitrepo"
	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/project"
)

// distances are how many changes away neighbours are looked for, in first-parent order.
var distances = []int{1, 2, 3, 5, 8, 13, 21, 34, 55, 89}

// Bounds of one climb: neighbours whose recipes are tried on themselves, and recipes of neighbours that are tried here.
const (
	maxAsked = 5
	maxHere  = 3
)

// neighbours is the fourth rung.
func (c *climb) neighbours(ctx context.Context) (done bool, err error) {
	changes, index, err := c.l.History.Changes(ctx)
	if err != nil {
		return false, fmt.Errorf("reading the history: %w", err)
	}
	at, ok := index.ByCommit(c.q.Commit)
	if !ok {
		return false, nil // a commit of no branch has no neighbours
	}
	if last, ok := index.ByCommit(c.q.Last); ok {
		changes = changes[:last.Position+1]
	}
	asked, here := 0, 0
	for _, d := range distances {
		for _, pos := range []int{at.Position - d, at.Position + d} {
			if pos < 0 || pos >= len(changes) || asked >= maxAsked || here >= maxHere {
				continue
			}
			g, wasAsked, err := c.knownGood(ctx, changes[pos])
			if err != nil {
				return false, err
			}
			if wasAsked {
				asked++
			}
			if g == nil {
				continue
			}
			here++
			if done, err := c.borrow(ctx, *g, changes[pos], pos-at.Position); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

// borrow tries a neighbour's recipe on this state.
func (c *climb) borrow(ctx context.Context, g made, from gitrepo.Change, distance int) (done bool, err error) {
	t, err := c.l.try(ctx, c.q, c.state(), g.recipe, true)
	if err != nil {
		return false, err
	}
	note := g.asTry("fallback")
	note.Rung, note.From, note.Commit, note.Distance = Neighbour, g.rung, from.Head, distance
	g.recipe.Notes = append(append([]string{}, g.recipe.Notes...), fmt.Sprintf("the recipe is that of %.12s, %s", from.Head, away(distance)))
	return c.note(note, g.recipe, t), nil
}

func away(n int) string {
	if n < 0 {
		return fmt.Sprintf("%d changes before", -n)
	}
	return fmt.Sprintf("%d changes later", n)
}

// knownGood is the recipe of a neighbour's first rung that works there, sealed for this tree; nil if there is none that would be new
// here. asked says that something was tried on the neighbour.
func (c *climb) knownGood(ctx context.Context, n gitrepo.Change) (g *made, asked bool, err error) {
	tree, err := c.l.History.Tree(ctx, n.Head)
	if err != nil {
		return nil, false, err
	}
	list, err := c.l.all(ctx, tree, c.q.Paths, n.Committed)
	if err != nil {
		return nil, false, err
	}
	s := state{commit: n.Head, tree: tree}
	for _, own := range list {
		here, ok, err := c.sealed(ctx, own)
		if err != nil {
			return nil, asked, err
		}
		if !ok {
			continue
		}
		if !asked {
			if s.target, err = relevant(ctx, tree, c.q.Tests); err != nil {
				return nil, false, err
			}
		}
		asked = true
		t, err := c.l.try(ctx, c.q, s, own.recipe, true)
		if err != nil {
			return nil, true, err
		}
		if result, _ := t.Result(); result == Works {
			return &here, true, nil
		}
	}
	return nil, asked, nil
}

// all are the first three rungs of a state.
func (l *Ladder) all(ctx context.Context, tree replay.Tree, paths []string, day time.Time) ([]made, error) {
	r, err := tools.Detect(ctx, tree, tools.Options{Image: l.Image, Paths: paths})
	if errors.As(err, new(tools.ErrNoRecipe)) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("detecting a neighbour's recipe: %w", err)
	}
	more, err := l.rungs(ctx, tree, &r, day)
	return append([]made{{rung: Heuristic, recipe: r}}, more...), err
}

// sealed is a neighbour's recipe for this tree. ok is false if it cannot be one: of another tool, of another folder, or tried already.
func (c *climb) sealed(ctx context.Context, g made) (made, bool, error) {
	if c.base != nil && (g.recipe.Runner != c.base.Runner || g.recipe.Root != c.base.Root) {
		return g, false, nil
	}
	if c.base == nil {
		ok, err := c.fits(ctx, g.recipe)
		if !ok || err != nil {
			return g, false, err
		}
	}
	r, err := tools.Seal(ctx, c.tree, g.recipe)
	if err != nil {
		return g, false, err
	}
	g.recipe = r
	return g, !c.tried[r.Fingerprint], nil
}

// fits reports whether a state for which no heuristic has a recipe could have this one: its change touches the tool's language or none,
// and the project's folder holds files of it.
func (c *climb) fits(ctx context.Context, r replay.Recipe) (bool, error) {
	if want := tools.ForPaths(c.q.Paths); want != "" && tools.Language(want).Name != tools.Language(r.Runner).Name {
		return false, nil
	}
	t, err := project.Scan(ctx, c.tree)
	if err != nil {
		return false, err
	}
	for f := range t.Files() {
		if project.Within(r.Root, f) && slices.Contains(tools.Language(r.Runner).Extensions, path.Ext(f)) {
			return true, nil
		}
	}
	return false, nil
}
