package recipes

import (
	"slices"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/tools"
)

// TestDatedHint: the recipe of a day has the workflow's packages too, which must not hide from its tool what it is to date.
func TestDatedHint(t *testing.T) {
	t.Parallel()
	l, r := ladder(t, &box{name: "docker"}, "commit one \"1\"\n"+workflow+"-- one/setup.py --\nfrom setuptools import setup\nsetup(name='p', install_requires=['six'])\n-- one/tests/test_a.py --\ndef test_a(): pass\n")
	tree, err := l.History.Tree(t.Context(), r.ID("one"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := tools.Detect(t.Context(), tree, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := l.rungs(t.Context(), tree, &base, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil || len(list) != 2 || list[0].rung != Workflow || list[1].rung != Dated {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, g := range list {
		if g.hint == nil || g.recipe.Install[0].Name != tools.StepPackages || g.recipe.Fingerprint == base.Fingerprint {
			t.Errorf("%s: %+v", g.rung, g.recipe)
		}
	}
	dated := func(s replay.Step) bool { return s.Env["UV_EXCLUDE_NEWER"] != "" }
	if slices.ContainsFunc(list[0].recipe.Install, dated) || !slices.ContainsFunc(list[1].recipe.Install, dated) {
		t.Errorf("the second one alone is dated: %+v", list)
	}
}
