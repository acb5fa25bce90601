package pytest

import (
	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/python"
)

// Told adds what a try said is missing.
func (Tool) Told(t *project.Tree, r replay.Recipe, f project.Failure) (replay.Recipe, bool, error) {
	return python.Told(t, r, f)
}

// Hinted adds what a project's continuous integration installs besides.
func (Tool) Hinted(t *project.Tree, r replay.Recipe, h project.Hint) (replay.Recipe, bool, error) {
	return python.Hinted(t, r, h)
}
