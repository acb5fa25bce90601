package meson

import (
	"path"
	"regexp"
	"slices"

	"sluice/replay/tools/project"
)

var (
	option = regexp.MustCompile(`(?s)\boption\s*\(\s*'([A-Za-z0-9_-]+)'(.*?)\)\s*(?:\n|$)`)
	kind   = regexp.MustCompile(`\btype\s*:\s*'(\w+)'`)
	tests  = regexp.MustCompile(`(?i)^(?:build[_-]|enable[_-]|with[_-]|unit[_-]?)?tests?(?:ing)?(?:[_-]enabled)?$|^(?:build|enable)[_-]unit[_-]?tests$|^unit[_-]tests$`)
	docs   = regexp.MustCompile(`(?i)^(?:gtk[_-]?doc|documentation|docs?|man|manpages|man-pages|api[_-]docs?)$`)
)

// options switches on what a project builds its tests by, and off documentation, which needs much and tests nothing.
func options(t *project.Tree, root string) ([]string, error) {
	var args []string
	for _, name := range []string{"meson_options.txt", "meson.options"} {
		text, err := t.Read(path.Join(root, name))
		if err != nil {
			return nil, err
		}
		for _, m := range option.FindAllStringSubmatch(text, -1) {
			k := kind.FindStringSubmatch(m[2])
			if len(k) == 0 {
				continue
			}
			if v := value(m[1], k[1]); v != "" {
				args = append(args, "-D"+m[1]+"="+v)
			}
		}
	}
	slices.Sort(args)
	return slices.Compact(args), nil
}

func value(name, kind string) string {
	words := map[string][2]string{"boolean": {"true", "false"}, "feature": {"enabled", "disabled"}}[kind]
	switch {
	case tests.MatchString(name):
		return words[0]
	case docs.MatchString(name):
		return words[1]
	}
	return ""
}
