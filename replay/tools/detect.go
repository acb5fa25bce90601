package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// DefaultImage is the base image of recipes in the docker sandbox whose tool wants no other. It has what Go and Python need.
const DefaultImage = "sluice/base:trixie"

// Options say what of a tree the recipe is for.
type Options struct {
	Image string // "" for the recipe's own, or else the tool's: see Image
	// Paths are the files that a change touches: they choose the module or project in a repository of many, and between
	// languages. None: the tree's root decides.
	Paths []string
}

// Detect makes the recipe of a state, or returns an ErrNoRecipe.
func Detect(ctx context.Context, t replay.Tree, o Options) (replay.Recipe, error) {
	scanned, err := project.Scan(ctx, t)
	if err != nil {
		return replay.Recipe{}, err
	}
	c, err := choose(scanned, o.Paths)
	if err != nil {
		return replay.Recipe{}, err
	}
	r, err := c.tool.Recipe(scanned, c.root)
	if err != nil {
		return replay.Recipe{}, err
	}
	r.Notes = append(r.Notes, scanned.Notes()...)
	r.Image = cmp.Or(o.Image, r.Image, Image(r.Runner))
	if r.Base != nil {
		r.Base.Image = r.Image
		if r.Base.Fingerprint, err = project.Fingerprint(ctx, t, *r.Base); err != nil {
			return replay.Recipe{}, err
		}
	}
	return Seal(ctx, t, r)
}

// Seal gives a recipe its fingerprint for a tree.
func Seal(ctx context.Context, t replay.Tree, r replay.Recipe) (replay.Recipe, error) {
	r.Inputs = slices.Compact(slices.Sorted(slices.Values(r.Inputs)))
	var err error
	if r.Fingerprint, err = project.Fingerprint(ctx, t, r); err != nil {
		return r, fmt.Errorf("sealing a recipe: %w", err)
	}
	return r, nil
}

// claim is a tool that found its project.
type claim struct {
	tool    Tool
	root    string
	touched int // paths of its language
}

// choose takes, of the languages that have a project in the tree, the one that most touched files are in, else the one whose project is
// nearer to the root, else the first of the table.
func choose(t *project.Tree, paths []string) (claim, error) {
	var best *claim
	var reasons []string
	for _, tools := range languages() {
		c, why, err := first(tools, t, paths)
		if err != nil {
			return claim{}, err
		}
		if c == nil {
			reasons = append(reasons, why)
			continue
		}
		if best == nil || c.touched > best.touched || c.touched == best.touched && len(c.root) < len(best.root) {
			best = c
		}
	}
	if best == nil {
		return claim{}, ErrNoRecipe{Reason: strings.Join(reasons, "; ")}
	}
	return *best, nil
}

// first asks the tools of one language. None: the last one says why, which is the least choosy.
func first(tools []Tool, t *project.Tree, paths []string) (c *claim, why string, err error) {
	for _, tool := range tools {
		root, err := tool.Find(t, paths)
		var none ErrNoRecipe
		if errors.As(err, &none) {
			why = none.Reason
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("looking for a project of %s: %w", tool.Name(), err)
		}
		return &claim{tool, root, touched(tool, paths)}, "", nil
	}
	return nil, why, nil
}

// languages are the tools by language, in the order of the table.
func languages() [][]Tool {
	var out [][]Tool
	for _, tool := range table {
		i := slices.IndexFunc(out, func(l []Tool) bool { return l[0].Language().Name == tool.Language().Name })
		if i < 0 {
			out = append(out, []Tool{tool})
			continue
		}
		out[i] = append(out[i], tool)
	}
	return out
}

// touched counts the paths that are of a tool's language.
func touched(tool Tool, paths []string) int {
	n := 0
	for _, p := range paths {
		if slices.Contains(tool.Language().Extensions, path.Ext(p)) {
			n++
		}
	}
	return n
}

// ForPaths names the tool for a change of these paths where Detect finds no recipe: of the language of most of them the least choosy
// one, or "". Of two languages with as many it is the later one of the table: the earlier need less to be detected.
func ForPaths(paths []string) string {
	name, most := "", 0
	for _, tool := range table {
		if n := touched(tool, paths); n > 0 && n >= most {
			name, most = tool.Name(), n
		}
	}
	return name
}
