package python

import (
	"path"
	"strings"

	"sluice/replay/tools/project"
)

// PytestSettings are pytest's settings in the first file that pytest would take, by lower-cased name; lists are lines. nil: there
// are none. Whether there are any tells the tools of Python apart.
func PytestSettings(t *project.Tree, root string) (map[string]string, error) {
	for _, name := range []string{"pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"} {
		text, err := t.Read(path.Join(root, name))
		if err != nil {
			return nil, err
		}
		if keys := pytestKeys(name, text); keys != nil {
			return keys, nil
		}
	}
	return nil, nil
}

// pytestKeys finds pytest's section; nil if the file has none. Lists become lines.
func pytestKeys(name, text string) map[string]string {
	switch name {
	case "pyproject.toml":
		var doc table
		if err := project.DecodeTOML(text, &doc); err != nil {
			return nil
		}
		tool := doc.table("tool").table("pytest")
		if old := tool.table("ini_options"); len(old) > 0 {
			tool = old
		}
		if len(tool) == 0 {
			return nil
		}
		keys := map[string]string{}
		for k := range tool {
			keys[strings.ToLower(k)] = strings.Join(tool.strings(k), "\n")
		}
		return keys
	case "setup.cfg":
		return parseINI(text)["tool:pytest"]
	}
	return parseINI(text)["pytest"]
}
