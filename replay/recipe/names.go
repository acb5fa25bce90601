package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"golang.org/x/mod/modfile"

	"sluice/replay"
)

// Names returns the names under which registries would have the tree's own project: its Go modules, its Python distribution, its
// npm package. What cannot be read has no name.
func Names(ctx context.Context, t replay.Tree, paths []string) ([]string, error) {
	s, err := scan(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("listing the tree: %w", err)
	}
	var names []string
	for f := range s.files {
		if path.Base(f) != "go.mod" || ignoredByGo(f) {
			continue
		}
		text, err := s.read(f)
		if err != nil {
			return nil, err
		}
		names = append(names, modfile.ModulePath([]byte(text)))
	}
	if root, err := s.pyRoot(paths); err == nil {
		if p, err := s.readProject(root); err == nil {
			names = append(names, p.name)
		}
	}
	text, err := s.read("package.json")
	if err != nil {
		return nil, err
	}
	var npm struct{ Name string }
	if json.Unmarshal([]byte(text), &npm) == nil {
		names = append(names, npm.Name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" }), nil
}
