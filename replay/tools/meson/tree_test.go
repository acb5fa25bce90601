package meson

import (
	"testing"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func recipe(t *testing.T, tree tooltest.Tree, paths ...string) (replay.Recipe, string) {
	t.Helper()
	s, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	root, err := Tool{}.Find(s, paths)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Tool{}.Recipe(s, root)
	if err != nil {
		t.Fatal(err)
	}
	return r, root
}
