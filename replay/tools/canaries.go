package tools

import (
	"context"
	"errors"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Canaries is what a tool knows of tests of ours; false if it writes none.
func Canaries(tool string) (Canarier, bool) { return ability[Canarier](tool) }

// Neighbours are the test files of the part of a tree that a recipe is for, beside which tests of ours may be laid, by path. Huge ones are left
// out.
func Neighbours(ctx context.Context, t replay.Tree, r replay.Recipe) ([]replay.File, error) {
	tool, ok := Canaries(r.Runner)
	if !ok {
		return nil, nil
	}
	scanned, err := project.Scan(ctx, t)
	if errors.As(err, new(project.ErrNoRecipe)) {
		return nil, nil // no file system holds the tree
	}
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, f := range tool.Neighbours(scanned, r) {
		wanted[f] = true
	}
	var out []replay.File
	err = scanned.Each(func(p string) bool { return wanted[p] }, func(f replay.File) error {
		out = append(out, f)
		return nil
	})
	return out, err
}
