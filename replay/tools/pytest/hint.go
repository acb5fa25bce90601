package pytest

import (
	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/python"
)

// Hinted adds what a project's continuous integration installs besides.
func (Tool) Hinted(t *project.Tree, r replay.Recipe, h project.Hint) (replay.Recipe, bool, error) {
	return python.Hinted(t, r, h)
}
