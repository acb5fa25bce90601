package tools

import (
	"context"
	"fmt"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Names returns the names under which registries would have the tree's own project: its Go modules, its Python distribution, its
// npm package. What cannot be read has no name.
func Names(ctx context.Context, t replay.Tree, paths []string) ([]string, error) {
	s, err := project.Scan(ctx, t)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tools := range languages() {
		i := slices.IndexFunc(tools, func(t Tool) bool { _, ok := t.(Namer); return ok })
		if i < 0 {
			continue
		}
		list, err := tools[i].(Namer).Names(s, paths)
		if err != nil {
			return nil, fmt.Errorf("reading a project's names: %w", err)
		}
		names = append(names, list...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" }), nil
}
