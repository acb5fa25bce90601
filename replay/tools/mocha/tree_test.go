package mocha

import (
	"testing"

	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func scan(t *testing.T, tree tooltest.Tree) *project.Tree {
	t.Helper()
	s, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
