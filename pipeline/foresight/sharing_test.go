package foresight

import (
	"os"
	"strings"
	"testing"
	"time"

	"sluice/judges/agent"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/pipeline/setup"
	"sluice/replay"
	"sluice/replay/local"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

// sharedPair is a fix that names its introducer, in a project whose test tool lies in a folder of its own.
func sharedPair(t *testing.T) string {
	t.Helper()
	head := "\ncommit root \"Begin\"\ncommit intro \"Count things\"\n"
	file := func(commit, path, text string) string { return "-- " + commit + "/" + path + " --\n" + text }
	test := func(n string) string {
		return "from lib import core\n\ndef test_x():\n    assert core.x == " + n + "\n"
	}
	archive := file("root", "tools/tiny.txt", agentstest.TinyPytest) + file("root", "lib/core.py", "x = 1\n") + file("root", "tests/test_old.py", "def test_old():\n    pass\n") +
		file("intro", "lib/core.py", "x = 2\n") + file("intro", "tests/test_new.py", test("2"))
	id := gittest.Build(t, head+archive).IDs["intro"]
	return head + `commit fix "Count zero things\n\nFixes: ` + id + `"` + "\n" + archive + file("fix", "lib/core.py", "x = 3\n") + file("fix", "tests/test_new.py", test("3"))
}

// TestSharedRecipe: what the agent found for the first state of a candidate holds for the others: they ask no model.
func TestSharedRecipe(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs nine environments")
	}
	const install = `python3 -m venv --without-pip "$SLUICE_ENV/venv" && cp tools/tiny.txt "$(ls -d "$SLUICE_ENV"/venv/lib/python3*/site-packages)/pytest.py"`
	ask := &agentstest.Script{Lines: []string{
		agentstest.Sh(install), agentstest.Sh("{acceptance}"),
		agentstest.Says(setup.Report{Reasoning: "The test tool lies in a folder.", Install: []string{install}, Build: []string{}, Env: []setup.Var{}, Quote: "=== 1 passed in 0.01s ==="}),
	}}
	box := agentstest.Local(t, "")
	s, err := setup.New(setup.Deps{Limits: replay.Limits{Wall: time.Minute}, Crew: agents.Crew{Sandbox: box, Asker: ask, Model: "m", Limits: agent.Limits{Turns: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, sharedPair(t), "environment")
	f := New(Deps{History: l.h, Repo: "o/r", Sandbox: box, Setup: s}, Settings{})
	f.Stages = through(f, "environment")
	if _, err := pipeline.New(l.store, pipeline.Options{Owner: "test"}).Run(t.Context(), f, "o/r"); err != nil {
		t.Fatal(err)
	}
	c := l.candidate(t, "fix")
	if c.Code != "" {
		t.Fatalf("ended %s %q: %s", c.State, c.Code, c.Reason)
	}
	var kept Setups
	l.evidence(t, c, evSetups, &kept)
	if ask.Asked != 3 || len(ask.Heard) != 3 || len(kept) != 4 {
		t.Errorf("the model was asked %d times for %d states", len(ask.Heard), len(kept))
	}
	for state, r := range kept {
		if !r.Accepted || r.Hinted != (state != "h2") || (r.Session == nil) != r.Hinted {
			t.Errorf("%s: accepted %v, hinted %v: %s", state, r.Accepted, r.Hinted, r.Reason)
		}
		for _, trial := range r.Trials {
			if trial.Uncanaried != "" {
				t.Errorf("%s: %s", state, trial.Uncanaried)
			}
		}
	}
	var env Environment
	l.evidence(t, c, evEnvironment, &env)
	if !strings.HasPrefix(env.Recipes["h2"].Notes[0], "found by an agent") {
		t.Errorf("h2 has the recipe %+v", env.Recipes["h2"])
	}
}
