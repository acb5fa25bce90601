package meson

import (
	"fmt"
	"slices"
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

// TestMany: a note says that not all descriptions were read.
func TestMany(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"meson.build": "project('a', 'c')\ntest('x', y)\n"}
	for i := range 2000 {
		tree[fmt.Sprintf("n%d/meson.build", i)] = ""
	}
	if r, _ := recipe(t, tree); !slices.Contains(r.Notes, "of 2001 files that describe the build the first 2000 are read") {
		t.Errorf("notes %q", r.Notes)
	}
}
