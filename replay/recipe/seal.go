package recipe

import (
	"context"
	"fmt"
	"path"
	"slices"

	"sluice/replay"
)

// Seal gives a recipe that did not come from Detect its fingerprint for a tree.
func Seal(ctx context.Context, t replay.Tree, r replay.Recipe) (replay.Recipe, error) {
	s := &source{ctx: ctx, tree: t}
	r.Inputs = slices.Compact(slices.Sorted(slices.Values(r.Inputs)))
	var err error
	if r.Fingerprint, err = s.fingerprint(r); err != nil {
		return r, fmt.Errorf("sealing a recipe: %w", err)
	}
	return r, nil
}

// Runner names the runner for a change of these paths where Detect finds no recipe: by the language of most of them, or "".
func Runner(paths []string) string {
	goFiles, pyFiles := 0, 0
	for _, p := range paths {
		switch path.Ext(p) {
		case ".go":
			goFiles++
		case ".py", ".pyi":
			pyFiles++
		}
	}
	switch {
	case goFiles == 0 && pyFiles == 0:
		return ""
	case goFiles > pyFiles:
		return "gotest"
	}
	return "pytest"
}
